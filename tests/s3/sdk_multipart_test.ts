/**
 * Uploads in parts by the SDK for JavaScript.
 *
 * @module
 */
import {
  AbortMultipartUploadCommand,
  type ChecksumAlgorithm,
  type ChecksumType,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { joinBytes } from "../support/drive.ts";
import { assertRefusal, type S3Bench, sdkSuite } from "./support/sdk.ts";

const test = sdkSuite("Uploads in parts by the SDK for JavaScript");

type Bytes = Uint8Array<ArrayBuffer>;

function md5(bytes: Uint8Array): Uint8Array {
  return createHash("md5").update(bytes).digest();
}

/** The entity tag of an object made of parts. */
function tagOf(parts: readonly Uint8Array[]): string {
  const whole = createHash("md5");
  for (const part of parts) whole.update(md5(part));
  return `"${whole.digest("hex")}-${parts.length}"`;
}

/** One upload in parts. */
class PartsUpload {
  readonly done = new Map<number, CompletedPart>();

  constructor(readonly bench: S3Bench, readonly key: string, readonly id: string) {}

  static async start(
    bench: S3Bench,
    key: string,
    more: Partial<CreateMultipartUploadCommandInput> = {},
  ): Promise<PartsUpload> {
    const input = { Bucket: bench.bucket, Key: key, ...more };
    const { UploadId } = await bench.s3.send(new CreateMultipartUploadCommand(input));
    assert(UploadId !== undefined && UploadId !== "");
    return new PartsUpload(bench, key, UploadId);
  }

  get place(): { Bucket: string; Key: string; UploadId: string } {
    return { Bucket: this.bench.bucket, Key: this.key, UploadId: this.id };
  }

  async send(number: number, Body: Bytes, algorithm?: ChecksumAlgorithm): Promise<string> {
    const more = algorithm === undefined ? {} : { ChecksumAlgorithm: algorithm };
    const input = { ...this.place, PartNumber: number, Body, ...more };
    const { ETag, $metadata: _, ...rest } = await this.bench.s3.send(new UploadPartCommand(input));
    assert(ETag !== undefined);
    const checksums = Object.entries(rest).filter(([name]) => name.startsWith("Checksum"));
    this.done.set(number, { PartNumber: number, ETag, ...Object.fromEntries(checksums) });
    return ETag;
  }

  get parts(): CompletedPart[] {
    return [...this.done.values()].sort((a, b) => Number(a.PartNumber) - Number(b.PartNumber));
  }

  async complete(parts = this.parts, more: Record<string, unknown> = {}): Promise<string> {
    const input = { ...this.place, MultipartUpload: { Parts: parts }, ...more };
    const answer = await this.bench.s3.send(new CompleteMultipartUploadCommand(input));
    assertEquals([answer.Bucket, answer.Key], [this.bench.bucket, this.key]);
    return answer.ETag ?? "";
  }

  async abort(): Promise<void> {
    await this.bench.s3.send(new AbortMultipartUploadCommand(this.place));
  }
}

test("parts larger than 10 MiB become one object", async (bench) => {
  const pieces = [patternBytes(17 * MIB + 3, 1), patternBytes(12 * MIB, 2), patternBytes(5, 3)];
  const upload = await PartsUpload.start(bench, "parts", {
    ContentType: "video/mp4",
    Metadata: { of: "upload" },
  });
  // Parts may arrive in any order.
  for (const number of [3, 1, 2]) {
    const piece = pieces[number - 1] as Bytes;
    assertEquals(await upload.send(number, piece), `"${md5(piece).toHex()}"`);
  }
  assertEquals(await upload.complete(), tagOf(pieces));
  const whole = joinBytes(pieces);
  assertSameBytes(await bench.get("parts"), whole);
  const { bucket: Bucket, s3 } = bench;
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: "parts" }));
  assertEquals([head.ETag, head.ContentLength], [tagOf(pieces), whole.length]);
  assertEquals([head.ContentType, head.Metadata], ["video/mp4", { of: "upload" }]);
});

