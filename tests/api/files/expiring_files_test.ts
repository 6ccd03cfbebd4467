import { assert, assertEquals, assertLess, assertMatch, assertNotEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { patternBytes, utf8 } from "../../support/bytes.ts";
import type { Answer } from "../../support/answer.ts";
import { type Drive, type FileDetails, query, Upload, type Usage } from "../../support/drive.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { COUNTED_WITHIN, waitUntilKnown } from "../../support/store/commands.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("Files that expire");

const SECONDS_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const MAX_EXPIRES_IN = 315_360_000;

async function put(drive: Drive, name: string, expires_in: number, body = "meow"): Promise<Answer> {
  const path = `/files${query({ name, expires_in })}`;
  return (await drive.send("POST", path, { body })).expect(201);
}

async function change(
  drive: Drive,
  name: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  return await drive.send("PATCH", `/files${query({ name })}`, { body: sent, headers });
}

async function start(drive: Drive, name: string, expires_in: number): Promise<[Upload, Answer]> {
  const answer = await drive.send("POST", `/uploads${query({ name, expires_in })}`);
  const { upload_id } = answer.expect(202).json as { upload_id: string };
  return [new Upload(drive, name, upload_id), answer];
}

async function detailsOf(drive: Drive, name: string): Promise<FileDetails | undefined> {
  return (await drive.details()).find((one) => one.name === name);
}

/** Asserts that a time is so many seconds after a request that was sent since `began`, rounded up. */
function assertAhead(expires: string | undefined, seconds: number, began: number): void {
  assertMatch(expires ?? "", SECONDS_UTC);
  const set = Date.parse(expires ?? "") - seconds * 1000;
  assert(began <= set && set < Date.now() + 1000, expires);
}

/** Seconds that a file lives which is read before. */
const BRIEF = 3;

/** Milliseconds after which it has expired. */
const EXPIRED = BRIEF * 1000 + 20;

test("The answer and the details show when a file expires.", async (drive) => {
  const began = Date.now();
  const { expires, ...rest } = (await put(drive, "a", 3600)).json as { expires: string };
  assertEquals(rest, { name: "a", project_id: PROJECT_ID, drive_name: drive.name });
  assertAhead(expires, 3600, began);
  assertEquals((await detailsOf(drive, "a"))?.expires, expires);
  await put(drive, "longest", MAX_EXPIRES_IN);
  assertAhead((await detailsOf(drive, "longest"))?.expires, MAX_EXPIRES_IN, began);
  await drive.put("lasting", "x");
  assertEquals(Object.hasOwn(await detailsOf(drive, "lasting") ?? {}, "expires"), false);
  await drive.put("a", "x");
  assertEquals((await detailsOf(drive, "a"))?.expires, undefined, "It is a new file");
});

/** Waits until the usage of a drive follows. */
async function expectUsage(drive: Drive, expected: Usage): Promise<void> {
  await waitUntilKnown(async () => (await drive.usage())?.files === expected.files, COUNTED_WITHIN);
  assertEquals(await drive.usage(), expected);
}

test("An expired file is absent for every call.", async (drive) => {
  await drive.put("lasting", "x");
  for (const name of ["a", "b", "folder/a", "large"]) {
    await put(drive, name, BRIEF, name === "large" ? "x".repeat(200_000) : "meow");
  }
  // Small files are read, so that the server has them in memory.
  for (let i = 0; i < 3; i++) assertEquals(await drive.text("a"), "meow");
  const etag = await drive.etag("a");
  assertEquals(await drive.usage(), { files: 5, bytes: 200_013 });
  await delay(EXPIRED);
  assertEquals(await drive.names(), ["lasting"]);
  assertEquals(await drive.names({ recursive: "false" }), ["lasting"]);
  assertEquals((await drive.details()).map(({ name }) => name), ["lasting"]);
  const path = `/files/download${query({ name: "a" })}`;
  for (const headers of [{}, { "If-None-Match": etag }, { Range: "bytes=0-1" }]) {
    (await drive.send("GET", path, { headers })).expect(404);
  }
  (await drive.send("HEAD", path)).expect(404);
  (await change(drive, "b", { expires_in: 10 })).expect(404);
  const move = JSON.stringify({ from: "large", to: "c" });
  (await drive.send("POST", "/files/copy", { body: move })).expect(404);
  (await drive.send("POST", "/files/move", { body: move })).expect(404);
  const copy = JSON.stringify({ from: "lasting", to: "large" });
  (await drive.send("POST", "/files/copy", { body: copy })).expect(201);
  await drive.put("a", "new", { "If-None-Match": "*" });
  assertEquals(await drive.text("a"), "new");
  await expectUsage(drive, { files: 3, bytes: 5 });
});

test("A download that began before the deadline gets all bytes.", async (drive) => {
  const bytes = patternBytes(8_000_000);
  const path = `/files${query({ name: "a", expires_in: BRIEF })}`;
  (await drive.send("POST", path, { body: bytes })).expect(201);
  const download = `/files/download${query({ name: "a" })}`;
  const answer = await drive.server.fetch(drive.name, download);
  await delay(EXPIRED);
  (await drive.get("a")).expect(404);
  assertEquals(new Uint8Array(await answer.arrayBuffer()), bytes);
});

test("The time of an upload in parts counts from its completion.", async (drive) => {
  const began = Date.now();
  const [upload, started] = await start(drive, "a", BRIEF);
  assertAhead((started.json as { expires: string }).expires, BRIEF, began);
  const shown = (await upload.lookUp()).expect(200).json as { expires_in: number; expires: string };
  assertEquals(shown.expires_in, BRIEF);
  assertLess(Date.now() + 60_000, Date.parse(shown.expires), "This is the upload's own deadline");
  (await upload.send(1, utf8("meow"))).expect(200);
  await delay(EXPIRED);
  const completing = Date.now();
  const completed = (await upload.complete()).expect(200).json as { expires: string };
  assertAhead(completed.expires, BRIEF, completing);
  assertEquals(await drive.text("a"), "meow");
  assertEquals((await detailsOf(drive, "a"))?.expires, completed.expires);
  assertEquals((await upload.complete()).expect(200).json, completed);
  await delay(EXPIRED);
  (await drive.get("a")).expect(404);
  assertEquals((await upload.complete()).expect(200).json, completed);
});

test("Without expires_in no answer has a deadline.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  const keys = ["drive_name", "name", "project_id", "upload_id"];
  assertEquals(Object.keys((await upload.complete()).expect(200).json as object).sort(), keys);
  assertEquals(Object.keys((await drive.put("b", "x")).json as object).length, 3);
});

