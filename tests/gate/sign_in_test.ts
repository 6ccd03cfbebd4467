import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { createHash } from "node:crypto";
import { type AuditEvent, Project } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { RawUpstream } from "../support/gate/upstream_raw.ts";
import { newAddress } from "../support/server.ts";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** Sends the form as a browser does. */
async function signIn(
  gate: Gate,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
  action = "/.kvdrive/sign-in",
): Promise<Answer> {
  return await Answer.of(
    await gate.fetch(action, {
      method: "POST",
      headers: { ...BROWSER, Origin: gate.origin, ...headers },
      body: new URLSearchParams(fields),
    }),
  );
}

function cookieOf(answer: Answer): string {
  return answer.header("Set-Cookie").split(";")[0] ?? "";
}

Deno.test("A browser that navigates gets the form, other clients the error.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  const page = (await gate.get('/a?b=<c>&d="e"', BROWSER)).expect(401);
  assertEquals(page.header("Content-Type"), "text/html; charset=utf-8");
  assertEquals(page.header("Cache-Control"), "no-store");
  assert(page.header("WWW-Authenticate").startsWith("ApiKey "));
  assertMatch(
    page.text,
    /<label for="key">[^]*<input id="key" name="key" type="password" autocomplete="current-password"/,
  );
  const wrongKey = (await gate.get("/", { ...BROWSER, "X-API-Key": "aaaaaaaa.b" })).expect(401);
  assertEquals(wrongKey.header("Content-Type"), "text/html; charset=utf-8");
  const next = /name="next" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&");
  assertEquals(next, `${gate.prefix()}/a?b=%3Cc%3E&d=%22e%22`);
  assertNotMatch(page.text, /<script|javascript:|http:|https:/i);
  for (const headers of [{}, { Accept: "application/json" }]) {
    (await gate.get("/", headers)).expect(401).errors;
  }
  for (const method of ["POST", "HEAD"]) {
    const response = await gate.fetch("/", { method, headers: BROWSER });
    await response.body?.cancel();
    assertEquals(response.headers.get("Content-Type"), "application/json", method);
  }
});

Deno.test("The page may not load anything or be framed, and its form may only be sent to this host.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const page = (await gate.get("/.kvdrive/sign-in", BROWSER)).expect(200);
  const style = /<style>([^]*)<\/style>/.exec(page.text)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  assertEquals(
    page.header("Content-Security-Policy"),
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  // With "no-referrer" a browser would send no origin with the form.
  assertEquals(page.header("Referrer-Policy"), "same-origin");
  assertEquals(page.header("Cross-Origin-Opener-Policy"), "same-origin");
  assertEquals(page.header("X-Content-Type-Options"), "nosniff");
});

Deno.test("The project's key signs in, to the page that was asked for and this application alone.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  await gate.protect(upstream.origin, "other");
  const next = `${gate.prefix()}/page?x=1`;
  const answer = (await signIn(gate, { key: ` ${gate.project.key} `, next })).expect(303);
  assertEquals(answer.header("Location"), next);
  assertMatch(
    answer.header("Set-Cookie"),
    new RegExp(
      `^kvdrive_session=[A-Za-z0-9]{32,}; Path=${gate.prefix()}/; Max-Age=\\d+; HttpOnly; SameSite=Lax$`,
    ),
  );
  const headers = { ...BROWSER, Cookie: `a=b; ${cookieOf(answer)}; c=d` };
  const echo = (await gate.get("/page", headers)).expect(200).json as Echo;
  assertEquals(Object.fromEntries(echo.headers)["cookie"], "a=b; c=d");
  (await Answer.of(await gate.fetch("/", { app: "other", headers }))).expect(401);
});

Deno.test("A sign-in is in the audit log, with the key and the client's address; a refused one is not.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const { project } = gate;
  const eventsOf = async () =>
    ((await project.call("GET", "/events")).expect(200).json as { events: AuditEvent[] }).events;
  const before = await eventsOf();
  const address = newAddress();
  (await signIn(gate, { key: `${project.id}_wrong` }, { "X-Forwarded-For": address })).expect(401);
  assertEquals(await eventsOf(), before);
  (await signIn(gate, { key: project.key }, { "X-Forwarded-For": address })).expect(303);
  const [event, ...rest] = await eventsOf();
  assertEquals(rest, before);
  const prefix = project.key.slice(project.id.length + 1).slice(0, 8);
  assertEquals(
    [event?.event, event?.by, event?.address, event?.target],
    ["gate.signed_in", prefix, address, "app"],
  );
});

