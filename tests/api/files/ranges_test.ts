import { assertEquals, fail } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, patternBytes, PIECE } from "../../support/bytes.ts";
import { type Drive, uploadParts } from "../../support/drive.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Range asks for a part of a file");

const SIZE = 3 * PIECE + 100;

test("Every boundary of the stored pieces can be read across.", async (drive) => {
  const bytes = patternBytes(SIZE);
  await drive.put("a", bytes);
  for (let boundary = PIECE; boundary < SIZE; boundary += PIECE) {
    for (const [first, last] of around(boundary, SIZE)) {
      await assertRange(drive, bytes, first, last);
    }
  }
});

test("A file of exactly some pieces can be read across each of them.", async (drive) => {
  const bytes = patternBytes(2 * PIECE);
  await drive.put("a", bytes);
  for (const boundary of [PIECE, 2 * PIECE]) {
    for (const [first, last] of around(boundary, bytes.length)) {
      await assertRange(drive, bytes, first, last);
    }
  }
});

// Two parts whose sizes are no multiple of a piece, so that pieces and parts never coincide.
const PARTS = [patternBytes(5_000_000, 1), patternBytes(5_000_001, 2), patternBytes(1_000, 3)];

test("A file made of parts can be read across parts and pieces.", async (drive) => {
  const bytes = new Uint8Array(await new Blob(PARTS).arrayBuffer());
  await uploadParts(drive, "a", PARTS);
  const boundaries: number[] = [];
  let start = 0;
  for (const part of PARTS) {
    for (let at = start; at < start + part.length; at += 8 * PIECE) boundaries.push(at);
    boundaries.push(start + PIECE);
    start += part.length;
  }
  for (const boundary of boundaries.filter((at) => at > 0 && at < bytes.length)) {
    await assertRange(drive, bytes, boundary - 1, boundary);
    await assertRange(drive, bytes, boundary, Math.min(boundary + PIECE, bytes.length - 1));
  }
  await assertRange(drive, bytes, 4_999_990, 10_000_010);
  await assertRange(drive, bytes, 0, bytes.length - 1);
});

/** Ranges of the alphabet, and what comes back: `undefined` for an ignored range. */
const RANGES: { range: string; got?: string; span?: string; why?: string }[] = [
  { range: "bytes=0-0", got: "a", span: "0-0" },
  { range: "bytes=0-25", got: "abcdefghijklmnopqrstuvwxyz", span: "0-25" },
  { range: "bytes=5-7", got: "fgh", span: "5-7" },
  { range: "bytes=23-", got: "xyz", span: "23-25" },
  { range: "bytes=0-", got: "abcdefghijklmnopqrstuvwxyz", span: "0-25" },
  { range: "bytes=24-999", got: "yz", span: "24-25" },
  { range: "bytes=24-99999999999999999999999", got: "yz", span: "24-25" },
  { range: "bytes=-1", got: "z", span: "25-25" },
  { range: "bytes=-3", got: "xyz", span: "23-25" },
  { range: "bytes=-26", got: "abcdefghijklmnopqrstuvwxyz", span: "0-25" },
  { range: "bytes=-1000", got: "abcdefghijklmnopqrstuvwxyz", span: "0-25" },
  { range: "bytes=1-2,5-6", why: "One Range is supported, several are ignored" },
  { range: "bytes=0-0,-1", why: "One Range is supported, several are ignored" },
  { range: "bytes=7-5", why: "An invalid range is ignored" },
  { range: "bytes=", why: "An invalid range is ignored" },
  { range: "bytes=-", why: "An invalid range is ignored" },
  { range: "bytes=a-b", why: "An invalid range is ignored" },
  { range: "bytes=1.5-2", why: "An invalid range is ignored" },
  { range: "bytes=0x1-0x2", why: "An invalid range is ignored" },
  { range: "bytes=--1", why: "An invalid range is ignored" },
  { range: "bytes 1-2", why: "An invalid range is ignored" },
  { range: "1-2", why: "An invalid range is ignored" },
  { range: "lines=1-2", why: "An unknown unit is ignored" },
];