test("A deadline is set, changed and taken away; version and times stay.", async (drive) => {
  await drive.put("a", "meow");
  const before = await detailsOf(drive, "a");
  const began = Date.now();
  const changed = (await change(drive, "a", { expires_in: 60 })).expect(200).json as FileDetails;
  assertAhead(changed.expires, 60, began);
  assertEquals({ ...changed, expires: undefined }, { ...before, expires: undefined } as never);
  assertEquals(await detailsOf(drive, "a"), changed);
  const longer = (await change(drive, "a", { expires_in: 3600 })).expect(200).json as FileDetails;
  assertAhead(longer.expires, 3600, began);
  assertEquals((await change(drive, "a", { expires_in: null })).expect(200).json, before);
  (await change(drive, "a", { expires_in: 1 })).expect(200);
  await delay(1020);
  (await drive.get("a")).expect(404);
  await expectUsage(drive, { files: 0, bytes: 0 });
});

test("Another content type is a new version of the same bytes.", async (drive) => {
  await drive.put("a", "meow", { "Content-Type": "text/html" });
  const before = await detailsOf(drive, "a");
  const answer = (await change(drive, "a", { content_type: "text/plain", expires_in: 60 }))
    .expect(200).json as FileDetails;
  assertEquals([answer.content_type, answer.created], ["text/plain", before?.created]);
  assertNotEquals(answer.etag, before?.etag);
  const download = (await drive.get("a", { "If-None-Match": `"${before?.etag}"` })).expect(200);
  assertEquals([download.text, download.header("Content-Type")], ["meow", "text/plain"]);
  assertEquals(download.header("ETag"), `"${answer.etag}"`);
  assertEquals(await detailsOf(drive, "a"), answer);
  const same = (await change(drive, "a", { content_type: " text/plain " })).expect(200).json;
  assertEquals(same, answer);
});