test("a single part of an object is read by its number", async (bench) => {
  const pieces = [patternBytes(5 * MIB, 1), patternBytes(6 * MIB, 2), patternBytes(77, 3)];
  const upload = await PartsUpload.start(bench, "parts");
  for (const [index, piece] of pieces.entries()) await upload.send(index + 1, piece);
  await upload.complete();
  const { bucket: Bucket, s3 } = bench;
  let start = 0;
  for (const [index, piece] of pieces.entries()) {
    const input = { Bucket, Key: "parts", PartNumber: index + 1 };
    const answer = await s3.send(new GetObjectCommand(input));
    const range = `bytes ${start}-${start + piece.length - 1}/${11 * MIB + 77}`;
    assertEquals([answer.ContentRange, answer.PartsCount], [range, 3]);
    assertSameBytes(await answer.Body?.transformToByteArray() ?? new Uint8Array(), piece);
    const head = await s3.send(new HeadObjectCommand(input));
    assertEquals([head.ContentLength, head.PartsCount], [piece.length, 3]);
    start += piece.length;
  }
  const beyond = new GetObjectCommand({ Bucket, Key: "parts", PartNumber: 4 });
  await assertRefusal(s3.send(beyond), 416, "InvalidPartNumber");
});

test("an object that was sent at once has itself as part 1", async (bench) => {
  await bench.put("single", "text");
  const { bucket: Bucket, s3 } = bench;
  const one = await s3.send(new GetObjectCommand({ Bucket, Key: "single", PartNumber: 1 }));
  assertEquals(await one.Body?.transformToString(), "text");
});

test("part numbers may have gaps, and a part may be sent again", async (bench) => {
  const pieces = [patternBytes(5 * MIB, 1), patternBytes(5 * MIB, 2), patternBytes(9, 3)];
  const upload = await PartsUpload.start(bench, "gaps");
  await upload.send(2, patternBytes(6 * MIB, 9));
  await upload.send(7, patternBytes(5 * MIB, 8));
  for (const [index, number] of [2, 50, 10_000].entries()) {
    await upload.send(number, pieces[index] as Bytes);
  }
  // Part 7 was sent and is not chosen.
  const chosen = upload.parts.filter(({ PartNumber }) => PartNumber !== 7);
  assertEquals(await upload.complete(chosen), tagOf(pieces));
  assertSameBytes(await bench.get("gaps"), joinBytes(pieces));
});

test("wrong parts are refused, and the upload stays open", async (bench) => {
  const upload = await PartsUpload.start(bench, "wrong");
  await upload.send(1, patternBytes(5 * MIB));
  await upload.send(2, patternBytes(1000));
  await upload.send(3, patternBytes(10));
  const [one = {}, two = {}, three = {}] = upload.parts;
  const complete = (parts: CompletedPart[]) => upload.complete(parts);
  await assertRefusal(complete([one, two, three]), 400, "EntityTooSmall");
  await assertRefusal(complete([two, one]), 400, "InvalidPartOrder");
  await assertRefusal(complete([one, { ...two, PartNumber: 4 }]), 400, "InvalidPart");
  const etag = `"${md5(patternBytes(4)).toHex()}"`;
  await assertRefusal(complete([one, { ...two, ETag: etag }]), 400, "InvalidPart");
  await assertRefusal(bench.get("wrong"), 404, "NoSuchKey");
  await complete([one, three]);
  assertEquals((await bench.get("wrong")).length, 5 * MIB + 10);
});

test("uploads that do not exist are refused", async (bench) => {
  const upload = await PartsUpload.start(bench, "aborted");
  await upload.send(1, patternBytes(10));
  await upload.abort();
  const { s3 } = bench;
  await assertRefusal(upload.send(1, patternBytes(10)), 404, "NoSuchUpload");
  await assertRefusal(upload.complete(), 404, "NoSuchUpload");
  await assertRefusal(s3.send(new ListPartsCommand(upload.place)), 404, "NoSuchUpload");
  await assertRefusal(bench.get("aborted"), 404, "NoSuchKey");
});

test.unlikePeer("an upload is completed with a part at least, and ends once", async (bench) => {
  const upload = await PartsUpload.start(bench, "once");
  await assertRefusal(upload.complete([]), 400, "MalformedXML");
  await upload.abort();
  await assertRefusal(upload.abort(), 404, "NoSuchUpload");
});

test.unlikePeer("part numbers are 1 to 10,000", async (bench) => {
  const upload = await PartsUpload.start(bench, "numbers");
  for (const number of [0, 10_001]) {
    await assertRefusal(upload.send(number, patternBytes(10)), 400, "InvalidArgument");
  }
  await upload.abort();
});

