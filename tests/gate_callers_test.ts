import { assert, assertEquals } from "@std/assert";
import { Project, withKey } from "./support/admin.ts";
import { assertErrorAnswer } from "./support/cases.ts";
import { Answer } from "./support/answer.ts";
import { Gate } from "./support/gate.ts";
import { RawClient } from "./support/gate_client.ts";
import { strangerAddress } from "./support/stranger.ts";
import { answerEach, RawUpstream } from "./support/upstream_raw.ts";

const HOST = "app.example.com";
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
  const [prefix = "", secret = ""] = key.split(".");
  return async (way) => [
    { name: "nobody", headers: {}, isAllowed: false },
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
  const host = isPath ? `127.0.0.1:${gate.port}` : HOST;
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
  const headers = { ...caller.headers, "X-Forwarded-For": strangerAddress() };
  if (way === "forward-auth") {
    const query = caller.method === undefined ? "" : `?method=${caller.method}`;
    const url = `${gate.server.origin}/auth${gate.prefix()}${query}`;
    const answer = await Answer.of(await fetch(url, { headers }));
    if (answer.status >= 400) assertErrorAnswer(answer);
    return { status: answer.status, body: answer.text };
  }
  using client = await RawClient.connect(gate.port);
  const target = way === "path" ? `${gate.prefix()}/x` : "/x";
  const host = way === "path" ? `127.0.0.1:${gate.port}` : HOST;
  const lines = Object.entries({ Host: host, ...headers }).map(([k, v]) => `${k}: ${v}`);
  await client.send(
    [`${caller.method ?? "GET"} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"),
  );
  return await client.readAnswer();
}

for (const way of ["path", "host", "forward-auth"] as const) {
  for (const access of [false, true]) {
    const state = access ? "on" : "off";
    Deno.test(`By ${way}, with access control ${state}, exactly who may is let in.`, async (t) => {
      await using upstream = new RawUpstream(
        answerEach("HTTP/1.1 209 Mine\r\nContent-Length: 0\r\n\r\n"),
      );
      await using gate = await Gate.start();
      const key = await gate.protect(upstream.origin, "app", HOST);
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
  await using gate = await Gate.start();
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
  await using gate = await Gate.start();
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
  await using gate = await Gate.start();
  await gate.protect(upstream.origin);
  const lines = Object.entries(PREFLIGHT).map(([name, value]) => `${name}: ${value}`);
  for (const more of [["Content-Length: 2"], ["Connection: Upgrade", "Upgrade: websocket"]]) {
    using client = await RawClient.connect(gate.port);
    const head = [`OPTIONS ${gate.prefix()}/ HTTP/1.1`, "Host: a", ...lines, ...more, "", "ab"];
    await client.send(head.join("\r\n"));
    assertEquals((await client.readAnswer()).status, 401);
  }
  (await gate.get("/", PREFLIGHT)).expect(401);
  assertEquals(upstream.received, "");
});

Deno.test("An unknown project, an unknown application and no application look the same.", async () => {
  await using gate = await Gate.start();
  await gate.protect("http://127.0.0.1:1");
  const answers: string[] = [];
  for (const path of ["/nobody/app/x", `/${gate.project.id}/none/x`, "/", "/x", "//"]) {
    using client = await RawClient.connect(gate.port);
    await client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n`);
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("Content-Type")], [404, "application/json"]);
    answers.push(answer.body);
  }
  assertEquals(new Set(answers).size, 1, answers.join("\n"));
  const unknown = await fetch(`${gate.server.origin}/auth/${gate.project.id}/none`);
  (await Answer.of(unknown)).expect(404);
});

Deno.test("After twenty wrong keys from an address further ones wait, and a right one does not.", async () => {
  await using upstream = new RawUpstream();
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  const from = { "X-Forwarded-For": strangerAddress() };
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

Deno.test("The forward-auth endpoint says which key called, and believes no method of a caller.", async () => {
  await using gate = await Gate.start();
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
