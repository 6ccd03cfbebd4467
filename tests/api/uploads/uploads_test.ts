import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { assertSameBytes, MAX_PAYLOAD, MIN_PART, patternBytes } from "../../support/bytes.ts";
import { type Drive, query, Upload, uploadParts } from "../../support/drive.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("An upload in parts");

const FULL = patternBytes(MIN_PART, 1);
const TAIL = patternBytes(1_000, 2);

test("Initialising answers 202 with the upload's id and creates the drive.", async (drive) => {
  const answer = (await drive.send("POST", "/uploads?name=a")).expect(202);
  const { upload_id, ...rest } = answer.json as { upload_id: string };
  assert(typeof upload_id === "string" && /^[\w-]+$/.test(upload_id), upload_id);
  assertEquals<unknown>(rest, { name: "a", project_id: PROJECT_ID, drive_name: drive.name });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

test("Every upload has an id of its own.", async (drive) => {
  const [one, two] = [await Upload.start(drive, "a"), await Upload.start(drive, "a")];
  assertNotEquals(one.id, two.id);
});

test("A part answers 200 with its number as a number.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  assertEquals((await upload.send(1, TAIL)).expect(200).json, {
    name: "a",
    upload_id: upload.id,
    part: 1,
    project_id: PROJECT_ID,
    drive_name: drive.name,
  });
});

test("Completing and aborting answer 200 with name, id, project and drive.", async (drive) => {
  for (const end of ["complete", "abort"] as const) {
    const upload = await Upload.start(drive, "a");
    (await upload.send(1, TAIL)).expect(200);
    assertEquals((await upload[end]()).expect(200).json, {
      name: "a",
      upload_id: upload.id,
      project_id: PROJECT_ID,
      drive_name: drive.name,
    });
  }
});

// "A file is seen whole or not at all."
test("Nothing of a file is seen before it is completed.", async (drive) => {
  await drive.put("a", "earlier");
  const upload = await Upload.start(drive, "a");
  const fresh = await Upload.start(drive, "b");
  for (const one of [upload, fresh]) (await one.send(1, TAIL)).expect(200);
  assertEquals(await drive.text("a"), "earlier");
  (await drive.get("b")).expect(404);
  assertEquals(await drive.names(), ["a"]);
  assertEquals(await drive.usage(), { files: 1, bytes: 7 });
  (await upload.complete()).expect(200);
  assertSameBytes((await drive.get("a")).expect(200).bytes, TAIL);
  assertEquals(await drive.usage(), { files: 1, bytes: 1_000 });
});

test("The parts become the file in the order of their numbers.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  for (const [number, bytes] of [[2, patternBytes(MIN_PART, 9)], [3, TAIL], [1, FULL]] as const) {
    (await upload.send(number, bytes)).expect(200);
  }
  (await upload.complete()).expect(200);
  const whole = await new Blob([FULL, patternBytes(MIN_PART, 9), TAIL]).arrayBuffer();
  assertSameBytes((await drive.get("a")).expect(200).bytes, new Uint8Array(whole));
  assertEquals(await drive.usage(), { files: 1, bytes: whole.byteLength });
});

// "A part sent again replaces the earlier one."
test("A part sent again replaces the earlier one, larger or smaller.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  for (const bytes of [FULL, patternBytes(70_000), patternBytes(0), TAIL]) {
    (await upload.send(1, bytes)).expect(200);
    assertEquals(await upload.parts(), [{ part: 1, size: bytes.length }]);
  }
  (await upload.complete()).expect(200);
  assertSameBytes((await drive.get("a")).expect(200).bytes, TAIL);
  assertEquals(await drive.usage(), { files: 1, bytes: TAIL.length });
});

test("One part sent twice at once is one of the two, whole.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  const versions = [patternBytes(300_000, 1), patternBytes(200_000, 2)];
  const answers = await Promise.all(versions.map((bytes) => upload.send(1, bytes)));
  for (const answer of answers) answer.expect(200);
  (await upload.complete()).expect(200);
  const { bytes } = (await drive.get("a")).expect(200);
  const expected = versions.find(({ length }) => length === bytes.length);
  assertSameBytes(bytes, expected ?? new Uint8Array());
  assertEquals(await drive.usage(), { files: 1, bytes: bytes.length });
});