test("the parts of an upload are listed, in pages", async (bench) => {
  const upload = await PartsUpload.start(bench, "listed");
  for (let number = 1; number <= 5; number++) await upload.send(number, patternBytes(100 + number));
  const list = (more: { MaxParts?: number; PartNumberMarker?: string }) =>
    bench.s3.send(new ListPartsCommand({ ...upload.place, ...more }));
  const first = await list({ MaxParts: 2 });
  assertEquals(first.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size]), [[1, 101], [
    2,
    102,
  ]]);
  assertEquals([first.IsTruncated, first.NextPartNumberMarker], [true, "2"]);
  assertEquals(first.Parts?.[0]?.ETag, upload.parts[0]?.ETag);
  const rest = await list({ PartNumberMarker: "2" });
  assertEquals(rest.Parts?.map(({ PartNumber }) => PartNumber), [3, 4, 5]);
  assertEquals(rest.IsTruncated, false);
  await upload.abort();
});

test.unlikePeer("open uploads are listed, in pages and by prefix", async (bench) => {
  const keys = ["a/1", "a/1", "a/2", "b c"];
  const uploads: PartsUpload[] = [];
  for (const key of keys) uploads.push(await PartsUpload.start(bench, key));
  const { bucket: Bucket, s3 } = bench;
  const all = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
  assertEquals(all.Uploads?.map(({ Key }) => Key), keys);
  assertEquals(
    new Set(all.Uploads?.map(({ UploadId }) => UploadId)),
    new Set(uploads.map(({ id }) => id)),
  );
  const below = await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: "a/" }));
  assertEquals(below.Uploads?.map(({ Key }) => Key), ["a/1", "a/1", "a/2"]);
  const folders = await s3.send(new ListMultipartUploadsCommand({ Bucket, Delimiter: "/" }));
  assertEquals(folders.CommonPrefixes?.map(({ Prefix }) => Prefix), ["a/"]);
  assertEquals(folders.Uploads?.map(({ Key }) => Key), ["b c"]);
  const seen: (string | undefined)[] = [];
  let marker: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (let isTruncated = true; isTruncated;) {
    const page = await s3.send(
      new ListMultipartUploadsCommand({ Bucket, MaxUploads: 1, ...marker }),
    );
    seen.push(...(page.Uploads ?? []).map(({ UploadId }) => UploadId));
    isTruncated = page.IsTruncated ?? false;
    marker = {
      KeyMarker: page.NextKeyMarker ?? "",
      UploadIdMarker: page.NextUploadIdMarker ?? "",
    };
  }
  assertEquals(seen.sort(), uploads.map(({ id }) => id).sort());
  for (const upload of uploads) await upload.abort();
  const none = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
  assertEquals(none.Uploads ?? [], []);
});

test("a part is copied from an object, or from a range of one", async (bench) => {
  const source = patternBytes(12 * MIB, 4);
  await bench.put("source/a b+é.bin", source);
  const upload = await PartsUpload.start(bench, "copied");
  const copy = async (PartNumber: number, CopySourceRange?: string) => {
    const { CopyPartResult } = await bench.s3.send(
      new UploadPartCopyCommand({
        ...upload.place,
        PartNumber,
        CopySource: encodeURI(`${bench.bucket}/source/a b`) + "%2B" + encodeURI("é.bin"),
        ...CopySourceRange === undefined ? {} : { CopySourceRange },
      }),
    );
    const ETag = CopyPartResult?.ETag ?? "";
    upload.done.set(PartNumber, { PartNumber, ETag });
    assert(Math.abs(Number(CopyPartResult?.LastModified) - Date.now()) < 60_000);
    return ETag;
  };
  const range = source.subarray(MIB, 7 * MIB);
  assertEquals(await copy(1), `"${md5(source).toHex()}"`);
  assertEquals(await copy(2, `bytes=${MIB}-${7 * MIB - 1}`), `"${md5(range).toHex()}"`);
  await upload.send(3, patternBytes(10));
  const parts = [source, range, patternBytes(10)];
  assertEquals(await upload.complete(), tagOf(parts));
  assertSameBytes(await bench.get("copied"), joinBytes(parts));
});

test("a completion obeys the conditions of a write", async (bench) => {
  const etag = await bench.put("key", "old");
  const upload = await PartsUpload.start(bench, "key");
  await upload.send(1, patternBytes(100));
  const complete = (more: Record<string, unknown>) => upload.complete(upload.parts, more);
  await assertRefusal(complete({ IfNoneMatch: "*" }), 412, "PreconditionFailed");
  assertEquals(await bench.text("key"), "old");
  await complete({ IfMatch: etag });
  assertEquals((await bench.get("key")).length, 100);
});

