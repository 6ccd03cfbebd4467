import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { equals } from "@std/bytes/equals";
import { ADMINISTERED, administrator, withKey } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { someBytes } from "../support/cli/client.ts";
import { Folder, runCommand } from "../support/command.ts";
import { BELIEVED_HEADERS } from "../support/gate/believed_headers.ts";
import { Caddy } from "../support/gate/caddy.ts";
import { Gate } from "../support/gate/gate.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { GatedBody } from "../support/paced_body.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";

const PAGE = new URL("../../docs/reverse-proxy.md", import.meta.url);
const FILES = `/v1/${PROJECT_ID}/photos/files`;
/** How long something may take that does not wait for the rest of a body, in milliseconds. */
const PATIENCE = 60_000;

/** Starts Caddy with the site of this name in docs/reverse-proxy.md, with texts in place of the documented ones. */
async function documentedSite(name: string, texts: Record<string, string>): Promise<Caddy> {
  const page = await Deno.readTextFile(PAGE);
  const blocks = [...page.matchAll(/```caddy\n([^]*?)```/g)].map(([, block = ""]) => block);
  const site = blocks.find((block) => block.startsWith(`${name} {`));
  assert(site !== undefined, `docs/reverse-proxy.md has no site ${name}`);
  let own = site;
  for (const [documented, text] of Object.entries(texts)) {
    assert(site.includes(documented), site);
    own = own.replace(documented, text);
  }
  return await Caddy.start(own, name);
}

async function inFrontOf(server: TestServer): Promise<Caddy> {
  return await documentedSite("files.example.com", {
    "127.0.0.1:8000": new URL(server.origin).host,
  });
}

Deno.test("Caddy with the documented configuration passes large files both ways.", async () => {
  await using server = await TestServer.start();
  await using caddy = await inFrontOf(server);
  await using folder = await Folder.make();
  const bytes = someBytes(40_000_000);
  const path = await folder.write("large", bytes);
  const env = {
    KVDRIVE_URL: caddy.origin,
    KVDRIVE_KEY: PROJECT_KEY,
    DENO_CERT: caddy.authority,
    XDG_STATE_HOME: folder.at("state"),
  };
  // A process of its own, as the runtime reads DENO_CERT at its start.
  for (const words of [["put", path, "photos:large"], ["get", "photos:large", folder.at("back")]]) {
    const { code, stderr } = await runCommand(words, env, ["-A"]);
    assertEquals(code, 0, stderr);
  }
  assert(equals(await Deno.readFile(folder.at("back")), bytes), "The bytes differ");
});

Deno.test("Caddy with the documented configuration passes on what it has of a body.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  await using caddy = await inFrontOf(server);
  const headers = withKey(PROJECT_KEY);
  const bytes = someBytes(8_000_000);
  const body = new GatedBody(bytes);
  const sent = caddy.fetch(`${FILES}?name=a`, { method: "POST", headers, body: body.stream });
  await body.halfSent;
  // An upload that waits at the proxy would not be among those of the server.
  await deadline(isReceiving(server), PATIENCE);
  body.open();
  assertEquals((await sent).status, 201);

  const download = await caddy.fetch(`${FILES}/download?name=a`, { headers });
  const reader = download.body?.getReader();
  const first = await deadline(reader!.read(), PATIENCE);
  assert(first.value !== undefined && first.value.byteLength < bytes.byteLength);
  await reader!.cancel();
});

/** Waits until an upload is running. */
async function isReceiving(server: TestServer): Promise<void> {
  for (;;) {
    const answer = await fetch(`${server.origin}/metrics`, { headers: administrator });
    if (/^kvdrive_http_running\{kind="upload"\} 1$/m.test(await answer.text())) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

Deno.test("Caddy with the documented configuration tells the server its own address and the caller's.", async () => {
  await using server = await TestServer.start({ args: ["--log", "json"] });
  await using caddy = await inFrontOf(server);
  const headers = withKey(PROJECT_KEY);
  const sent = await caddy.fetch(`${FILES}?name=a`, { method: "POST", headers, body: "a" });
  assertEquals(sent.status, 201, await sent.text());
  const link = await caddy.fetch(`/v1/${PROJECT_ID}/photos/links`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "a" }),
  });
  const { url } = await link.json() as { url: string };
  assert(url.startsWith(`${caddy.origin}/`), url);
  const opened = await caddy.fetch(url.slice(caddy.origin.length));
  assertEquals([opened.status, (await opened.bytes()).byteLength > 0], [200, true]);
});

Deno.test("Caddy with the documented gate configuration passes events on at once.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  await using caddy = await documentedSite("apps.example.com", {
    "127.0.0.1:8001": new URL(gate.origin).host,
  });
  const response = await caddy.fetch(gate.prefix() + "/events", { headers: withKey(key) });
  assertEquals(response.status, 200);
  await upstream.events.reach(1);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const text of ["one", "two"]) {
    upstream.events.send(text);
    assertEquals((await deadline(reader.read(), PATIENCE)).value, `data: ${text}\n\n`);
  }
  await reader.cancel();
});

Deno.test("Caddy with the documented forward_auth configuration lets in the callers that the server lets in.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  await using caddy = await documentedSite("viewer.example.com", {
    "127.0.0.1:8000": new URL(gate.server.origin).host,
    "127.0.0.1:3000": new URL(upstream.origin).host,
    "album/viewer": `${gate.project.id}/app`,
  });
  const ask = async (headers: Record<string, string>, method = "GET") =>
    await Answer.of(await caddy.fetch("/page?x=%2e", { method, headers }));

  (await ask({})).expect(401);
  (await ask(withKey("wrong"))).expect(401);
  const forged = Object.fromEntries(BELIEVED_HEADERS.map((name) => [name, "forged"]));
  const echo = (await ask({ ...withKey(key), ...forged })).expect(200).json as Echo;
  const seen = Object.fromEntries(echo.headers);
  assertEquals([echo.method, echo.target], ["GET", "/page?x=%2e"]);
  assertEquals([seen["x-auth-key-name"], seen["x-api-key"]], ["first", undefined]);
  assertEquals(echo.headers.filter(([, value]) => value.includes("forged")), []);
  const owner = { ...withKey(gate.project.key), "X-Auth-Key-Name": "forged" };
  const owned = (await ask(owner)).expect(200).json as Echo;
  assertEquals(Object.fromEntries(owned.headers)["x-auth-key-name"] ?? "", "");

  const preflight = { Origin: "https://page.example", "Access-Control-Request-Method": "PUT" };
  assertEquals(((await ask(preflight, "OPTIONS")).expect(200).json as Echo).method, "OPTIONS");
  (await ask({}, "OPTIONS")).expect(401);
  const disguised = { ...preflight, "X-Forwarded-Method": "OPTIONS" };
  for (const method of ["GET", "POST"]) {
    (await ask(preflight, method)).expect(401);
    (await ask(disguised, method)).expect(401);
  }
});
