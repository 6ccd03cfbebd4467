import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  administer,
  ADMINISTERED,
  assertPrivate,
  type AuditEvent,
  Project,
  SECONDS,
  withKey,
} from "../../support/admin.ts";
import { newAddress, TestServer } from "../../support/server.ts";
import { Browser } from "../../support/sessions/browser.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Sessions of the dashboard", ADMINISTERED);

const ALL = ["read", "write", "delete", "list", "admin"];
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

interface Listed {
  id: string;
  created: string;
  last_used: string;
  expires: string;
  address: string;
  browser: string;
  current: boolean;
}

async function sessionsOf(browser: Browser): Promise<Listed[]> {
  const answer = (await browser.send("GET", "/dashboard/sessions")).expect(200);
  return (answer.json as { sessions: Listed[] }).sessions;
}

test("A key signs in, and the session shows its rights.", async ({ server }) => {
  const project = await Project.make(server);
  const limits = { permissions: ["read", "list"], drives: ["d"], name_prefix: "a/" };
  const { project_key, prefix } = await project.makeKey(limits);
  const browser = new Browser(server.origin);
  assertEquals(await browser.session(), null);
  const answer = (await browser.signIn(` ${project_key}\n`)).expect(200);
  assertPrivate(answer);
  assertMatch(
    browser.setCookie,
    /^kvdrive_dashboard=[A-Za-z0-9]{32}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Strict$/,
  );
  const session = await browser.session();
  assert(session !== null);
  const { id: _, csrf, created, expires, version, ...rest } = session;
  assertEquals((answer.json as { session: unknown }).session, session);
  assertEquals(rest, {
    role: "project",
    project_id: project.id,
    project_name: null,
    key: prefix,
    ...limits,
    s3: null,
    trash_days: 0,
    webdav: true,
  });
  assertMatch(csrf, /^[0-9a-f]{64}$/);
  assertMatch(version, /^\d+\.\d+\.\d+$/);
  for (const time of [created, expires]) assertMatch(time, SECONDS);
  assertEquals(answer.text.includes(browser.cookie.split("=")[1] ?? ""), false);
});

test("The administrator's token signs in, and the session counts as the token.", async ({ server }) => {
  const browser = await Browser.signedIn(server, ADMIN_TOKEN);
  const { role, project_id, key, permissions, drives, name_prefix } = await browser.session() ?? {};
  assertEquals([role, project_id, key, permissions, drives, name_prefix], [
    ...["admin", null, "admin"],
    ALL,
    ...[null, null],
  ]);
  (await browser.send("GET", "/admin/v1/projects")).expect(200);
  const made = await browser.send("POST", "/admin/v1/projects", { body: {} });
  const { project_id: id } = made.expect(201).json as { project_id: string };
  (await browser.send("POST", `/v1/${id}/d/files?name=a`, { body: "x" })).expect(201);
  const events = (await browser.send("GET", "/admin/v1/events?limit=10")).expect(200).json as {
    events: AuditEvent[];
  };
  const [created] = events.events.filter(({ event }) => event === "project.created");
  assertEquals(created?.by, "admin");
});

test("A session counts as its key for files and the administration, and in the log.", async ({ server }) => {
  const project = await Project.make(server);
  const { project_key, prefix } = await project.makeKey({ permissions: ["read", "list", "admin"] });
  const browser = await Browser.signedIn(server, project_key);
  await project.drive("d").put("a.txt", "hello");
  const path = `/v1/${project.id}/d/files`;
  assertEquals(
    (await browser.send("GET", `${path}/download?name=a.txt`)).expect(200).text,
    "hello",
  );
  (await browser.send("POST", `${path}?name=b`, { body: "x" })).expect(403);
  (await browser.send("GET", `/v1/${(await Project.make(server)).id}/d/files`)).expect(403);
  (await browser.send("GET", "/admin/v1/projects")).expect(403);
  const limits = { permissions: ["read"] };
  const keys = `/admin/v1/projects/${project.id}/keys`;
  const made = (await browser.send("POST", keys, { body: limits })).expect(201);
  (await browser.send("POST", keys, { body: {} })).expect(403);
  const { prefix: other } = made.json as { prefix: string };
  const log = (await project.call("GET", "/events")).expect(200).json as { events: AuditEvent[] };
  const events = log.events.map(({ event, by, target }) => [event, by, target]);
  assertEquals(events[0], ["key.created", prefix, other]);
  assertEquals(events[1]?.slice(0, 2), ["dashboard.signed_in", prefix]);
  assertEquals(JSON.stringify(events).includes(project_key), false);
});