test("If-Match and If-None-Match are honoured.", async (drive) => {
  await drive.put("a", "meow");
  const etag = await drive.etag("a");
  const body = { expires_in: 60 };
  await drive.unchangedBy(async () => {
    (await change(drive, "a", body, { "If-Match": '"other"' })).expect(412);
    (await change(drive, "a", body, { "If-None-Match": "*" })).expect(412);
    (await change(drive, "absent", body, { "If-Match": etag })).expect(404);
  });
  (await change(drive, "a", body, { "If-Match": etag })).expect(200);
});

test("A move keeps the deadline, and a copy has none.", async (drive) => {
  await put(drive, "a", BRIEF);
  const [before] = await drive.details();
  const move = JSON.stringify({ from: "a", to: "b" });
  (await drive.send("POST", "/files/move", { body: move })).expect(200);
  const copy = JSON.stringify({ from: "b", to: "c" });
  (await drive.send("POST", "/files/copy", { body: copy })).expect(201);
  const [b, c] = await drive.details();
  assertEquals([b?.expires, c?.expires], [before?.expires, undefined]);
  await delay(EXPIRED);
  assertEquals(await drive.names(), ["c"]);
  assertEquals(await drive.text("c"), "meow");
});

test("A file that expires while it is listed by many clients is there or not.", async (drive) => {
  for (let i = 0; i < 20; i++) await put(drive, `n${i}`, 1);
  const end = Date.now() + 1500;
  while (Date.now() < end) {
    const [names, usage] = await Promise.all([drive.names(), drive.usage()]);
    assert(names.length <= 20 && (usage?.files ?? 0) <= 20);
  }
  await expectUsage(drive, { files: 0, bytes: 0 });
});

const WRONG_TIMES = [
  "0",
  "-1",
  "1.5",
  "",
  "soon",
  "1e3",
  "315360001",
  "99999999999999999999",
  "%2B5",
];

addCases(
  test,
  WRONG_TIMES.flatMap((time) =>
    ["/files", "/uploads"].map((path) => ({
      name: `expires_in=${time} on ${path} is 400.`,
      method: "POST",
      path: `${path}?name=a&expires_in=${time}`,
      body: "x",
      status: 400,
      contains: ["expires_in", "315360000"],
    }))
  ),
);

const WRONG_BODIES = [
  "",
  "{}",
  "[]",
  "null",
  "5",
  "{",
  '{"expires_in": 0}',
  '{"expires_in": -5}',
  '{"expires_in": 1.5}',
  '{"expires_in": "60"}',
  '{"expires_in": true}',
  '{"expires_in": 315360001}',
  '{"expires_in": 60, "other": 1}',
  '{"expires": "2030-01-01T00:00:00Z"}',
  '{"content_type": null}',
  '{"content_type": ""}',
  '{"content_type": " "}',
  '{"content_type": 5}',
  '{"content_type": "a/b\\r\\nX: y"}',
  '{"content_type": "text/\u263a"}',
  JSON.stringify({ content_type: "a/".padEnd(256, "b") }),
];

addCases(
  test,
  WRONG_BODIES.map((body) => ({
    name: `The body ${body.slice(0, 50)} is 400, and changes nothing.`,
    method: "PATCH",
    path: "/files?name=a",
    body,
    status: 400,
  })),
  (drive) => drive.put("a", "meow"),
);

addCases(test, [
  {
    name: "A change of a file that there is not is 404.",
    method: "PATCH",
    path: "/files?name=a",
    body: '{"expires_in": 5}',
    status: 404,
    contains: ["a"],
  },
  {
    name: "A change without a name is 400.",
    method: "PATCH",
    path: "/files",
    body: '{"expires_in": 5}',
    status: 400,
    contains: ["name"],
  },
]);