Deno.test("Signing out ends the session, and revoking the key ends it too.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  const [first, second] = await Promise.all(
    [1, 2].map(async () => cookieOf((await signIn(gate, { key: gate.project.key })).expect(303))),
  );
  assert(first !== second);
  const out = await signIn(gate, {}, { Cookie: first ?? "" }, "/.kvdrive/sign-out");
  assertEquals(out.expect(303).header("Location"), `${gate.prefix()}/`);
  assertMatch(out.header("Set-Cookie"), /^kvdrive_session=; .*Max-Age=0;/);
  (await gate.get("/", { Cookie: first ?? "" })).expect(401);
  (await gate.get("/", { Cookie: second ?? "" })).expect(200);
  const { keys } = (await gate.project.call("GET", "/keys")).json as { keys: { prefix: string }[] };
  (await gate.project.call("DELETE", `/keys/${keys[0]?.prefix}`)).expect(200);
  (await gate.get("/", { Cookie: second ?? "" })).expect(401);
});

Deno.test("Other keys do not sign in, and the page shows the reason.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const appKey = await gate.protect(upstream.origin);
  const other = await Project.make(gate.server);
  for (const key of ["no-key-of-anybody", appKey, other.key, "x".repeat(5000)]) {
    const headers = { "X-Forwarded-For": newAddress() };
    const next = `${gate.prefix()}/page`;
    const page = (await signIn(gate, { key, next }, headers)).expect(401);
    assertStringIncludes(page.text, "This is not a key of the project.");
    assertStringIncludes(page.text, `value="${next}"`);
    assert(!page.text.includes(key) && !page.headers.has("Set-Cookie"));
  }
  (await signIn(gate, { key: "" })).expect(400);
});

Deno.test("A key that does not administer the project does not sign in, and the page shows the reason.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const { project } = gate;
  const limits = [{ permissions: ["read", "list"] }, { drives: ["photos"] }, { name_prefix: "a" }];
  for (const each of limits) {
    const { project_key: key } = await project.makeKey(each);
    const page = (await signIn(gate, { key, next: "/" })).expect(403);
    assertStringIncludes(page.text, "This key does not administer the project");
    assert(!page.text.includes(key) && !page.headers.has("Set-Cookie"));
  }
  const { project_key: key } = await project.makeKey({ permissions: ["admin"], expires_in: 600 });
  (await signIn(gate, { key })).expect(303);
});

Deno.test("After twenty wrong keys the page asks to wait, and the right key still signs in.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 20; i++) (await signIn(gate, { key: `wrong ${i}` }, from)).expect(401);
  const page = (await signIn(gate, { key: "wrong" }, from)).expect(429);
  assert(Number(page.header("Retry-After")) > 0);
  assertStringIncludes(page.text, "Too many wrong keys");
  (await signIn(gate, { key: gate.project.key }, from)).expect(303);
});

Deno.test("The browser is led to a path of the application and nowhere else.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const prefix = gate.prefix();
  const cases: [string, string][] = [
    [`${prefix}/a/../b?c#d`, `${prefix}/b?c`],
    [`${prefix}/\u00e9\r\nX: y`, `${prefix}/%C3%A9X:%20y`],
    [`${prefix}/../../x`, `${prefix}/`],
    [`${prefix}/%2e%2e/other/`, `${prefix}/`],
    [`${prefix}x/`, `${prefix}/`],
    [`${prefix}/.kvdrive/sign-in`, `${prefix}/`],
    [`//evil.example${prefix}/`, `${prefix}/`],
    [`/\\evil.example${prefix}/`, `${prefix}/`],
    [`https://evil.example${prefix}/`, `${prefix}/`],
    ["javascript:alert(1)", `${prefix}/`],
    ["//[", `${prefix}/`],
    ["", `${prefix}/`],
  ];
  for (const [next, wanted] of cases) {
    const answer = (await signIn(gate, { key: gate.project.key, next })).expect(303);
    assertEquals(answer.header("Location"), wanted, next);
  }
});