const TYPES: [ChecksumAlgorithm, ChecksumType][] = [
  ["SHA256", "COMPOSITE"],
  ["SHA1", "COMPOSITE"],
  ["CRC32", "COMPOSITE"],
  ["CRC32C", "COMPOSITE"],
  ["CRC32", "FULL_OBJECT"],
  ["CRC32C", "FULL_OBJECT"],
];

for (const [algorithm, type] of TYPES) {
  test(`${type} checksums of ${algorithm}`, async (bench) => {
    const pieces = [patternBytes(5 * MIB, 1), patternBytes(MIB + 1, 2)];
    const upload = await PartsUpload.start(bench, "sums", {
      ChecksumAlgorithm: algorithm,
      ChecksumType: type,
    });
    for (const [index, piece] of pieces.entries()) await upload.send(index + 1, piece, algorithm);
    await upload.complete(upload.parts, { ChecksumType: type });
    const { bucket: Bucket, s3 } = bench;
    const head = await s3.send(
      new HeadObjectCommand({ Bucket, Key: "sums", ChecksumMode: "ENABLED" }),
    );
    assertEquals(head.ChecksumType, type);
    const field = `Checksum${algorithm}` as "ChecksumSHA256";
    const sum = head[field] ?? "";
    if (type === "COMPOSITE") assertMatch(sum, /^[\w+/]+=*-2$/);
    else {
      // The same bytes at once have the same checksum.
      await bench.put("once", joinBytes(pieces), { ChecksumAlgorithm: algorithm });
      const once = await s3.send(
        new HeadObjectCommand({ Bucket, Key: "once", ChecksumMode: "ENABLED" }),
      );
      assertEquals(sum, once[field]);
    }
    assertSameBytes(await bench.get("sums"), joinBytes(pieces));
  });
}

test.unlikePeer("a wrong checksum of the whole object is refused", async (bench) => {
  const upload = await PartsUpload.start(bench, "sums", {
    ChecksumAlgorithm: "CRC32",
    ChecksumType: "FULL_OBJECT",
  });
  await upload.send(1, patternBytes(100), "CRC32");
  const wrong = upload.complete(upload.parts, {
    ChecksumType: "FULL_OBJECT",
    ChecksumCRC32: "AAAAAA==",
  });
  await assertRefusal(wrong, 400, "BadDigest");
  await upload.complete(upload.parts, { ChecksumType: "FULL_OBJECT" });
});

test.unlikePeer("the attributes of an object made of parts", async (bench) => {
  const upload = await PartsUpload.start(bench, "parts", { ChecksumAlgorithm: "SHA256" });
  await upload.send(1, patternBytes(5 * MIB), "SHA256");
  await upload.send(2, patternBytes(10), "SHA256");
  await upload.complete();
  const answer = await bench.s3.send(
    new GetObjectAttributesCommand({
      Bucket: bench.bucket,
      Key: "parts",
      MaxParts: 1,
      ObjectAttributes: ["ETag", "ObjectParts", "ObjectSize", "Checksum"],
    }),
  );
  assertEquals([answer.ObjectSize, answer.ObjectParts?.TotalPartsCount], [5 * MIB + 10, 2]);
  assertEquals(answer.ObjectParts?.IsTruncated, true);
  assertEquals(answer.ObjectParts?.Parts?.map(({ Size }) => Size), [5 * MIB]);
  assertMatch(answer.Checksum?.ChecksumSHA256 ?? "", /=(-2)?$/);
});

test("lib-storage uploads a stream of unknown length", async (bench) => {
  const bytes = patternBytes(23 * MIB + 5, 6);
  const pieces = Array.from({ length: 24 }, (_, i) => bytes.slice(i * MIB, (i + 1) * MIB));
  const params = { Bucket: bench.bucket, Key: "streamed", Body: Readable.from(pieces) };
  const upload = new Upload({ client: bench.s3, params, queueSize: 3, partSize: 8 * MIB });
  const { ETag } = await upload.done();
  assertMatch(ETag ?? "", /^"[0-9a-f]{32}-3"$/);
  assertSameBytes(await bench.get("streamed"), bytes);
});
