import { assertEquals } from "@std/assert";
import {
  assertSameBytes,
  KIB,
  MAX_PAYLOAD,
  MIB,
  MIN_PART,
  patternBytes,
  PIECE,
  sha256Hex,
  streamOf,
} from "../../support/bytes.ts";
import { Upload } from "../../support/drive.ts";
import { rawRequest, sendRaw } from "../../support/raw.ts";
import { PROJECT_ID } from "../../support/server.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Files of every size come back as they were sent");

const SIZES = [
  0,
  1,
  PIECE - 1,
  PIECE,
  PIECE + 1,
  2 * PIECE,
  300_000,
  // Twelve pieces are what one commit of the store takes.
  12 * PIECE - 1,
  12 * PIECE,
  12 * PIECE + 1,
  24 * PIECE,
  10_000_000,
  MAX_PAYLOAD - 1,
  MAX_PAYLOAD,
];

for (const size of SIZES) {
  for (const how of ["with Content-Length", "chunked"]) {
    test(`${size} bytes sent ${how} come back the same.`, async (drive) => {
      const bytes = patternBytes(size, size + 1);
      const body = how === "chunked" ? streamOf(bytes) : bytes;
      (await drive.send("POST", "/files?name=a", { body })).expect(201);
      const answer = (await drive.get("a")).expect(200);
      assertEquals(answer.header("Content-Length"), String(size));
      assertSameBytes(answer.bytes, bytes);
      assertEquals(await drive.usage(), { files: 1, bytes: size });
      assertEquals((await drive.details())[0]?.size, size);
    });
  }
}

// "The maximum payload is 10 MB", 10 × 2^20 bytes when read the lenient way.
for (const size of [MAX_PAYLOAD + 1, MAX_PAYLOAD + PIECE, 12 * MIB]) {
  for (const how of ["with Content-Length", "chunked"]) {
    test(`${size} bytes sent ${how} are 413, and change nothing.`, async (drive) => {
      await drive.put("a", "earlier");
      const bytes = patternBytes(size);
      const body = () => how === "chunked" ? streamOf(bytes) : bytes;
      const answer = await drive.unchangedBy(() =>
        drive.send("POST", "/files?name=a", { body: body() })
      );
      assertErrorAnswer(answer.expect(413));
      assertEquals(await drive.text("a"), "earlier");
      const upload = await Upload.start(drive, "a");
      assertErrorAnswer((await upload.send(1, body())).expect(413));
      assertEquals(await upload.parts(), []);
    });
  }
}

test("A body that is announced too large is refused before it is sent.", async (drive) => {
  const target = `/v1/${PROJECT_ID}/${drive.name}/files?name=a`;
  for (const length of [MAX_PAYLOAD + 1, 10 ** 12]) {
    const request = rawRequest("POST", target, { "Content-Length": String(length) });
    assertErrorAnswer((await sendRaw(drive.server.port, request)).expect(413));
  }
  assertEquals(await drive.usage(), undefined);
});

test("Files of many sizes sent at once all come back the same.", async (drive) => {
  const sizes = [...SIZES.filter((size) => size < MIB), ...SIZES.filter((size) => size < MIB)];
  const files = sizes.map((size, seed) => patternBytes(size, seed));
  await Promise.all(files.map((bytes, i) => drive.put(`${i}`, bytes)));
  const answers = await Promise.all(files.map((_, i) => drive.get(`${i}`)));
  answers.forEach((answer, i) => assertSameBytes(answer.bytes, files[i] ?? new Uint8Array()));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assertEquals(await drive.usage(), { files: sizes.length, bytes });
});

test("25 MiB in parts, out of order and side by side, come back the same.", async (drive) => {
  const whole = patternBytes(25 * MIB);
  const upload = await Upload.start(drive, "big.bin");
  const cuts = [0, 10 * MIB, 15 * MIB, 15 * MIB + MIN_PART, 25 * MIB - 10 * KIB, 25 * MIB];
  const parts = cuts.slice(1).map((end, i) => whole.slice(cuts[i], end));
  const backwards = [...parts.entries()].toReversed();
  const answers = await Promise.all(backwards.map(([i, bytes]) => upload.send(i + 1, bytes)));
  for (const answer of answers) answer.expect(200);
  (await upload.complete()).expect(200);
  const answer = (await drive.get("big.bin")).expect(200);
  assertEquals(answer.header("Content-Length"), String(25 * MIB));
  assertEquals(await sha256Hex(answer.bytes), await sha256Hex(whole));
  assertEquals(await drive.usage(), { files: 1, bytes: 25 * MIB });
});

for (const size of [1, PIECE - 1, PIECE, PIECE + 1, 12 * PIECE, 12 * PIECE + 1]) {
  test(`A last part of ${size} bytes comes back the same.`, async (drive) => {
    const [first, last] = [patternBytes(MIN_PART + size, 1), patternBytes(size, 2)];
    const upload = await Upload.start(drive, "a");
    (await upload.send(2, streamOf(last))).expect(200);
    (await upload.send(1, first)).expect(200);
    (await upload.complete()).expect(200);
    const { bytes } = (await drive.get("a")).expect(200);
    assertSameBytes(bytes.subarray(0, first.length), first);
    assertSameBytes(bytes.subarray(first.length), last);
  });
}

// "Never other bytes": a view's whole buffer, and the rest of a shared one, are other bytes.
test("Bytes next to those that were sent do not come along.", async (drive) => {
  const buffer = patternBytes(400_000);
  const view = buffer.subarray(50_000, 350_000);
  await drive.put("a", view);
  assertSameBytes((await drive.get("a")).expect(200).bytes, view);
});
