import { assert, assertEquals, assertMatch } from "@std/assert";
import { ADMIN_TOKEN, administer, ADMINISTERED, Project, withKey } from "../../support/admin.ts";
import { Answer } from "../../support/answer.ts";
import { newAddress } from "../../support/server.ts";
import { Browser } from "../../support/sessions/browser.ts";
import { visit } from "../../support/sharing/links.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Download tickets", ADMINISTERED);

const DOWNLOADS = "/dashboard/downloads";

/** Makes a ticket. Returns its whole address. */
async function ticketOf(
  project: Project,
  selection: Record<string, unknown>,
  { as = project.owner, browser }: { as?: Record<string, string>; browser?: Browser } = {},
): Promise<string> {
  const body = { project_id: project.id, drive_name: "d", ...selection };
  const { server } = project;
  const answer = await (browser?.send("POST", DOWNLOADS, { body }) ??
    administer(server, "POST", DOWNLOADS, { as, body }));
  const { url, expires } = answer.expect(201).json as { url: string; expires: string };
  assertMatch(url, /^\/dashboard\/download\/[A-Za-z0-9]{32}$/);
  const life = new Date(expires).getTime() - Date.now();
  assert(life > 3_590_000 && life <= 3_600_000, String(life));
  return server.origin + url;
}

