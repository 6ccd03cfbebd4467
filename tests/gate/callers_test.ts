import { assert, assertEquals } from "@std/assert";
import { Project, withKey } from "../support/admin.ts";
import { Answer } from "../support/answer.ts";
import { Gate } from "../support/gate/gate.ts";
import { type RawAnswer, RawClient } from "../support/gate/raw_client.ts";
import { answerEach, RawUpstream } from "../support/gate/upstream_raw.ts";
import { newAddress } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";

/** The host name of the project's application. */
const hostOf = ({ project }: Gate): string => `${project.id}.example.com`;
const PREFLIGHT = {
  "Origin": "https://page.example",
  "Access-Control-Request-Method": "PUT",
  "Access-Control-Request-Headers": "x-api-key",
};

interface Caller {
  name: string;
  method?: string;
  headers: Record<string, string>;
  /** Whether it is let in while access control is on. */
  isAllowed: boolean;
}

type Way = "path" | "host" | "forward-auth";

/** Everybody that there is. The browser is signed in the way that is tested, as a cookie belongs to one place. */
async function callersOf(gate: Gate, key: string): Promise<(way: Way) => Promise<Caller[]>> {
  const { server, project } = gate;
  await gate.open("http://127.0.0.1:1", "other");
  await gate.switchAccess(true, "other");
  const otherApp = await gate.makeKey("first", "other");
  const revoked = await gate.makeKey("revoked");
  await gate.revoke("revoked");
  const otherProject = await Project.make(server);
  await otherProject.makeApp({ name: "app" });
  await otherProject.call("PUT", "/apps/app/access", { body: { enabled: true } });
  const namesake = await otherProject.makeAppKey("/apps/app", { name: "first" });
  const limited = [
    await project.makeKey({ permissions: ["read", "write", "delete", "list"] }),
    await project.makeKey({ drives: ["photos"] }),
    await project.makeKey({ name_prefix: "a" }),
    await project.makeKey({ permissions: ["admin"], expires_in: 600 }),
  ];
  const [prefix = "", secret = ""] = key.split(".");
  return async (way) => [
    { name: "unknown", headers: {}, isAllowed: false },
    {
      name: "a wrong key",
      headers: withKey(`${"a".repeat(8)}.${"b".repeat(32)}`),
      isAllowed: false,
    },
    { name: "a wrong secret", headers: withKey(`${prefix}.${"b".repeat(32)}`), isAllowed: false },
    { name: "a wrong prefix", headers: withKey(`${"a".repeat(8)}.${secret}`), isAllowed: false },
    { name: "a key that is too long", headers: withKey(key.repeat(20)), isAllowed: false },
    { name: "the key of another application", headers: withKey(otherApp), isAllowed: false },
    { name: "the key of a namesake", headers: withKey(namesake.api_key), isAllowed: false },
    { name: "the key of another project", headers: withKey(otherProject.key), isAllowed: false },
    ...limited.map((key) => ({
      name: `the owner's key with ${JSON.stringify(key)}`,
      headers: withKey(key.project_key),
      isAllowed: key.permissions.includes("admin") && key.drives === null &&
        key.name_prefix === null,
    })),
    { name: "a revoked key", headers: withKey(revoked), isAllowed: false },
    { name: "a made-up session", headers: { Cookie: "kvdrive_session=abc" }, isAllowed: false },
    { name: "the application's key", headers: withKey(key), isAllowed: true },
    { name: "the owner's key", headers: withKey(project.key), isAllowed: true },
    { name: "a signed-in browser", headers: { Cookie: await signIn(gate, way) }, isAllowed: true },
    { name: "a preflight", method: "OPTIONS", headers: PREFLIGHT, isAllowed: true },
  ];
}

