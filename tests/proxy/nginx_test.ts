import { assert, assertEquals } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { withKey } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { BELIEVED_HEADERS } from "../support/gate/believed_headers.ts";
import { Gate } from "../support/gate/gate.ts";
import { Nginx } from "../support/gate/nginx.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { newAddress, PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";

const PAGE = new URL("../../docs/reverse-proxy.md", import.meta.url);

/** The first nginx configuration in docs/reverse-proxy.md that contains a text. */
async function documentedConfiguration(text: string): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const blocks = [...page.matchAll(/```nginx\n([^]*?)```/g)].map(([, block = ""]) => block);
  const found = blocks.find((block) => block.includes(text));
  assert(found !== undefined, `docs/reverse-proxy.md has no nginx configuration with ${text}`);
  return found;
}

/** The documented `auth_request` configuration, with the addresses of these servers. */
async function configurationFor(gate: Gate, upstream: UpstreamApp): Promise<string> {
  const block = await documentedConfiguration("auth_request");
  return block.replace("http://127.0.0.1:3000", upstream.origin)
    .replace("http://127.0.0.1:8000", gate.server.origin)
    .replace("album/viewer", `${gate.project.id}/app`)
    // Each test calls from an address of its own.
    .replaceAll("X-Forwarded-For $remote_addr", `X-Forwarded-For ${newAddress()}`);
}

Deno.test("nginx with the documented auth_request configuration lets in the callers that the server lets in.", async () => {
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
  const believed = Object.fromEntries(BELIEVED_HEADERS.map((name) => [name, "forged"]));
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
  const disguised = { ...preflight, "X-Forwarded-Method": "OPTIONS" };
  for (const method of ["GET", "POST"]) (await ask(disguised, { method })).expect(401);
  (await ask({}, { method: "OPTIONS" })).expect(401);

  await gate.revoke("first");
  (await ask(withKey(key))).expect(401);
  for (let i = 0; i < 25; i++) (await ask(withKey(`wrong ${i}`))).expect(401);
  await gate.switchAccess(false);
  (await ask({})).expect(200);
});

Deno.test("nginx without ?method= lets in no request that is disguised as a preflight.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  await gate.protect(upstream.origin);
  const documented = await configurationFor(gate, upstream);
  await using nginx = await Nginx.start(documented.replace("?method=$request_method", ""));
  const headers = {
    "Origin": "https://page.example",
    "Access-Control-Request-Method": "PUT",
    "X-Forwarded-Method": "OPTIONS",
  };
  for (const method of ["GET", "POST", "OPTIONS"]) {
    (await Answer.of(await nginx.fetch("/", { method, headers }))).expect(401);
  }
});

Deno.test("The documented auth_request configuration hides its subrequest from callers.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  await using nginx = await Nginx.start(await configurationFor(gate, upstream));
  const response = await nginx.fetch("/.kvdrive-auth", { headers: withKey(key) });
  await response.body?.cancel();
  assertEquals(response.status, 404);
});

Deno.test("nginx with the documented configuration passes 10 MiB uploads to the server.", async () => {
  await using server = await TestServer.start();
  const block = await documentedConfiguration("client_max_body_size 11m");
  const { host } = new URL(server.origin);
  await using nginx = await Nginx.start(block.replace("127.0.0.1:8000", host));
  const path = `/v1/${PROJECT_ID}/photos/files`;
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const body = new Uint8Array(10 * 2 ** 20);
  for (let at = 0; at < body.length; at += bytes.length) body.set(bytes, at);
  const headers = withKey(PROJECT_KEY);
  const sent = await nginx.fetch(`${path}?name=large`, { method: "POST", headers, body });
  assertEquals([sent.status, await sent.json()], [201, {
    name: "large",
    project_id: PROJECT_ID,
    drive_name: "photos",
  }]);
  const received = await nginx.fetch(`${path}/download?name=large`, { headers });
  assert(equals(new Uint8Array(await received.arrayBuffer()), body), "The bytes differ");
});

Deno.test("nginx with the documented gate configuration passes requests to an application.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start({ env: { KVDRIVE_APPS_HOST: "viewer.example.com" } });
  const key = await gate.protect(upstream.origin);
  const block = await documentedConfiguration("$connection_upgrade");
  await using nginx = await Nginx.start(block.replace("127.0.0.1:8001", new URL(gate.origin).host));
  const response = await nginx.fetch(gate.prefix() + "/page", { headers: withKey(key) });
  const echo = (await Answer.of(response)).expect(200).json as Echo;
  const headers = Object.fromEntries(echo.headers);
  assertEquals(echo.target, "/page");
  assertEquals(headers["x-forwarded-host"], "viewer.example.com");
});
