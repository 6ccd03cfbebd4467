import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN, Project } from "../support/admin.ts";
import { utf8 } from "../support/bytes.ts";
import { newAddress, PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { assertFiles } from "../support/drive.ts";
import { GatedBody } from "../support/paced_body.ts";
import { type Step, suite } from "../support/suite.ts";
import { basic, Dav, makeKey, NAMES } from "./support/dav.ts";

const add = suite("WebDAV lets in whom the drive API does", {
  env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN },
});

type Run = (dav: Dav, drive: Parameters<Step>[0]) => Promise<void>;

function adding(to: typeof add): (sentence: string, run: Run) => void {
  return (sentence, run) =>
    to(sentence, async (drive) => {
      const dav = new Dav(drive);
      await dav.make();
      await run(dav, drive);
    });
}

const test = adding(add);

const METHODS = ["GET", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPFIND", "PROPPATCH", "LOCK"];

/** Each request comes from an address of its own, so that wrong keys of one test do not count for another. */
const from = (address = newAddress()) => ({
  "X-Forwarded-For": address,
  "X-Forwarded-Proto": "https",
});

test("Every method needs a key, as the password of any user.", async (dav) => {
  await dav.put("a", "x");
  for (const method of METHODS) {
    const answer = await dav.send(method, "a", {
      key: null,
      headers: { Destination: dav.url("b") },
    });
    assertStringIncludes(answer.expect(401).header("WWW-Authenticate"), 'Basic realm="kvdrive"');
  }
  for (const user of ["", "someone", "ü"]) {
    const pair = new TextEncoder().encode(`${user}:${PROJECT_KEY}`);
    const headers = { Authorization: `basic ${btoa(String.fromCharCode(...pair))}` };
    (await dav.send("GET", "a", { key: null, headers })).expect(200);
  }
  for (const header of ["Basic", "Basic !", `Basic ${btoa("no colon")}`, `Bearer ${PROJECT_KEY}`]) {
    const headers = { Authorization: header, ...from() };
    (await dav.send("GET", "a", { key: null, headers })).expect(401);
  }
  (await dav.send("GET", "a", { key: null, headers: { "X-Api-Key": PROJECT_KEY } })).expect(401);
});

test("Wrong keys are counted, and the right one gets in at any time.", async (dav) => {
  await dav.put("a", "x");
  const headers = from();
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) {
    const key = `${PROJECT_ID}_${crypto.randomUUID()}`;
    statuses.push((await dav.send("PROPFIND", "a", { key, headers })).status);
  }
  assertEquals(statuses[0], 401);
  assertEquals(statuses.at(-1), 429);
  (await dav.send("GET", "a", { headers })).expect(200);
  (await dav.send("GET", "a", { key: ADMIN_TOKEN, headers: from() })).expect(401);
});