test("One range is answered with 206, anything else is ignored.", async (drive) => {
  const alphabet = "abcdefghijklmnopqrstuvwxyz";
  await drive.put("a.txt", alphabet);
  for (const { range, got, span } of RANGES) {
    const answer = await drive.get("a.txt", { Range: range });
    assertEquals(answer.status, got === undefined ? 200 : 206, range);
    assertEquals(answer.text, got ?? alphabet, range);
    assertEquals(answer.headers.get("Content-Range"), span ? `bytes ${span}/26` : null, range);
    assertEquals(answer.header("Content-Length"), String((got ?? alphabet).length), range);
  }
});

test("A partial answer carries the headers of the whole file.", async (drive) => {
  await drive.put("a.png", patternBytes(1_000));
  const whole = (await drive.get("a.png")).expect(200);
  const part = (await drive.get("a.png", { Range: "bytes=10-19" })).expect(206);
  for (const name of ["Content-Type", "ETag", "Last-Modified", "Accept-Ranges"]) {
    assertEquals(part.header(name), whole.header(name));
  }
  assertEquals(part.header("X-Content-Type-Options"), "nosniff");
});

for (const range of ["bytes=26-", "bytes=26-30", "bytes=1000-", "bytes=-0"]) {
  test(`"${range}" of 26 bytes is 416 with the size.`, async (drive) => {
    await drive.put("a", "abcdefghijklmnopqrstuvwxyz");
    const answer = (await drive.get("a", { Range: range })).expect(416);
    assertEquals(answer.header("Content-Range"), "bytes */26");
    assertEquals(answer.errors.length, 1);
  });
}

test("A range that starts far beyond all numbers is 416.", async (drive) => {
  await drive.put("a", "abc");
  const answer = await drive.get("a", { Range: "bytes=99999999999999999999999-" });
  assertEquals(answer.expect(416).header("Content-Range"), "bytes */3");
});

test("No range of an empty file can be satisfied.", async (drive) => {
  await drive.put("a", "");
  for (const range of ["bytes=0-", "bytes=0-0", "bytes=5-9"]) {
    const answer = await drive.get("a", { Range: range });
    assertEquals(answer.expect(416).header("Content-Range"), "bytes */0");
  }
});

test("An unsatisfiable range of a file made of parts is 416 with the size.", async (drive) => {
  await uploadParts(drive, "a", [patternBytes(5_000_000), patternBytes(10)]);
  const answer = await drive.get("a", { Range: "bytes=5000010-" });
  assertEquals(answer.expect(416).header("Content-Range"), "bytes */5000010");
});

test("A range of a file that does not exist is 404.", async (drive) => {
  assertEquals((await drive.get("a", { Range: "bytes=0-1" })).expect(404).errors.length, 1);
});

// RFC 9110, 14.2: "GET is the only method for which range handling is defined."
test("HEAD ignores Range.", async (drive) => {
  await drive.put("a", "abcdefghij");
  for (const range of ["bytes=2-4", "bytes=99-"]) {
    const headers = { Range: range };
    const answer = await drive.send("HEAD", "/files/download?name=a", { headers });
    assertEquals(answer.expect(200).header("Content-Length"), "10");
    assertEquals(answer.headers.get("Content-Range"), null);
  }
});

test("If-Range lets the range hold for the same version only.", async (drive) => {
  await drive.put("a", "abcdefghij");
  const whole = (await drive.get("a")).expect(200);
  const etag = whole.header("ETag");
  const date = whole.header("Last-Modified");
  const cases: [string, number][] = [
    [etag, 206],
    [`"another"`, 200],
    [`W/${etag}`, 200],
    [date, 206],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 200],
    ["Wed, 01 Jan 2200 00:00:00 GMT", 200],
    ["yesterday", 200],
  ];
  for (const [validator, status] of cases) {
    const answer = await drive.get("a", { "Range": "bytes=1-3", "If-Range": validator });
    assertEquals([validator, answer.status], [validator, status]);
    assertEquals(answer.text, status === 206 ? "bcd" : "abcdefghij");
  }
});