test("A key or a token decides beside a session.", async ({ server }) => {
  const [one, other] = [await Project.make(server), await Project.make(server)];
  const browser = await Browser.signedIn(server, one.key);
  const list = (project: Project, headers: Record<string, string>) =>
    browser.send("GET", `/v1/${project.id}`, { headers });
  (await list(other, withKey(other.key))).expect(200);
  (await list(one, withKey(other.key))).expect(403);
  const from = { "X-Forwarded-For": newAddress() };
  (await list(one, { ...withKey("wrong_key"), ...from })).expect(401);
  (await list(other, { Authorization: `Bearer ${ADMIN_TOKEN}` })).expect(200);
  (await list(one, { Authorization: "Bearer wrong", ...from })).expect(401);
});

test("Without the header of the session the cookie counts for nothing, also not as a wrong key.", async ({ server }) => {
  const project = await Project.make(server);
  const headers = { "X-Forwarded-For": newAddress() };
  const browser = await Browser.signedIn(server, project.key, headers);
  const stranger = await Browser.signedIn(server, (await Project.make(server)).key, headers);
  const plain = await administer(server, "GET", `/v1/${project.id}`, { as: headers });
  const proofs = [undefined, "", "0".repeat(64), stranger.csrf, browser.csrf.toUpperCase()];
  for (let i = 0; i < 25; i++) {
    const proof = proofs[i % proofs.length];
    const own = proof === undefined ? {} : { "X-Kvdrive-Session": proof };
    const sent = { withoutProof: true, headers: own };
    const answer = (await browser.send("GET", `/v1/${project.id}`, sent)).expect(401);
    assertEquals(answer.text, plain.text);
    (await browser.send("GET", `/admin/v1/projects/${project.id}`, sent)).expect(401);
    (await browser.send("DELETE", "/dashboard/sessions", sent)).expect(401);
  }
  (await browser.send("GET", `/v1/${project.id}`)).expect(200);
  const wrong = await new Browser(server.origin, headers).signIn("wrong");
  wrong.expect(401);
});

test("Wrong secrets are 401, and too many 429; a right one is accepted.", async ({ server }) => {
  const { key } = await Project.make(server);
  const browser = new Browser(server.origin, { "X-Forwarded-For": newAddress() });
  for (let i = 0; i < 20; i++) {
    const secret = ["p_wrong", "once_wrong", "x".repeat(300), " "][i % 4];
    const answer = (await browser.signIn(secret)).expect(401);
    assertEquals(answer.text.includes("wrong"), false);
    assertEquals(answer.headers.getSetCookie(), []);
  }
  assert(Number((await browser.signIn("p_wrong")).expect(429).header("Retry-After")) > 0);
  (await browser.signIn(key)).expect(200);
});

test("A body that is no such JSON is 400.", async ({ server }) => {
  const browser = new Browser(server.origin);
  const bodies = ["", "{", "[]", "{}", '{"secret": 1}', '{"secret": null}', "secret=x"];
  for (const body of [...bodies, '{"secret": "x", "more": 1}']) {
    (await browser.send("POST", "/dashboard/session", { body })).expect(400);
  }
  (await browser.send("POST", "/dashboard/session", { body: "x".repeat(70_000) })).expect(413);
  (await browser.send("PUT", "/dashboard/session")).expect(405);
});

test("Pages of other origins neither sign in nor out, nor read anything.", async ({ server }) => {
  const { key } = await Project.make(server);
  const browser = await Browser.signedIn(server, key);
  const { host, port } = new URL(server.origin);
  const foreign: Record<string, string>[] = [
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "cross-site", Origin: server.origin },
    { "Sec-Fetch-Site": "" },
    { Origin: "https://evil.example" },
    { Origin: `http://127.0.0.1:${Number(port) + 1}` },
    { Origin: `http://127.0.0.1.evil.example:${port}` },
    { Origin: `http://evil.example/${host}` },
    { Origin: "null" },
    { Origin: "" },
  ];
  for (const headers of foreign) {
    const stranger = new Browser(server.origin);
    const answer = (await stranger.signIn(key, { headers })).expect(403);
    assertEquals(answer.headers.getSetCookie(), [], JSON.stringify(headers));
    (await browser.send("DELETE", "/dashboard/session", { headers })).expect(403);
    const read = await browser.send("GET", "/dashboard/session", { headers });
    assertPrivate(read);
  }
  const preflight = await browser.send("OPTIONS", "/dashboard/session", {
    headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" },
  });
  assertEquals(preflight.headers.has("Access-Control-Allow-Origin"), false);
  for (const headers of [{ "Sec-Fetch-Site": "same-origin" }, { Origin: server.origin }, {}]) {
    (await new Browser(server.origin).signIn(key, { headers })).expect(200);
  }
  assertNotEquals(await browser.session(), null);
});