// "No part at all is an empty file."
test("An upload without parts completes as an empty file.", async (drive) => {
  const upload = await Upload.start(drive, "a.txt");
  (await upload.complete()).expect(200);
  const answer = (await drive.get("a.txt")).expect(200);
  assertEquals(answer.text, "");
  assertEquals(answer.header("Content-Length"), "0");
  assertEquals(answer.header("Content-Type"), "text/plain");
  assertEquals(await drive.usage(), { files: 1, bytes: 0 });
});

test("A last part may be empty.", async (drive) => {
  await uploadParts(drive, "only", [new Uint8Array()]);
  assertEquals(await drive.text("only"), "");
  await uploadParts(drive, "second", [FULL, new Uint8Array()]);
  assertSameBytes((await drive.get("second")).expect(200).bytes, FULL);
  assertEquals(await drive.usage(), { files: 2, bytes: FULL.length });
});

test("The part numbers go from 1 to 10000.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  for (
    const part of [0, -1, 10_001, "abc", "1.5", "", "1e1", "0x1", " 1", "99999999999999999999"]
  ) {
    const answer = await drive.unchangedBy(() => upload.send(part, TAIL));
    assertEquals([part, answer.status], [part, 400]);
    assertErrorAnswer(answer);
    assert(answer.text.includes("it must be a whole number from 1 to 10000"), answer.text);
  }
  const path = `${upload.path}/parts${query({ name: "a" })}`;
  assertErrorAnswer((await drive.send("POST", path, { body: TAIL })).expect(400));
  (await upload.send(10_000, TAIL)).expect(200);
  assertEquals(await upload.parts(), [{ part: 10_000, size: TAIL.length }]);
});

interface Incomplete {
  name: string;
  sent: Record<number, Uint8Array<ArrayBuffer>>;
  /** What has to be sent yet; the answer names just these numbers. */
  missing: Record<number, Uint8Array<ArrayBuffer>>;
}

const SMALL = patternBytes(MIN_PART - 1);

const INCOMPLETE: Incomplete[] = [
  { name: "A gap", sent: { 1: FULL, 3: TAIL }, missing: { 2: FULL } },
  { name: "A missing first part", sent: { 2: TAIL }, missing: { 1: FULL } },
  { name: "A small first part", sent: { 1: SMALL, 2: TAIL }, missing: { 1: FULL } },
  { name: "An empty first part", sent: { 1: new Uint8Array(), 2: TAIL }, missing: { 1: FULL } },
  { name: "A small middle part", sent: { 1: FULL, 2: SMALL, 3: TAIL }, missing: { 2: FULL } },
  {
    name: "A gap and another one",
    sent: { 1: FULL, 3: FULL, 5: TAIL },
    missing: { 2: FULL, 4: FULL },
  },
];

// "otherwise 400 that names the offending parts, and the upload stays open"
for (const { name, sent, missing } of INCOMPLETE) {
  test(`${name} is refused by number, and the upload stays open.`, async (drive) => {
    await drive.put("a", "earlier");
    const upload = await Upload.start(drive, "a");
    await sendAll(upload, sent);
    const answer = await drive.unchangedBy(() => upload.complete());
    assertErrorAnswer(answer.expect(400));
    const text = answer.errors.join(" ");
    for (const part of Object.keys(missing)) assert(RegExp(`\\b${part}\\b`).test(text), text);
    assertEquals(await drive.text("a"), "earlier");
    await sendAll(upload, missing);
    (await upload.complete()).expect(200);
    assertSameBytes(
      (await drive.get("a")).expect(200).bytes,
      await joined({ ...sent, ...missing }),
    );
  });
}

test("A part of exactly 10 MiB is accepted, one byte more is 413.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  (await upload.send(1, patternBytes(MAX_PAYLOAD))).expect(200);
  const answer = await drive.unchangedBy(() => upload.send(1, patternBytes(MAX_PAYLOAD + 1)));
  assertErrorAnswer(answer.expect(413));
  assertEquals(await upload.parts(), [{ part: 1, size: MAX_PAYLOAD }]);
  (await upload.complete()).expect(200);
  assertSameBytes((await drive.get("a")).expect(200).bytes, patternBytes(MAX_PAYLOAD));
});