// RFC 9110, 8.8.2.2: a date that two versions share cannot tell them apart.
test("If-Range with a date that two versions share does not hold.", async (drive) => {
  for (let i = 0; i < 10; i++) {
    await drive.put("a", "one");
    const earlier = (await drive.get("a")).header("Last-Modified");
    await drive.put("a", "two");
    const date = (await drive.get("a")).header("Last-Modified");
    // Now and then a second ends between the two.
    if (date !== earlier) continue;
    const answer = await drive.get("a", { "Range": "bytes=1-2", "If-Range": date });
    assertEquals(answer.expect(200).text, "two");
    return;
  }
  fail("No two of twenty versions had the same date");
});

test("If-Range with the date of a file that has its name from a move does not hold.", async (drive) => {
  for (let i = 0; i < 10; i++) {
    await drive.put("a", "one");
    await drive.put("b", "two");
    const date = (await drive.get("b")).header("Last-Modified");
    await drive.delete(["b"]);
    // Now and then a second ends between the two.
    if ((await drive.get("a")).header("Last-Modified") !== date) continue;
    await delay(1000);
    const move = JSON.stringify({ from: "a", to: "b" });
    (await drive.send("POST", "/files/move", { body: move })).expect(200);
    const answer = await drive.get("b", { "Range": "bytes=1-2", "If-Range": date });
    assertEquals([answer.expect(200).text, answer.header("Last-Modified")], ["one", date]);
    return;
  }
  fail("No two of twenty files had the same date");
});

test("If-Range that does not hold makes an unsatisfiable range harmless.", async (drive) => {
  await drive.put("a", "abc");
  const answer = await drive.get("a", { "Range": "bytes=99-", "If-Range": `"another"` });
  assertEquals(answer.expect(200).text, "abc");
});

test("If-Range without Range is ignored.", async (drive) => {
  await drive.put("a", "abc");
  const answer = await drive.get("a", { "If-Range": await drive.etag("a") });
  assertEquals(answer.expect(200).text, "abc");
});

test("A condition is judged before the range.", async (drive) => {
  await drive.put("a", "abc");
  const etag = await drive.etag("a");
  (await drive.get("a", { "Range": "bytes=0-1", "If-None-Match": etag })).expect(304);
  (await drive.get("a", { "Range": "bytes=99-", "If-None-Match": etag })).expect(304);
  (await drive.get("a", { "Range": "bytes=99-", "If-Match": `"another"` })).expect(412);
  (await drive.get("a", { "Range": "bytes=0-1", "If-Match": etag })).expect(206);
});

/** Spans that end at, start at, and cross a boundary. */
function around(boundary: number, size: number): [number, number][] {
  const end = size - 1;
  const spans: [number, number][] = [
    [boundary - 1, boundary - 1],
    [boundary, boundary],
    [boundary - 1, boundary],
    [boundary - 1, boundary + PIECE],
    [boundary, boundary + PIECE - 1],
    [0, boundary - 1],
    [0, boundary],
    [boundary, end],
  ];
  return spans.filter(([first]) => first <= end).map(([first, last]) => [
    first,
    Math.min(last, end),
  ]);
}

async function assertRange(
  drive: Drive,
  whole: Uint8Array<ArrayBuffer>,
  first: number,
  last: number,
): Promise<void> {
  const answer = (await drive.get("a", { Range: `bytes=${first}-${last}` })).expect(206);
  assertEquals(answer.header("Content-Range"), `bytes ${first}-${last}/${whole.length}`);
  assertEquals(answer.header("Content-Length"), String(last - first + 1));
  assertSameBytes(answer.bytes, whole.subarray(first, last + 1), `range ${first}-${last}`);
}