test("A sign-in makes another token, and ends what the cookie named.", async ({ server }) => {
  const [mine, theirs] = [await Project.make(server), await Project.make(server)];
  const fixed = await Browser.signedIn(server, theirs.key);
  const browser = new Browser(server.origin);
  browser.cookie = fixed.cookie;
  (await browser.signIn(mine.key)).expect(200);
  assertNotEquals(browser.cookie, fixed.cookie);
  assertEquals((await browser.session())?.project_id, mine.id);
  assertEquals(await fixed.session(), null);
  browser.cookie = "kvdrive_dashboard=chosen";
  (await browser.signIn(mine.key)).expect(200);
  assertEquals(browser.cookie.includes("chosen"), false);
});

test("A second cookie of the name, from elsewhere, does not sign in beside the first.", async ({ server }) => {
  const [mine, theirs] = [await Project.make(server), await Project.make(server)];
  const browser = await Browser.signedIn(server, mine.key);
  const stranger = await Browser.signedIn(server, theirs.key);
  browser.cookie = `${stranger.cookie}; ${browser.cookie}`;
  assertEquals(await browser.session(), null);
  (await browser.send("GET", `/v1/${mine.id}`)).expect(200);
  (await browser.send("GET", `/v1/${theirs.id}`)).expect(403);
});

test("Over HTTPS only the cookie counts that other hosts cannot set.", async ({ server }) => {
  const { key, id } = await Project.make(server);
  const https = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "files.example.com" };
  const browser = await Browser.signedIn(server, key, https);
  assertMatch(
    browser.setCookie,
    /^__Host-kvdrive_dashboard=\w{32}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
  );
  assertEquals((await browser.session())?.project_id, id);
  (await browser.send("GET", `/v1/${id}`)).expect(200);
  const stranger = await Browser.signedIn(server, (await Project.make(server)).key);
  browser.cookie = `${stranger.cookie}; ${browser.cookie}`;
  assertEquals((await browser.session())?.project_id, id);
  browser.cookie = stranger.cookie;
  assertEquals(await browser.session(), null);
  const own = { Origin: "https://files.example.com" };
  (await browser.signIn(key, { headers: own })).expect(200);
  (await browser.signIn(key, { headers: { Origin: "https://example.com" } })).expect(403);
});

test("A browser signs out, and its session has ended.", async ({ server }) => {
  const { key, id } = await Project.make(server);
  const browser = await Browser.signedIn(server, key);
  const { cookie, csrf } = browser;
  const answer = await browser.send("DELETE", "/dashboard/session", { withoutProof: true });
  assertEquals(answer.expect(200).json, { deleted: 1 });
  assertPrivate(answer);
  assertMatch(browser.setCookie, /^kvdrive_dashboard=; Path=\/; Max-Age=0;/);
  Object.assign(browser, { cookie, csrf });
  assertEquals(await browser.session(), null);
  const refused = (await browser.send("GET", `/v1/${id}`)).expect(401);
  assertEquals(refused.errors, ["The session has ended: sign in again"]);
  const again = await browser.send("DELETE", "/dashboard/session");
  assertEquals(again.expect(200).json, { deleted: 0 });
});

test("The sessions of a key are listed and ended, and those of other keys are not.", async ({ server }) => {
  const project = await Project.make(server);
  const address = newAddress();
  const first = await Browser.signedIn(server, project.key, {
    "User-Agent": FIREFOX,
    "X-Forwarded-For": address,
  });
  const second = await Browser.signedIn(server, project.key, {
    "User-Agent": `<script>\u00e4"${"x".repeat(5000)} Firefox/1 Linux`,
  });
  const other = await Browser.signedIn(server, (await project.makeKey()).project_key);
  const listed = await sessionsOf(first);
  assertEquals(listed.map(({ browser, current }) => [browser, current]), [
    ["Unknown browser", false],
    ["Firefox on Linux", true],
  ]);
  assertEquals(listed[1]?.address, address);
  for (const { created, last_used, expires } of listed) {
    for (const time of [created, last_used, expires]) assertMatch(time, SECONDS);
  }
  const [{ id } = { id: "" }] = listed;
  for (const strange of [id, "none", "%00", "a%2Fb", "%F0%9F%98%80", "x".repeat(3000)]) {
    (await other.send("DELETE", `/dashboard/sessions/${strange}`)).expect(404);
  }
  const ended = await first.send("DELETE", `/dashboard/sessions/${id}`);
  assertEquals(ended.expect(200).json, { deleted: 1 });
  assertEquals(await second.session(), null);
  const all = await administer(server, "DELETE", "/dashboard/sessions", { as: project.owner });
  assertEquals(all.expect(200).json, { deleted: 1 });
  assertEquals(await first.session(), null);
  assertNotEquals(await other.session(), null);
  (await administer(server, "GET", "/dashboard/sessions", { as: {} })).expect(401);
});