async function open(
  ticket: string,
  query: Record<string, string>,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Answer> {
  return await visit(`${ticket}?${new URLSearchParams(query)}`, { method, headers });
}

test("A ticket opens its files without credentials, as a download does.", async ({ server }) => {
  const project = await Project.make(server);
  const name = "trip/ä b%2F..#?.txt";
  await project.drive("d").put(name, "hello world", { "Content-Type": "text/plain" });
  const ticket = await ticketOf(project, { names: [name] });
  const whole = (await open(ticket, { name })).expect(200);
  assertEquals(whole.text, "hello world");
  assertMatch(whole.header("Content-Disposition"), /^inline; filename="/);
  assertMatch(whole.header("Content-Security-Policy"), /^sandbox; default-src 'none'/);
  assertEquals(whole.header("Cross-Origin-Resource-Policy"), "same-origin");
  assertEquals(whole.header("X-Content-Type-Options"), "nosniff");
  const etag = whole.header("ETag");
  const range = (await open(ticket, { name }, { Range: "bytes=6-" })).expect(206);
  assertEquals([range.text, range.header("Content-Range")], ["world", "bytes 6-10/11"]);
  (await open(ticket, { name }, { Range: "bytes=11-" })).expect(416);
  (await open(ticket, { name }, { "If-None-Match": etag })).expect(304);
  (await open(ticket, { name }, { "If-Match": '"x"' })).expect(412);
  const stale = (await open(ticket, { name }, { "If-Range": '"x"', Range: "bytes=0-0" })).expect(
    200,
  );
  assertEquals(stale.text, "hello world");
  const head = (await open(ticket, { name }, {}, "HEAD")).expect(200);
  assertEquals([head.header("Content-Length"), head.text], ["11", ""]);
  const saved = (await open(ticket, { name, download: "true" })).expect(200);
  assertMatch(saved.header("Content-Disposition"), /^attachment; filename="/);
  (await open(ticket, {})).expect(400);
  (await open(ticket, { name }, {}, "POST")).expect(405);
});

test("Files that browsers could run are saved, and none is a script, a style or a frame.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  const types: Record<string, string> = {
    "a.png": "image/png",
    "a.mp4": "video/mp4",
    "a.mp3": "audio/mpeg",
    "a.pdf": "application/pdf",
    "a.svg": "image/svg+xml",
    "a.html": "text/html",
    "a.js": "text/javascript",
    "a.css": "text/css",
  };
  for (const [name, type] of Object.entries(types)) {
    await drive.put(name, "x", { "Content-Type": type });
  }
  const ticket = await ticketOf(project, { prefixes: [""] });
  const shown: string[] = [];
  for (const name of Object.keys(types)) {
    const answer = (await open(ticket, { name })).expect(200);
    if (answer.header("Content-Disposition").startsWith("inline")) shown.push(name);
    assertEquals(answer.header("X-Frame-Options"), "DENY");
    assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
    for (const use of ["script", "style", "iframe", "frame", "embed", "object", "worker", "font"]) {
      (await open(ticket, { name }, { "Sec-Fetch-Dest": use })).expect(403);
    }
    for (const use of ["image", "video", "audio", "document", "empty", "track"]) {
      (await open(ticket, { name }, { "Sec-Fetch-Dest": use })).expect(200);
    }
  }
  assertEquals(shown, ["a.png", "a.mp4", "a.mp3", "a.pdf"]);
});

test("A ticket opens nothing beside its names and prefixes.", async ({ server }) => {
  const project = await Project.make(server);
  const drive = project.drive("d");
  await drive.putAll(["a", "a/b", "trip/1", "trip/2/3", "tripod", "secret", "../up"]);
  await project.drive("e").put("trip/1", "of another drive");
  const ticket = await ticketOf(project, { names: ["a"], prefixes: ["trip/"] });
  for (const name of ["a", "trip/1", "trip/2/3"]) (await open(ticket, { name })).expect(200);
  const hidden = ["a/b", "tripod", "secret", "trip", "trip/", "trip/none", "", "A", "../up"];
  const unknown = (await open(`${ticket.slice(0, -32)}${"x".repeat(32)}`, { name: "a" })).expect(
    404,
  );
  for (const name of [...hidden, "trip/../secret", "trip/%2e%2e/secret", "a\0", "./a", "trip//1"]) {
    assertEquals((await open(ticket, { name })).expect(404).text, unknown.text, name);
  }
  for (const path of ["/a", "/", "/../../v1", "%2F", "a", "%00", "/files?name=a"]) {
    const status = (await visit(`${ticket}${path}?name=a`)).status;
    assert([400, 404].includes(status), `${path}: ${status}`);
  }
  (await visit(`${ticket}?name=a&name=trip/1`)).expect(400);
  (await visit(`${ticket}?name=%ff`)).expect(400);
  assertEquals(server.text.includes(ticket.slice(-32)), false);
});

test("All files of a ticket are a zip archive.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("d").putAll(["a", "trip/1", "trip/2", "other"]);
  const ticket = await ticketOf(project, { names: ["a"], prefixes: ["trip/"] });
  const zip = (await open(ticket, { zip: "Trip ä.zip" })).expect(200);
  assertEquals(zip.header("Content-Type"), "application/zip");
  assertMatch(
    zip.header("Content-Disposition"),
    /^attachment; .*filename\*=UTF-8''Trip%20%C3%A4.zip$/,
  );
  const text = new TextDecoder("latin1").decode(zip.bytes);
  for (const name of ["a", "trip/1", "trip/2"]) assert(text.includes(name), name);
  assertEquals(text.includes("other"), false);
  const head = (await open(ticket, { zip: "x" }, {}, "HEAD")).expect(200);
  assertEquals(head.header("Content-Length"), String(zip.bytes.length));
  const names: [string, RegExp][] = [
    ["", /filename="d\.zip"/],
    ["../../etc/passwd", /filename="passwd"/],
    ['a"\r\nX: y', /filename="a___X: y"/],
  ];
  for (const [name, header] of names) {
    assertMatch(
      (await open(ticket, { zip: name })).expect(200).header("Content-Disposition"),
      header,
    );
  }
});