/** Signs a browser in; gives its cookie. */
async function signIn(gate: Gate, way: Way): Promise<string> {
  using client = await RawClient.connect(gate.port);
  const isPath = way === "path";
  const host = isPath ? `127.0.0.1:${gate.port}` : hostOf(gate);
  const body = `key=${encodeURIComponent(gate.project.key)}`;
  await client.send([
    `POST ${isPath ? gate.prefix() : ""}/.kvdrive/sign-in HTTP/1.1`,
    `Host: ${host}`,
    `Origin: http://${host}`,
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n"));
  const answer = await client.readAnswer();
  assertEquals(answer.status, 303, answer.body);
  return answer.header("Set-Cookie")?.split(";")[0] ?? "";
}

/** Calls one of the three ways; gives the status and the body. Each call comes from an address of its own. */
async function call(
  gate: Gate,
  way: Way,
  caller: Caller,
): Promise<{ status: number; body: string }> {
  const headers = { ...caller.headers, "X-Forwarded-For": newAddress() };
  if (way === "forward-auth") {
    const query = caller.method === undefined ? "" : `?method=${caller.method}`;
    const url = `${gate.server.origin}/auth${gate.prefix()}${query}`;
    const answer = await Answer.of(await fetch(url, { headers }));
    if (answer.status >= 400) assertErrorAnswer(answer);
    return { status: answer.status, body: answer.text };
  }
  using client = await RawClient.connect(gate.port);
  const target = way === "path" ? `${gate.prefix()}/x` : "/x";
  const host = way === "path" ? `127.0.0.1:${gate.port}` : hostOf(gate);
  const lines = Object.entries({ Host: host, ...headers }).map(([k, v]) => `${k}: ${v}`);
  await client.send(
    [`${caller.method ?? "GET"} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"),
  );
  return await client.readAnswer();
}

for (const way of ["path", "host", "forward-auth"] as const) {
  for (const access of [false, true]) {
    const state = access ? "on" : "off";
    Deno.test(`By ${way}, with access control ${state}, exactly the authorized callers get in.`, async (t) => {
      await using upstream = new RawUpstream(
        answerEach("HTTP/1.1 209 Mine\r\nContent-Length: 0\r\n\r\n"),
      );
      await using gate = await Gate.shared();
      const key = await gate.protect(upstream.origin, "app", hostOf(gate));
      const callers = await (await callersOf(gate, key))(way);
      await gate.switchAccess(access);
      for (const caller of callers) {
        const isAllowed = caller.isAllowed || !access;
        await t.step(`${caller.name}: ${isAllowed ? "in" : "401"}`, async () => {
          const before = upstream.received.length;
          const { status, body } = await call(gate, way, caller);
          const inside = way === "forward-auth" ? 204 : 209;
          assertEquals(status, isAllowed ? inside : 401, body);
          const isAsked = upstream.received.length > before;
          assertEquals(isAsked, isAllowed && way !== "forward-auth");
        });
      }
    });
  }
}

Deno.test("A wrong prefix and a wrong secret get the same answer.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const [prefix = "", secret = ""] = key.split(".");
  const answers: string[] = [];
  for (const wrong of [`${prefix}.${"x".repeat(32)}`, `xxxxxxxx.${secret}`, prefix, `x${key}`]) {
    const answer = (await gate.get("/", withKey(wrong))).expect(401);
    assert(answer.header("WWW-Authenticate").startsWith("ApiKey "));
    answers.push(answer.text);
  }
  assertEquals(new Set(answers).size, 1, answers.join("\n"));
});

Deno.test("Access control that is switched off and on again keeps the keys.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  (await gate.get("/")).expect(401);
  await gate.switchAccess(false);
  (await gate.get("/")).expect(200);
  await gate.switchAccess(true);
  (await gate.get("/")).expect(401);
  (await gate.get("/", withKey(key))).expect(200);
});

Deno.test("A preflight brings nothing with it: a body or an upgrade needs a key.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  await gate.protect(upstream.origin);
  const lines = Object.entries(PREFLIGHT).map(([name, value]) => `${name}: ${value}`);
  for (const more of [["Content-Length: 2"], ["Connection: Upgrade", "Upgrade: websocket"]]) {
    using client = await RawClient.connect(gate.port);
    const head = [
      `OPTIONS ${gate.prefix()}/ HTTP/1.1`,
      "Host: localhost",
      ...lines,
      ...more,
      "",
      "ab",
    ];
    await client.send(head.join("\r\n"));
    assertEquals((await client.readAnswer()).status, 401);
  }
  (await gate.get("/", PREFLIGHT)).expect(401);
  assertEquals(upstream.received, "");
});

/** All of an answer but what differs each time, and the names in it. */
function shapeOf({ status, lines, body }: RawAnswer, project: string, app: string): unknown {
  const plain = (text: string) => text.replaceAll(project, "PROJECT").replaceAll(app, "APP");
  const kept = lines.filter((line) => !/^(date|x-request-id|content-length):/i.test(line));
  return [status, kept.map(plain), plain(body)];
}

/** What people without a key of the project may try. */
const STRANGERS: {
  name: string;
  method?: string;
  path?: string;
  lines?: string[];
  body?: string;
}[] = [
  { name: "a program" },
  { name: "a wrong key", lines: ["X-Api-Key: aaaaaaaa.b"] },
  { name: "a made-up project key", lines: ["X-Api-Key: other_0123456789012345678901"] },
  { name: "a browser", lines: ["Accept: text/html"] },
  { name: "a HEAD", method: "HEAD" },
  { name: "a POST with a session", method: "POST", lines: ["Cookie: kvdrive_session=x"] },
  { name: "an upgrade", lines: ["Connection: Upgrade", "Upgrade: websocket"] },
  { name: "the prefix alone", path: "" },
  { name: "a climbing path", path: "/../x" },
  { name: "the sign-in page", path: "/.kvdrive/sign-in" },
  { name: "another page of the gate", path: "/.kvdrive/x" },
  {
    name: "a sign-in",
    method: "POST",
    path: "/.kvdrive/sign-in",
    lines: [
      "Sec-Fetch-Site: same-origin",
      "Content-Type: application/x-www-form-urlencoded",
      "Content-Length: 5",
    ],
    body: "key=x",
  },
  {
    name: "a sign-out",
    method: "POST",
    path: "/.kvdrive/sign-out",
    lines: ["Sec-Fetch-Site: same-origin"],
  },
];

Deno.test("A preflight without a key brings the application its question and nothing else.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const ask = async (headers: Record<string, string>) => {
    using client = await RawClient.connect(gate.port);
    const all = { ...headers, "X-Attack": "' or 1=1", "Cookie": "a=b", "User-Agent": "x" };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const from = upstream.received.length;
    await client.send(`OPTIONS ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`);
    const { status } = await client.readAnswer();
    const names = upstream.received.slice(from).split("\r\n").slice(1, -2)
      .map((line) => line.split(":")[0]?.toLowerCase() ?? "");
    return { status, names };
  };
  const gates = [
    "x-request-id",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-prefix",
  ];
  const asked = Object.keys(PREFLIGHT).map((name) => name.toLowerCase());
  assertEquals(await ask(PREFLIGHT), { status: 200, names: ["host", ...asked, ...gates] });
  const known = await ask({ ...PREFLIGHT, ...withKey(key) });
  assertEquals(known.status, 200);
  for (const name of ["x-attack", "cookie", "user-agent", "x-auth-key-name"]) {
    assert(known.names.includes(name), name);
  }
  assertEquals((await ask({ ...PREFLIGHT, ...withKey("wrong") })).status, 401);
});

Deno.test("Answers without a key do not reveal which applications and projects exist.", async (t) => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1", "whole-1");
  await gate.open(undefined, "bare-1");
  await gate.switchAccess(true, "bare-1");
  const { id } = gate.project;
  const places = [[id, "whole-1"], [id, "bare-1"], [id, "none-1"], [
    "unknown-1",
    "whole-1",
  ]] as const;
  for (const { name, method = "GET", path = "/x", lines = [], body = "" } of STRANGERS) {
    await t.step(name, async () => {
      const shapes = [];
      for (const [project, app] of places) {
        using client = await RawClient.connect(gate.port);
        const head = [
          `${method} /${project}/${app}${path} HTTP/1.1`,
          "Host: localhost",
          `X-Forwarded-For: ${newAddress()}`,
          ...lines,
        ];
        await client.send(`${head.join("\r\n")}\r\n\r\n${body}`);
        shapes.push(shapeOf(await client.readAnswer(method), project, app));
      }
      for (const shape of shapes) assertEquals(shape, shapes[0]);
    });
  }
});

Deno.test("The forward-auth endpoint reveals neither without a key of the project.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const from = { "X-Forwarded-For": newAddress() };
    const url = `${gate.server.origin}/auth/${path}`;
    const answer = await Answer.of(await fetch(url, { headers: { ...from, ...headers } }));
    return [answer.status, answer.text, answer.headers.get("WWW-Authenticate")];
  };
  const { id, owner } = gate.project;
  for (
    const headers of [{}, withKey("wrong"), withKey("unknown_0123456789012345678901"), PREFLIGHT]
  ) {
    for (const query of ["", "?method=OPTIONS"]) {
      const known = await ask(`${id}/app${query}`, headers);
      for (const path of [`${id}/none`, "unknown/app", `${id}/a%20b`, "%ff/x"]) {
        assertEquals(await ask(path + query, headers), known, path);
      }
    }
  }
  assertEquals((await ask(`${id}/none`, owner))[0], 404);
  assertEquals((await ask("unknown/app", owner))[0], 401);
  (await gate.get("/x", owner)).expect(502);
  (await Answer.of(await gate.fetch("/x", { app: "none", headers: owner }))).expect(404);
});

Deno.test("A path or host of no application is not found.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const answers: string[] = [];
  const cases = [
    ["localhost", "/"],
    ["localhost", "/x"],
    ["localhost", "//"],
    ["localhost", "/a%20b/app/x"],
    ["files.example.com", `${gate.prefix()}/`],
    ["a", `${gate.prefix()}/`],
    ["app.localhost", `${gate.prefix()}/`],
  ];
  for (const [host, path] of cases) {
    using client = await RawClient.connect(gate.port);
    await client.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n\r\n`);
    const answer = await client.readAnswer();
    assertEquals(answer.status, 404);
    assertEquals(answer.header("Content-Type"), "text/html; charset=utf-8");
    answers.push(answer.body);
  }
  assertEquals(new Set(answers).size, 1, answers.join("\n"));
});

Deno.test("After twenty wrong keys from an address further ones wait, and a right one does not.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 20; i++) (await gate.get("/", { ...from, ...withKey(`w${i}`) })).expect(401);
  const refused = (await gate.get("/", { ...from, ...withKey("w") })).expect(429);
  assert(Number(refused.header("Retry-After")) > 0);
  assertErrorAnswer(refused);
  (await gate.get("/", { ...from, ...withKey(key) })).expect(200);
  (await gate.get("/", from)).expect(401);
  (await gate.get("/", withKey("w"))).expect(401);
  const auth = `${gate.server.origin}/auth${gate.prefix()}`;
  const asked = await Answer.of(await fetch(auth, { headers: { ...from, ...withKey("w") } }));
  assert(Number(asked.expect(401).header("Retry-After")) > 0);
});