test("A key that is revoked while XML comes sees and changes nothing.", async (dav, drive) => {
  await dav.put("a", "x");
  const project = new Project(drive.server, PROJECT_ID, PROJECT_KEY);
  const bodies = {
    PROPFIND: NAMES,
    PROPPATCH:
      '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="u:x"/></prop></set></propertyupdate>',
    LOCK:
      '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>' +
      "</lockinfo>",
  };
  for (const [method, text] of Object.entries(bodies)) {
    const { project_key: key, prefix } = await project.makeKey();
    const body = new GatedBody(utf8(text));
    const answer = dav.send(method, "a", { key, body: body.stream });
    const used = async () => (await project.keys()).find((it) => it.prefix === prefix)?.last_used;
    while (!await used()) await delay(10);
    (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
    body.open();
    assertEquals([method, (await answer).status], [method, 401]);
  }
  (await dav.send("DELETE", "a")).expect(204);
});

test("A key of another project, and a path of one, are refused.", async (dav) => {
  for (const path of ["/dav/other/", "/dav/other/drive/a", "/dav/%00/"]) {
    const answer = await dav.sendTo("PROPFIND", path, { headers: { Depth: "0" } });
    assert(answer.status === 403 || answer.status === 400, `${path}: ${answer.status}`);
  }
  await dav.put("a", "x");
  const headers = { Destination: `${dav.drive.server.origin}/dav/other/drive/a` };
  (await dav.send("COPY", "a", { headers })).expect(403);
});

test("A key does what its permissions allow.", async (dav, drive) => {
  await drive.putAll(["a", "f/b"]);
  const allowed: Record<string, string[]> = {
    read: ["GET", "HEAD"],
    write: ["PUT", "MKCOL", "PROPPATCH", "LOCK"],
    list: ["PROPFIND"],
    delete: ["DELETE"],
  };
  for (const [permission, methods] of Object.entries(allowed)) {
    const key = await makeKey(drive, { permissions: [permission] });
    for (const method of [...METHODS, "HEAD"]) {
      const target = method === "DELETE" ? "never" : method === "MKCOL" ? "new" : "a";
      const body = method === "LOCK"
        ? '<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>'
        : method === "PROPPATCH"
        ? '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="u:x"/></prop></set></propertyupdate>'
        : method === "PUT"
        ? "x"
        : undefined;
      const answer = await dav.send(method, target, {
        key,
        headers: { Destination: dav.url("to"), Depth: "0" },
        ...body === undefined ? {} : { body },
      });
      const isRefused = answer.status === 403;
      assertEquals(
        isRefused,
        !methods.includes(method),
        `${permission}: ${method} ${answer.status}`,
      );
      if (method === "LOCK" && !isRefused) {
        const token = answer.header("Lock-Token").slice(1, -1);
        (await dav.unlock("a", token, key)).expect(204);
      }
    }
  }
  const copying = await makeKey(drive, { permissions: ["read", "write"] });
  const headers = { Destination: dav.url("copied") };
  (await dav.send("COPY", "a", { key: copying, headers })).expect(201);
  const folder = { Destination: dav.url("folder/") };
  (await dav.send("COPY", "f/", { key: copying, headers: folder })).expect(403);
  (await dav.send("MOVE", "a", { key: copying, headers })).expect(403);
});

test("A key for some names sees and changes only these.", async (dav, drive) => {
  await drive.putAll(["mine/a", "mine/sub/b", "other/c", "minefield", "z"]);
  const key = await makeKey(drive, { name_prefix: "mine/", drives: [drive.name] });
  const send = (method: string, name: string, headers: Record<string, string> = {}) =>
    dav.send(method, name, { key, headers, ...method === "PUT" ? { body: "changed" } : {} });
  const list = async (name: string) => {
    const { text } = (await send("PROPFIND", name, { Depth: "1" })).expect(207);
    return [...text.matchAll(/<D:href>([^<]*)<\/D:href>/g)].map(([, href = ""]) => href);
  };
  assertEquals(await list(""), [dav.path(), dav.path("mine/")]);
  assertEquals(await list("mine/"), ["mine/", "mine/a", "mine/sub/"].map((name) => dav.path(name)));
  for (const name of ["other/", "other/c", "minefield", "z", "absent", "other/absent"]) {
    (await send("PROPFIND", name, { Depth: "1" })).expect(403);
    for (const method of ["GET", "PUT", "DELETE"]) (await send(method, name)).expect(403);
    (await send("COPY", name, { Destination: dav.url("mine/stolen") })).expect(403);
    (await send("MOVE", "mine/a", { Destination: dav.url(name) })).expect(403);
    (await dav.tryLock(name, { key })).expect(403);
    (await dav.send("UNLOCK", name, { key, headers: { "Lock-Token": "<urn:x>" } })).expect(403);
    (await dav.send("MKCOL", name, { key })).expect(403);
  }
  for (const name of ["", "mine", "mine/../z"]) {
    const answer = await send("DELETE", name);
    assert(answer.status >= 400 || name === "mine", `${name}: ${answer.status}`);
    if (name === "mine") break;
  }
  const drives = await dav.sendTo("PROPFIND", `/dav/${PROJECT_ID}/`, { key });
  assertEquals(drives.text.match(/<D:response>/g)?.length, 2);
  const elsewhere = new Dav(drive.another("elsewhere"));
  (await elsewhere.send("MKCOL", "", { key })).expect(403);
  (await elsewhere.send("PROPFIND", "", { key })).expect(403);
  assertEquals(await drive.names(), ["minefield", "other/c", "z"]);
});

test("A limited key cannot delete what is above its names.", async (dav, drive) => {
  await drive.putAll(["a/b/mine/x", "a/b/other"]);
  const key = await makeKey(drive, { name_prefix: "a/b/mine/" });
  for (const name of ["", "a/", "a/b/"]) {
    (await dav.send("DELETE", name, { key })).expect(403);
    (await dav.send("MOVE", name, { key, headers: { Destination: dav.url("a/b/mine/y") } })).expect(
      403,
    );
    (await dav.tryLock(name, { key, depth: "infinity" })).expect(403);
  }
  (await dav.send("DELETE", "a/b/mine/x", { key })).expect(204);
  assertEquals(await drive.names(), ["a/b/other"]);
});

test(
  "A limited key does not replace a file that has the name of its folder.",
  async (dav, drive) => {
    await drive.putAll(["mine", "mine/a/1"]);
    const key = await makeKey(drive, { name_prefix: "mine/" });
    const other = new Dav(drive.another("second"));
    await other.make();
    await other.drive.putAll(["mine", "mine/2"]);
    for (const method of ["COPY", "MOVE"]) {
      const headers = { Destination: other.url("mine") };
      (await dav.send(method, "mine/a/", { key, headers })).expect(403);
    }
    assertEquals(await other.drive.names(), ["mine", "mine/2"]);
    assertEquals(await drive.names(), ["mine", "mine/a/1"]);
  },
);

test("A destination elsewhere is refused, and none is missing.", async (dav, drive) => {
  await dav.put("a", "x");
  const origin = drive.server.origin;
  const cases: [string, number][] = [
    ["http://elsewhere.example/dav/p/d/a", 502],
    [`http://elsewhere.example@127.0.0.1:1${dav.path("b")}`, 502],
    [`${origin}/v1/${PROJECT_ID}/${drive.name}/b`, 502],
    [`${origin}/dav/${PROJECT_ID}/${drive.name}/..%2fb`, 400],
    [`${origin}/dav/${PROJECT_ID}/${drive.name}/../b`, 400],
    [`${origin}/dav/${PROJECT_ID}/`, 403],
    [dav.url(""), 403],
    ["relative", 400],
    ["ftp://127.0.0.1/dav", 400],
    ["", 400],
  ];
  for (const [destination, status] of cases) {
    for (const method of ["COPY", "MOVE"]) {
      const answer = await dav.send(method, "a", { headers: { Destination: destination } });
      assertEquals(answer.status, status, destination);
    }
  }
  (await dav.send("COPY", "a", { headers: { Destination: dav.path("by-path") } })).expect(201);
  const https = { Destination: dav.url("by-https").replace("http:", "https:") };
  (await dav.send("COPY", "a", { headers: https })).expect(201);
  assertEquals(await drive.names(), ["a", "by-https", "by-path"]);
});

test("A plain connection of another machine is refused before its key is looked at.", async (dav) => {
  const headers = { "X-Forwarded-For": newAddress() };
  for (const key of [PROJECT_KEY, null, "wrong"]) {
    const answer = (await dav.send("PROPFIND", "", { key, headers })).expect(403);
    assertStringIncludes(answer.text, "https");
  }
  (await dav.send("PROPFIND", "", { headers: { ...headers, "X-Forwarded-Proto": "https" } }))
    .expect(207);
  (await dav.send("PROPFIND", "", { headers: { "X-Forwarded-For": "::1" } })).expect(207);
});

test("Pages of other origins get no answer that they could read.", async (dav) => {
  const headers = { Origin: "https://page.example", "Access-Control-Request-Method": "PUT" };
  const preflight = (await dav.send("OPTIONS", "a", { headers, key: null })).expect(200);
  assertEquals(preflight.headers.get("Access-Control-Allow-Origin"), null);
});

test("A quota holds, and what was refused changes nothing.", async (dav, drive) => {
  await dav.put("a", "x");
  const admin = async (maxBytes: number | null) => {
    const response = await fetch(`${drive.server.origin}/admin/v1/projects/${PROJECT_ID}`, {
      method: "PATCH",
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify({ max_bytes: maxBytes }),
    });
    assertEquals(response.status, 200, await response.text());
  };
  await admin(1);
  try {
    const answer = (await dav.put("b", "more")).expect(507);
    assertStringIncludes(answer.text, "quota-not-exceeded");
    (await dav.transfer("COPY", "a", "b")).expect(507);
    const lock = await dav.tryLock("locked");
    if (lock.status < 300) await dav.unlock("locked", lock.header("Lock-Token").slice(1, -1));
  } finally {
    await admin(null);
  }
  await dav.send("DELETE", "locked");
  await assertFiles(drive, { a: utf8("x") });
});

const open = adding(suite("WebDAV with --webdav-plain and --webdav-no-junk", {
  args: ["--webdav-plain", "--webdav-no-junk"],
}));

open("Plain connections are accepted, and files of macOS refused.", async (dav, drive) => {
  const headers = { "X-Forwarded-For": newAddress() };
  (await dav.send("PUT", "a", { body: "x", headers })).expect(201);
  for (const name of ["._a", ".DS_Store"]) {
    (await dav.put(name, "x")).expect(403);
    (await dav.send("MKCOL", name)).expect(403);
    (await dav.tryLock(name)).expect(403);
    (await dav.transfer("COPY", "a", name)).expect(403);
  }
  assertEquals(await drive.names(), ["a"]);
});

const off = suite("WebDAV with --webdav off", { args: ["--webdav", "off"] });

off("There is nothing at its path.", async (drive) => {
  const dav = new Dav(drive);
  for (const method of ["GET", "PROPFIND", "PUT"]) {
    (await dav.send(method, "a", { headers: basic(PROJECT_KEY) })).expect(404);
  }
});