Deno.test("Another site cannot sign a user in or out.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const { key } = gate.project;
  const foreign: Record<string, string>[] = [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "" },
    { Origin: `${gate.origin}0` },
    { Origin: gate.origin.replace("127.0.0.1", "127.0.0.2") },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
  ];
  for (const headers of foreign) {
    const about = JSON.stringify(headers);
    for (const action of ["/.kvdrive/sign-in", "/.kvdrive/sign-out"]) {
      const answer = await signIn(gate, { key }, headers, action);
      assertEquals([answer.status, answer.headers.has("Set-Cookie")], [403, false], about);
    }
  }
  const own: Record<string, string>[] = [
    { Origin: "null", "Sec-Fetch-Site": "same-origin" },
    { Origin: gate.origin.replace("http:", "https:") },
  ];
  for (const headers of own) (await signIn(gate, { key }, headers)).expect(303);
});

Deno.test("A session changes nothing at the word of another site, nor opens a connection.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const host = "own.example.com";
  await gate.protect(upstream.origin);
  await gate.protect(upstream.origin, "own", host);
  const cookie = cookieOf((await signIn(gate, { key: gate.project.key })).expect(303));
  const ask = async (method: string, headers: Record<string, string>) => {
    const init = { method, headers: { Cookie: cookie, ...headers } };
    return await Answer.of(await gate.fetch("/x", init));
  };
  const foreign: Record<string, string>[] = [
    {},
    { Origin: "https://evil.example" },
    { Origin: `http://${host}:${gate.port}` },
    { Origin: gate.origin.replace(/\d+$/, "1") },
    { Origin: "null" },
    { "Sec-Fetch-Site": "same-site", Origin: gate.origin },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "none" },
  ];
  for (const headers of foreign) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
      const answer = (await ask(method, headers)).expect(401);
      assertStringIncludes(answer.errors.join(), "own pages");
    }
    assertEquals(await openSocket(gate, cookie, headers), 401, JSON.stringify(headers));
    for (const method of ["GET", "OPTIONS"]) (await ask(method, headers)).expect(200);
  }
  for (const headers of [{ Origin: gate.origin }, { "Sec-Fetch-Site": "same-origin" }]) {
    for (const method of ["POST", "PUT", "DELETE"]) (await ask(method, headers)).expect(200);
    assertEquals(await openSocket(gate, cookie, headers), 101);
  }
  // A key is the caller's own.
  (await ask("POST", { "X-Api-Key": gate.project.key })).expect(200);
  const auth = `${gate.server.origin}/auth${gate.prefix()}`;
  const judge = async (query: string, headers: Record<string, string>) => {
    const response = await fetch(auth + query, { headers: { Cookie: cookie, ...headers } });
    await response.body?.cancel();
    return response.status;
  };
  const own = { Origin: gate.server.origin };
  assertEquals(await judge("", {}), 204);
  assertEquals(await judge("?method=GET", {}), 204);
  assertEquals(await judge("?method=POST", {}), 401);
  assertEquals(await judge("", { Origin: "https://evil.example" }), 401);
  assertEquals(await judge("?method=POST", { Origin: "https://evil.example" }), 401);
  assertEquals(await judge("?method=POST", own), 204);
});