test("A session ends with its key and its project.", async ({ server }) => {
  const project = await Project.make(server);
  const { project_key, prefix } = await project.makeKey();
  const [revoked, kept] = await Promise.all(
    [project_key, project.key].map((key) => Browser.signedIn(server, key)),
  );
  (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
  assertEquals(await revoked?.session(), null);
  (await revoked?.send("GET", `/v1/${project.id}`))?.expect(401);
  assertNotEquals(await kept?.session(), null);
  (await project.call("DELETE", "")).expect(202);
  assertEquals(await kept?.session(), null);
});

test("A code of the administrator signs in once, of many browsers.", async ({ server }) => {
  const as = { Authorization: `Bearer ${ADMIN_TOKEN}`, Host: new URL(server.origin).host };
  const answer = (await administer(server, "POST", "/admin/v1/sign-in-codes", { as })).expect(201);
  assertPrivate(answer);
  const { code, url, expires } = answer.json as { code: string; url: string; expires: string };
  assertEquals(url, `${server.origin}/#code=${code}`);
  const life = new Date(expires).getTime() - Date.now();
  assert(life > 880_000 && life <= 900_000, String(life));
  const browsers = Array.from(
    { length: 8 },
    () => new Browser(server.origin, { "X-Forwarded-For": newAddress() }),
  );
  const statuses = await Promise.all(
    browsers.map(async (browser) => (await browser.signIn(code)).status),
  );
  assertEquals(statuses.toSorted(), [200, ...Array<number>(7).fill(401)]);
  const owner = await Browser.signedIn(server, (await Project.make(server)).key);
  (await owner.send("POST", "/admin/v1/sign-in-codes")).expect(403);
  assertEquals(server.text.includes(code), false);
});

test("Large JSON is compressed for a session that accepts it, and for no key.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  const body = (names: string[]) => JSON.stringify(names);
  await drive.putAll(Array.from({ length: 300 }, (_, i) => `folder/a name with some length ${i}`));
  await drive.put("large.json", body(Array(5000).fill("text")), {
    "Content-Type": "application/json",
  });
  const browser = await Browser.signedIn(server, project.key);
  const session = { Cookie: browser.cookie, "X-Kvdrive-Session": browser.csrf };
  const read = async (path: string, coding: string, own: Record<string, string> = session) => {
    const url = `${server.origin}/v1/${project.id}/d/files${path}`;
    const response = await fetch(url, { headers: { "Accept-Encoding": coding, ...own } });
    const { headers } = response;
    const [zip, vary] = ["content-encoding", "vary"].map((name) => headers.get(name));
    const varies = vary?.includes("Accept-Encoding") ?? false;
    return { body: await response.text(), zip, varies };
  };
  // One response has more than a chunk, the other less.
  for (const path of ["?details=true", "?details=true&limit=100"]) {
    const plain = await read(path, "gzip", withKey(project.key));
    assertEquals([plain.zip, plain.varies], [null, false]);
    for (const coding of ["gzip", "br, GZIP;q=0.5", "gzip ; q=1, br"]) {
      assertEquals(await read(path, coding), { body: plain.body, zip: "gzip", varies: true });
    }
    for (const coding of ["identity", "gzip;q=0", "gzip; q=0.00 , br", "gzipped", "*", ""]) {
      assertEquals(await read(path, coding), { body: plain.body, zip: null, varies: true }, coding);
    }
  }
  const small = await read("?limit=2", "gzip");
  assertEquals([small.zip, small.varies], [null, false]);
  const file = await read("/download?name=large.json", "gzip");
  assertEquals(file, { body: body(Array(5000).fill("text")), zip: null, varies: false });
});

Deno.test("A session ends in another process within 5 seconds", async () => {
  const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await using one = await TestServer.start({ data, ...ADMINISTERED });
    await using two = await TestServer.start({ data, ...ADMINISTERED });
    const browser = await Browser.signedIn(one, ADMIN_TOKEN);
    const elsewhere = new Browser(two.origin);
    Object.assign(elsewhere, { cookie: browser.cookie, csrf: browser.csrf });
    (await elsewhere.send("GET", "/admin/v1/projects")).expect(200);
    (await browser.send("DELETE", "/dashboard/session")).expect(200);
    const ended = performance.now();
    while ((await elsewhere.send("GET", "/admin/v1/projects")).status === 200) {
      assert(performance.now() - ended < 15_000, "The session is still valid");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});
