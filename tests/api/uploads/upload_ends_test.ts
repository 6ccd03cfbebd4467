import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import type { Answer } from "../../support/answer.ts";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import { type Drive, query, Upload } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("What an upload answers once it has ended, or never was");

const BYTES = patternBytes(70_000);

type Call = [string, (upload: Upload) => Promise<Answer>];

const CALLS: Call[] = [
  ["a part", (upload) => upload.send(1, BYTES)],
  ["completing", (upload) => upload.complete()],
  ["aborting", (upload) => upload.abort()],
  ["looking it up", (upload) => upload.lookUp()],
];

async function assertEvery(upload: Upload, status: number, calls = CALLS): Promise<void> {
  for (const [what, call] of calls) {
    const answer = await upload.drive.unchangedBy(() => call(upload));
    assertEquals([what, answer.status], [what, status]);
    assertErrorAnswer(answer);
  }
}

// "Repeating it after it succeeded answers 200 again"
test("Completing again answers 200 with the same body.", async (drive) => {
  const upload = await begun(drive, "a");
  const first = (await upload.complete()).expect(200);
  for (let i = 0; i < 3; i++) {
    const again = await drive.unchangedBy(() => upload.complete());
    assertEquals(again.expect(200).json, first.json);
  }
});

test("Completing again does not restore a file that was replaced or deleted since.", async (drive) => {
  const upload = await begun(drive, "a");
  (await upload.complete()).expect(200);
  await drive.put("a", "later");
  (await drive.unchangedBy(() => upload.complete())).expect(200);
  assertEquals(await drive.text("a"), "later");
  await drive.delete(["a"]);
  (await drive.unchangedBy(() => upload.complete())).expect(200);
  (await drive.get("a")).expect(404);
});

test("Completing twice at once answers 200 twice and counts once.", async (drive) => {
  const upload = await begun(drive, "a");
  const answers = await Promise.all([1, 2, 3, 4].map(() => upload.complete()));
  for (const answer of answers) answer.expect(200);
  assertEquals(await drive.usage(), { files: 1, bytes: BYTES.length });
});

// 409: "a conflict with what exists"
test("A completed upload takes no part, no abort and no look-up.", async (drive) => {
  const upload = await begun(drive, "a");
  (await upload.complete()).expect(200);
  await assertEvery(upload, 409, CALLS.filter(([what]) => what !== "completing"));
  assertSameBytes((await drive.get("a")).expect(200).bytes, BYTES);
});

// "Afterwards every call on that upload is 404."
test("After an abort every call is 404 and nothing is left.", async (drive) => {
  await drive.put("a", "earlier");
  const upload = await begun(drive, "a");
  (await upload.abort()).expect(200);
  await assertEvery(upload, 404);
  assertEquals(await drive.text("a"), "earlier");
  assertEquals(await drive.usage(), { files: 1, bytes: 7 });
});

test("An upload without parts can be aborted.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  (await upload.abort()).expect(200);
  await assertEvery(upload, 404);
  assertEquals(await drive.names(), []);
});

// "A `name` other than the session's is 400."
test("A name other than the upload's is 400, and the upload stays open.", async (drive) => {
  const upload = await begun(drive, "a");
  for (const name of ["b", "A", "a ", "a/b", ""]) await assertEvery(upload.as({ name }), 400);
  (await upload.complete()).expect(200);
});

test("A call without a name is 400.", async (drive) => {
  const upload = await begun(drive, "a");
  const calls: [string, string][] = [
    ["POST", `${upload.path}/parts${query({ part: 1 })}`],
    ["PATCH", upload.path],
    ["DELETE", upload.path],
    ["GET", upload.path],
  ];
  for (const [method, path] of calls) {
    const answer = await drive.unchangedBy(() => drive.send(method, path));
    assertErrorAnswer(answer.expect(400));
    assert(answer.text.includes("name"), answer.text);
  }
});

// "An unknown `upload_id`, one of another drive, or one that has expired is 404."
test("An upload of another drive is 404.", async (drive) => {
  const upload = await begun(drive, "a");
  const other = drive.another("other");
  await other.put("a", "x");
  await assertEvery(upload.as({ drive: other }), 404);
  assertEquals((await upload.parts()).length, 1);
});

test("An unknown upload id is 404.", async (drive) => {
  await drive.put("a", "x");
  const upload = await begun(drive, "a");
  const ids = [
    "",
    "no-such-upload",
    "0",
    "🦖",
    "a b",
    "%",
    "a/b",
    "x".repeat(3_000),
    "\u0000",
    "...",
  ];
  for (const id of [...ids, upload.id.slice(0, -1), `${upload.id}0`]) {
    await assertEvery(upload.as({ id }), 404);
  }
});

async function begun(drive: Drive, name: string): Promise<Upload> {
  const upload = await Upload.start(drive, name);
  (await upload.send(1, BYTES)).expect(200);
  return upload;
}

const expiring = suite("An upload that has expired", { args: ["--upload-ttl", "4s"] });

expiring("Every call is 404 and nothing is left of it.", async (drive) => {
  await drive.put("a", "earlier");
  const upload = await begun(drive, "a");
  await gone(upload);
  await assertEvery(upload, 404);
  assertEquals(await drive.text("a"), "earlier");
  assertEquals(await drive.usage(), { files: 1, bytes: 7 });
  assertEquals((await drive.send("GET", "/uploads")).expect(200).json, { uploads: [] });
});

// "Repeating it […] answers 200 again for as long as the session would have lived."
expiring("A completed upload is forgotten in time, and its file stays.", async (drive) => {
  const upload = await begun(drive, "a");
  (await upload.complete()).expect(200);
  await gone(upload);
  await assertEvery(upload, 404);
  assertSameBytes((await drive.get("a")).expect(200).bytes, BYTES);
  assertEquals(await drive.usage(), { files: 1, bytes: BYTES.length });
});

async function gone(upload: Upload): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if ((await upload.lookUp()).status === 404) return;
    await delay(100);
  }
  assert(false, "The upload lived for 30 seconds instead of four");
}
