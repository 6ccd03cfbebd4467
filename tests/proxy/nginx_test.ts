import { assert, assertEquals } from "@std/assert";
import { withKey } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { Gate } from "../support/gate/gate.ts";
import { Nginx } from "../support/gate/nginx.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { newAddress } from "../support/server.ts";

/** The configuration that the README gives to paste, for these servers. */
async function configurationFor(gate: Gate, upstream: UpstreamApp): Promise<string> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const [, block] = /```nginx\n([^]*?)```/.exec(readme) ?? [];
  assert(block !== undefined, "The README has no configuration of nginx");
  return block.replace("http://127.0.0.1:3000", upstream.origin)
    .replace("http://127.0.0.1:8000", gate.server.origin)
    .replace("album/viewer", `${gate.project.id}/app`)
    // Each test calls from an address of its own.
    .replaceAll("X-Forwarded-For $remote_addr", `X-Forwarded-For ${newAddress()}`);
}

const BELIEVED = [
  "X-Auth-Key-Name",
  "X_Auth_Key_Name",
  "X-Forwarded-For",
  "X_Forwarded_For",
  "X-Forwarded-Proto",
  "X-Forwarded-Host",
  "X-Forwarded-User",
  "Forwarded",
  "X-Real-IP",
  "Proxy",
  "Remote-User",
  "X-Remote-User",
  "True-Client-IP",
  "CF-Connecting-IP",
  "Client-IP",
  "X-Client-IP",
  "X-Cluster-Client-IP",
  "X-Original-URL",
  "X-Rewrite-URL",
];

Deno.test("nginx lets in whom the server lets in, as the README configures it.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  await using nginx = await Nginx.start(await configurationFor(gate, upstream));
  const ask = async (headers: Record<string, string>, init: RequestInit = {}) =>
    await Answer.of(await nginx.fetch("/page?x=%2e", { ...init, headers }));

  const refused = (await ask({})).expect(401);
  assert(refused.header("WWW-Authenticate").startsWith("ApiKey "));
  (await ask(withKey("wrong"))).expect(401);

  const forged = { "X-Auth-Key-Name": "forged" };
  const echo = (await ask({ ...withKey(key), ...forged })).expect(200).json as Echo;
  const headers = Object.fromEntries(echo.headers);
  assertEquals([echo.method, echo.target], ["GET", "/page?x=%2e"]);
  assertEquals([headers["x-auth-key-name"], headers["x-api-key"]], ["first", undefined]);

  // What the application would believe does not come from the caller.
  const believed = Object.fromEntries(BELIEVED.map((name) => [name, "forged"]));
  const cleaned = (await ask({ ...withKey(key), ...believed })).expect(200).json as Echo;
  const seen = cleaned.headers.filter(([, value]) => value.includes("forged"));
  assertEquals(seen, []);

  const owner = (await ask({ ...withKey(gate.project.key), ...forged })).expect(200).json as Echo;
  assertEquals(Object.fromEntries(owner.headers)["x-auth-key-name"], undefined);

  const sent = (await ask(withKey(key), { method: "POST", body: "body" })).expect(200).json as Echo;
  assertEquals([sent.method, sent.body], ["POST", "body"]);

  const preflight = { Origin: "https://page.example", "Access-Control-Request-Method": "PUT" };
  (await ask(preflight, { method: "OPTIONS" })).expect(200);
  (await ask(preflight)).expect(401);
  (await ask({}, { method: "OPTIONS" })).expect(401);

  await gate.revoke("first");
  (await ask(withKey(key))).expect(401);
  for (let i = 0; i < 25; i++) (await ask(withKey(`wrong ${i}`))).expect(401);
  await gate.switchAccess(false);
  (await ask({})).expect(200);
});

Deno.test("The README's configuration hides the question itself from callers.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  await using nginx = await Nginx.start(await configurationFor(gate, upstream));
  const response = await nginx.fetch("/.kvdrive-auth", { headers: withKey(key) });
  await response.body?.cancel();
  assertEquals(response.status, 404);
});