test("A ticket needs the rights on all that it names.", async ({ server }) => {
  const project = await Project.make(server);
  const other = await Project.make(server);
  await project.drive("d").putAll(["in/a", "out/b"]);
  const keyOf = async (limits: unknown) => withKey((await project.makeKey(limits)).project_key);
  const refused = async (as: Record<string, string>, selection: unknown, status = 403) => {
    const body = { project_id: project.id, drive_name: "d", ...selection as object };
    (await administer(server, "POST", DOWNLOADS, { as, body })).expect(status);
  };
  await refused(await keyOf({ permissions: ["list", "write"] }), { names: ["in/a"] });
  await refused(await keyOf({ permissions: ["read"] }), { prefixes: ["in/"] });
  await refused(await keyOf({ drives: ["e"] }), { names: ["in/a"] });
  await refused(await keyOf({ name_prefix: "in/" }), { names: ["in/a", "out/b"] });
  await refused(other.owner, { names: ["in/a"] });
  await refused({}, { names: ["in/a"] }, 401);
  await refused(
    { Authorization: `Bearer ${ADMIN_TOKEN}` },
    { project_id: "none", names: ["a"] },
    404,
  );
  await ticketOf(project, { names: ["in/a"] }, { as: await keyOf({ permissions: ["read"] }) });
  const limited = await keyOf({ name_prefix: "in/" });
  const narrow = await ticketOf(project, { prefixes: [""] }, { as: limited });
  (await open(narrow, { name: "in/a" })).expect(200);
  (await open(narrow, { name: "out/b" })).expect(404);
  const zip = (await open(narrow, { zip: "x" })).expect(200);
  assertEquals(new TextDecoder("latin1").decode(zip.bytes).includes("out/b"), false);
  const own = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  (await open(await ticketOf(project, { names: ["out/b"] }, { as: own }), { name: "out/b" }))
    .expect(200);
});

/** A name of nearly the greatest length that no compression makes shorter than half. */
const randomName = () => Array.from({ length: 28 }, () => crypto.randomUUID()).join("");

test("A body that is no such selection is 400.", async ({ server }) => {
  const project = await Project.make(server);
  const place = { project_id: project.id, drive_name: "d" };
  const bodies: unknown[] = [
    "",
    "[]",
    place,
    { ...place, names: [] },
    { ...place, names: "a" },
    { ...place, names: [1] },
    { ...place, names: ["a/"] },
    { ...place, names: Array(1001).fill("a") },
    { ...place, prefixes: Array(101).fill("a") },
    { project_id: project.id, names: ["a"] },
    { ...place, drive_name: "a/b", names: ["a"] },
    { ...place, project_id: 7, names: ["a"] },
    { ...place, project_id: "a/b", names: ["a"] },
    { ...place, names: Array.from({ length: 1000 }, randomName) },
  ];
  for (const body of bodies) {
    const answer = await administer(server, "POST", DOWNLOADS, { as: project.owner, body });
    answer.expect(400);
  }
});

test("A ticket ends with the session that made it, and with its key.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("d").put("a", "x");
  const { project_key, prefix } = await project.makeKey();
  const browser = await Browser.signedIn(server, project_key);
  const ofSession = await ticketOf(project, { names: ["a"] }, { browser });
  const ofKey = await ticketOf(project, { names: ["a"] }, { as: withKey(project_key) });
  (await browser.send("POST", DOWNLOADS, {
    body: { project_id: project.id, drive_name: "d", names: ["a"] },
    withoutProof: true,
  })).expect(401);
  (await open(ofSession, { name: "a" })).expect(200);
  (await browser.send("DELETE", "/dashboard/session")).expect(200);
  (await open(ofSession, { name: "a" })).expect(404);
  (await open(ofKey, { name: "a" })).expect(200);
  (await project.call("DELETE", `/keys/${prefix}`)).expect(200);
  (await open(ofKey, { name: "a" })).expect(404);
});

test("Tickets that are unknown or have ended are no wrong keys.", async ({ server }) => {
  const project = await Project.make(server);
  const browser = await Browser.signedIn(server, project.key);
  const ended = await ticketOf(project, { names: ["a"] }, { browser });
  (await browser.send("DELETE", "/dashboard/session")).expect(200);
  const from = async (url: string) => {
    const address = { "X-Forwarded-For": newAddress() };
    for (let i = 0; i < 21; i++) (await open(url, { name: "a" }, address)).expect(404);
    return (await new Browser(server.origin, address).signIn("wrong")).status;
  };
  assertEquals(await from(ended), 401);
  assertEquals(await from(`${server.origin}/dashboard/download/none`), 401);
});
