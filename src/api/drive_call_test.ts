import { assertEquals, assertRejects } from "@std/assert";
import { HttpError } from "../http/http_error.ts";
import { someContext } from "../http/test_support.ts";
import { Rights } from "../rules/rights.ts";
import { hashSecret } from "../rules/secrets.ts";
import type { Store } from "../store/store.ts";
import { driveEndpoint } from "./drive_call.ts";
import { listDrives } from "./files/drives.ts";
import { testDeps } from "./test_support.ts";

Deno.test("a token or key that was revoked during a request is refused before the body is stored", async () => {
  let isKnown = true;
  const known = (hash: string, secret: string) => isKnown && hash === hashSecret(secret);
  const store = {
    adminToken: { hasHash: (hash: string) => Promise.resolve(known(hash, "token")) },
    keys: {
      find: (hash: string) =>
        Promise.resolve(
          known(hash, "p_key") ? { project: "p", prefix: "key", rights: Rights.all } : undefined,
        ),
      isStillValid: (hash: string) => Promise.resolve(known(hash, "p_key")),
    },
    projects: { get: () => Promise.resolve({ id: "p" }) },
  } as unknown as Store;
  const deps = await testDeps(store);
  const { handle } = driveEndpoint(listDrives.operation, async ({ reauthorize }) => {
    await reauthorize();
    isKnown = false;
    await reauthorize();
    return new Response();
  });
  for (const headers of [{ authorization: "Bearer token" }, { "x-api-key": "p_key" }]) {
    isKnown = true;
    const request = new Request("http://kv.example/v1/p/d/files", { headers });
    const params = { project: "p", drive: "d" };
    const routed = {
      request,
      requestId: "r1",
      connection: undefined,
      params,
      query: "",
      context: someContext(),
    };
    const call = () => handle({ ...routed, address: () => "192.0.2.1", origin: () => "" }, deps);
    assertEquals((await assertRejects(call, HttpError)).status, 401);
    assertEquals(isKnown, false);
  }
});