test("An upload replaces a file, and a file replaces an upload's file.", async (drive) => {
  await drive.put("a", "small");
  await uploadParts(drive, "a", [FULL, TAIL]);
  assertEquals(await drive.usage(), { files: 1, bytes: FULL.length + TAIL.length });
  await drive.put("a", "small again");
  assertEquals(await drive.text("a"), "small again");
  assertEquals(await drive.usage(), { files: 1, bytes: 11 });
});

test("Of two uploads of one name, the one completed last is the file.", async (drive) => {
  const [one, two] = [await Upload.start(drive, "a"), await Upload.start(drive, "a")];
  (await one.send(1, patternBytes(10, 1))).expect(200);
  (await two.send(1, patternBytes(20, 2))).expect(200);
  (await two.complete()).expect(200);
  (await one.complete()).expect(200);
  assertSameBytes((await drive.get("a")).expect(200).bytes, patternBytes(10, 1));
  assertEquals(await drive.usage(), { files: 1, bytes: 10 });
});

/** What `curl --data-binary` sends if it is given no type. */
const CURLS = "application/x-www-form-urlencoded";

const TYPES: { init?: string; parts?: string[]; name: string; stored: string }[] = [
  { init: "image/png", parts: ["image/gif"], name: "a.txt", stored: "image/png" },
  { parts: ["image/gif"], name: "a.txt", stored: "image/gif" },
  { parts: ["binary/octet-stream"], name: "a.txt", stored: "text/plain" },
  { init: "binary/octet-stream", parts: ["image/gif"], name: "a.txt", stored: "image/gif" },
  { init: CURLS, parts: ["image/gif"], name: "a.txt", stored: "image/gif" },
  { parts: [CURLS], name: "a.txt", stored: "text/plain" },
  { init: "", parts: ["image/gif"], name: "a.txt", stored: "image/gif" },
  { name: "a.txt", stored: "text/plain" },
  { name: "file", stored: "application/octet-stream" },
  { parts: ["", "image/gif"], name: "a.txt", stored: "text/plain" },
  { parts: ["image/gif", "image/png"], name: "a.txt", stored: "image/gif" },
];

// "Where the initialising call had no `Content-Type`, that of part 1 is the file's."
for (const { init, parts = [], name, stored } of TYPES) {
  const first = init === undefined ? "no type" : `"${init}"`;
  test(`"${name}" begun with ${first}, its parts with [${parts}], is ${stored}.`, async (drive) => {
    const upload = await Upload.start(drive, name, typed(init));
    const bodies = [parts.length > 1 ? FULL : TAIL, TAIL];
    for (let i = Math.max(parts.length, 1); i > 0; i--) {
      (await upload.send(i, bodies[i - 1] ?? TAIL, typed(parts[i - 1]))).expect(200);
    }
    (await upload.complete()).expect(200);
    assertEquals((await drive.get(name)).expect(200).header("Content-Type"), stored);
  });
}

function typed(type: string | undefined): Record<string, string> {
  return type === undefined ? {} : { "Content-Type": type };
}

async function sendAll(upload: Upload, parts: Incomplete["sent"]): Promise<void> {
  for (const [part, bytes] of Object.entries(parts)) (await upload.send(part, bytes)).expect(200);
}

async function joined(parts: Incomplete["sent"]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Blob(Object.values(parts)).arrayBuffer());
}

test("A broken-off part is no part.", async (drive: Drive) => {
  const upload = await Upload.start(drive, "a");
  (await upload.send(1, TAIL)).expect(200);
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(patternBytes(200_000));
    },
    pull(controller) {
      controller.error(new Error("The client broke off"));
    },
  });
  const outcome = await upload.send(1, broken).then(() => "answered", () => "broken");
  assertEquals(outcome, "broken");
  assertEquals(await upload.parts(), [{ part: 1, size: TAIL.length }]);
  (await upload.complete()).expect(200);
  assertSameBytes((await drive.get("a")).expect(200).bytes, TAIL);
});