Deno.test("The forward-auth endpoint returns the name of the key and ignores a method sent by the caller.", async () => {
  await using gate = await Gate.shared();
  const key = await gate.protect("http://127.0.0.1:1");
  const ask = async (headers: Record<string, string>, method = "GET") =>
    await Answer.of(await fetch(`${gate.server.origin}/auth${gate.prefix()}`, { headers, method }));
  const answer = (await ask(withKey(key))).expect(204);
  assertEquals(answer.header("X-Auth-Key-Name"), "first");
  assertEquals(answer.header("Cache-Control"), "no-store");
  const owner = (await ask(withKey(gate.project.key))).expect(204);
  assertEquals(owner.header("X-Auth-Key-Name"), "");
  for (const name of ["X-Forwarded-Method", "X-Original-Method", "X-HTTP-Method-Override"]) {
    (await ask({ ...PREFLIGHT, [name]: "OPTIONS" })).expect(401);
  }
  (await ask({}, "POST")).expect(405);
});

Deno.test("A program signs in and out without the headers of a browser.", async () => {
  await using gate = await Gate.shared();
  await gate.protect("http://127.0.0.1:1");
  const post = async (action: string, init: RequestInit) =>
    await Answer.of(await gate.fetch(`/.kvdrive/${action}`, { method: "POST", ...init }));
  const body = new URLSearchParams({ key: gate.project.key });
  const cookie = (await post("sign-in", { body })).expect(303).header("Set-Cookie");
  (await post("sign-out", { headers: { Cookie: cookie } })).expect(303);
});