/** Asks for a WebSocket as a browser does; gives the status. */
async function openSocket(
  gate: Gate,
  cookie: string,
  headers: Record<string, string>,
): Promise<number> {
  using client = await RawClient.connect(gate.port);
  const all = {
    "Host": `127.0.0.1:${gate.port}`,
    "Cookie": cookie,
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await client.send(`GET ${gate.prefix()}/ws HTTP/1.1\r\n${lines}\r\n`);
  return (await client.readHead()).status;
}

Deno.test("With TLS and a host of its own the cookie is one that no other host can set.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const host = `${gate.project.id}.example.com`;
  await gate.protect(upstream.origin, "app", host);
  const send = async (method: string, path: string, lines: string[], body = "") => {
    using client = await RawClient.connect(gate.port);
    const start = [`${method} ${path} HTTP/1.1`, `Host: ${host}`];
    const head = [...start, "X-Forwarded-Proto: https", ...lines];
    await client.send(`${head.join("\r\n")}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    return await client.readAnswer();
  };
  const form = [`Origin: https://${host}`, "Content-Type: application/x-www-form-urlencoded"];
  const signedIn = await send("POST", "/.kvdrive/sign-in", form, `key=${gate.project.key}`);
  const cookie = signedIn.header("Set-Cookie") ?? "";
  assertMatch(
    cookie,
    /^__Host-kvdrive_session=[A-Za-z0-9]{32,}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure$/,
  );
  const pair = cookie.split(";")[0] ?? "";
  const inside = await send("GET", "/", [`Cookie: a=b; ${pair}`]);
  assertEquals(inside.status, 200);
  assertEquals(Object.fromEntries((JSON.parse(inside.body) as Echo).headers)["cookie"], "a=b");
  // Another host of the domain can set the plain name, which counts for nothing here.
  const tossed = pair.replace("__Host-", "");
  assertEquals((await send("GET", "/", [`Cookie: ${tossed}`])).status, 401);
  const out = await send("POST", "/.kvdrive/sign-out", [...form, `Cookie: ${pair}`]);
  assertMatch(out.header("Set-Cookie") ?? "", /^__Host-kvdrive_session=; Path=\/; Max-Age=0;/);
  assertEquals((await send("GET", "/", [`Cookie: ${pair}`])).status, 401);
});

Deno.test("No application sets the gate's cookie, or a service worker beyond its path.", async () => {
  const set = (value: string) => `Set-Cookie: ${value}`;
  const kept = [set("a=b"), set("kvdrive_sessions=x")];
  const dropped = [
    set("kvdrive_session=x; Path=/"),
    set("  __Host-Kvdrive_Session = x"),
    set("=kvdrive_session=x"),
    set("kvdrive_session"),
    set("kvdrive_dashboard=x; Path=/"),
    set("__Host-kvdrive_dashboard=x; Path=/; Secure"),
    set("=__Host-kvdrive_dashboard=x; Path=/; Domain=example.com"),
    "Service-Worker-Allowed: /",
  ];
  const head = ["HTTP/1.1 200 OK", ...kept, ...dropped, "Content-Length: 0", "", ""];
  await using upstream = new RawUpstream((connection) => connection.send(head.join("\r\n")));
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  using client = await RawClient.connect(gate.port);
  const id = "X-Request-Id: r1";
  await client.send(`GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n${id}\r\n\r\n`);
  assertEquals((await client.readAnswer()).lines, [...kept, "Content-Length: 0", id]);
});

Deno.test("The gate's own paths take only what they are for, and never reach the application.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const ask = async (method: string, path: string, init: RequestInit = {}) => {
    const headers = { "X-Api-Key": key, Origin: gate.origin, ...init.headers };
    return await Answer.of(await gate.fetch(path, { ...init, method, headers }));
  };
  assertEquals((await ask("GET", "/.kvdrive/sign-out")).expect(405).header("Allow"), "POST");
  (await ask("PUT", "/.kvdrive/sign-in")).expect(405);
  for (
    const path of ["/.kvdrive", "/.kvdrive/", "/.kvdrive/x", "/.kvdrive?x", "/.kvdrive/sign-in/"]
  ) {
    (await ask("GET", path)).expect(404).errors;
  }
  const headers = { "Content-Type": "application/json" };
  (await ask("POST", "/.kvdrive/sign-in", { headers, body: "{}" })).expect(400).errors;
  const large = { body: new URLSearchParams({ key: "x".repeat(9000) }) };
  (await ask("POST", "/.kvdrive/sign-in", large)).expect(413).errors;
  assertEquals(upstream.received, "");
  (await ask("GET", "/.kvdriver")).expect(200);
});

Deno.test("A proxy that took TLS off makes the cookie one for TLS.", async () => {
  await using gate = await Gate.start({ args: ["--apps-host", "outer.example"] });
  await gate.protect("http://127.0.0.1:1");
  const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "outer.example" };
  const own = { ...headers, Origin: "https://outer.example" };
  const answer = (await signIn(gate, { key: gate.project.key }, own)).expect(303);
  assertMatch(answer.header("Set-Cookie"), /; Secure$/);
  (await signIn(gate, { key: gate.project.key }, headers)).expect(403);
});

Deno.test("No secret is printed or shown.", async () => {
  await using gate = await Gate.start();
  const key = await gate.protect("http://127.0.0.1:1");
  const cookie = cookieOf(await signIn(gate, { key: gate.project.key }));
  await gate.get("/", { Cookie: cookie, "X-Api-Key": key });
  await gate.server.stop();
  const secrets = [key, gate.project.key, cookie.slice(1 + cookie.indexOf("="))];
  for (const secret of secrets) assert(!gate.server.text.includes(secret));
});
