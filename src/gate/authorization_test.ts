import { assertEquals } from "@std/assert";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { type AuthorizedRequest, isStillAuthorized, readCredentials } from "./authorization.ts";

Deno.test("a key is read up to the length that a key can have", () => {
  const read = (value: string) =>
    readCredentials([{ name: "X-API-Key", lower: "x-api-key", value }], []);
  const longest = "x".repeat(MAX_KEY_HEADER);
  assertEquals(read(longest), {
    key: { hash: hashSecret(longest), isProjectKey: false },
    sessions: [],
    isOverlong: false,
  });
  assertEquals(read(`${longest}x`), { sessions: [], isOverlong: true });
  assertEquals(read("p_secret").key, { hash: hashSecret("p_secret"), isProjectKey: true });
  assertEquals(read(""), { sessions: [], isOverlong: false });
});

Deno.test("a running request loses its application when that loses the host name", async () => {
  const app = { project: "p", app: "a", created: 0, access: false, host: "a.example" };
  const authorized = (prefix: string) =>
    ({
      route: { app, prefix },
      access: { allowed: true, caller: "anyone" },
      credentials: () => ({ sessions: [], isOverlong: false }),
    }) as unknown as AuthorizedRequest;
  const check = (prefix: string, host: string | undefined) => {
    const find = () => Promise.resolve(host === undefined ? undefined : { ...app, host });
    const store = { apps: { find } } as unknown as Parameters<typeof isStillAuthorized>[0];
    return isStillAuthorized(store, authorized(prefix));
  };
  assertEquals(await check("", "a.example"), true);
  assertEquals(await check("", "b.example"), false);
  assertEquals(await check("/p/a", "b.example"), true);
  assertEquals(await check("/p/a", undefined), false);
});
