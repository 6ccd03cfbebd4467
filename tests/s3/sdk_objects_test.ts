/**
 * Objects by the SDK for JavaScript with its default settings: writing, reading, conditions, ranges, metadata.
 *
 * @module
 */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { encodeBase64 } from "@std/encoding/base64";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { assertSameBytes, MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { assertRefusal, type S3Bench, sdkSuite, statusOf } from "./support/sdk.ts";

const test = sdkSuite("Objects by the SDK for JavaScript");

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

test("an object comes back as it was sent, with the MD5 as its entity tag", async (bench) => {
  for (const size of [0, 1, 65_536, 65_537, 3 * MIB]) {
    const bytes = patternBytes(size);
    const etag = await bench.put(`object-${size}`, bytes);
    assertEquals(etag, `"${md5(bytes)}"`);
    assertSameBytes(await bench.get(`object-${size}`), bytes);
    const { bucket: Bucket, s3 } = bench;
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: `object-${size}` }));
    assertEquals([head.ContentLength, head.ETag], [size, etag]);
    assert(Math.abs(Number(head.LastModified) - Date.now()) < 60_000);
  }
});

test("an object is overwritten as a whole", async (bench) => {
  await bench.put("key", "first, and longer", { ContentType: "text/plain", Metadata: { a: "1" } });
  await bench.put("key", "second");
  assertEquals(await bench.text("key"), "second");
  const head = await bench.s3.send(new HeadObjectCommand({ Bucket: bench.bucket, Key: "key" }));
  assertEquals([head.ContentType, head.Metadata], ["application/octet-stream", {}]);
});

test("a stream whose length is known is sent in chunks with a trailer", async (bench) => {
  const bytes = patternBytes(9 * MIB + 17);
  const pieces = Array.from({ length: 10 }, (_, i) => bytes.subarray(i * MIB, (i + 1) * MIB));
  const { bucket: Bucket, s3 } = bench;
  const Body = Readable.from(pieces);
  await s3.send(
    new PutObjectCommand({ Bucket, Key: "stream", Body, ContentLength: bytes.length }),
  );
  assertSameBytes(await bench.get("stream"), bytes);
});

test("missing buckets and keys get Amazon's error codes", async ({ s3, bucket: Bucket }) => {
  const Key = "absent";
  await assertRefusal(s3.send(new GetObjectCommand({ Bucket, Key })), 404, "NoSuchKey");
  await assertRefusal(s3.send(new HeadObjectCommand({ Bucket, Key })), 404, "NotFound");
  const absent = { Bucket: "no-such-bucket", Key };
  await assertRefusal(s3.send(new GetObjectCommand(absent)), 404, "NoSuchBucket");
  await assertRefusal(
    s3.send(new PutObjectCommand({ ...absent, Body: "x" })),
    404,
    "NoSuchBucket",
  );
  const deleted = await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  assertEquals(deleted.$metadata.httpStatusCode, 204);
});

test("conditions guard a write", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const put = (Key: string, condition: { IfMatch?: string; IfNoneMatch?: string }) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: "new", ...condition }));
  const etag = await bench.put("key", "old");
  await assertRefusal(put("key", { IfNoneMatch: "*" }), 412, "PreconditionFailed");
  await assertRefusal(put("key", { IfMatch: `"${md5(utf8("else"))}"` }), 412, "PreconditionFailed");
  assertEquals(await bench.text("key"), "old");
  await put("key", { IfMatch: etag });
  assertEquals(await bench.text("key"), "new");
  await put("fresh", { IfNoneMatch: "*" });
  await assertRefusal(put("none", { IfMatch: etag }), 404, "NoSuchKey");
});

test("conditions guard a read", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const etag = await bench.put("key", "text");
  const get = (condition: Record<string, string | Date>) =>
    s3.send(new GetObjectCommand({ Bucket, Key: "key", ...condition }));
  const [past, now] = [new Date(Date.now() - 3_600_000), new Date()];
  await assertRefusal(get({ IfMatch: '"other"' }), 412, "PreconditionFailed");
  await assertRefusal(get({ IfUnmodifiedSince: past }), 412, "PreconditionFailed");
  assertEquals(await statusOf(get({ IfNoneMatch: etag })), 304);
  assertEquals(await statusOf(get({ IfModifiedSince: now })), 304);
  const { Body } = await get({ IfMatch: etag, IfModifiedSince: past });
  assertEquals(await Body?.transformToString(), "text");
});

test("ranges are answered in part", async (bench) => {
  const bytes = patternBytes(200_000);
  await bench.put("key", bytes);
  const { s3, bucket: Bucket } = bench;
  const get = (Range: string) => s3.send(new GetObjectCommand({ Bucket, Key: "key", Range }));
  const cases: [string, number, number][] = [
    ["bytes=0-0", 0, 0],
    ["bytes=65535-65536", 65_535, 65_536],
    ["bytes=100000-", 100_000, 199_999],
    ["bytes=-5", 199_995, 199_999],
    ["bytes=5-999999999", 5, 199_999],
  ];
  for (const [range, from, to] of cases) {
    const { Body, ContentRange, $metadata, ContentLength } = await get(range);
    assertEquals($metadata.httpStatusCode, 206);
    assertEquals([ContentRange, ContentLength], [`bytes ${from}-${to}/200000`, to - from + 1]);
    assertSameBytes(
      await Body?.transformToByteArray() ?? new Uint8Array(),
      bytes.subarray(from, to + 1),
    );
  }
  await assertRefusal(get("bytes=200000-"), 416, "InvalidRange");
});

test("headers and user metadata are kept, and overridden in one answer", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const kept = {
    ContentType: "text/x-test; charset=utf-8",
    ContentDisposition: 'attachment; filename="a b.txt"',
    ContentEncoding: "identity",
    ContentLanguage: "de-CH",
    CacheControl: "max-age=60, private",
    ExpiresString: "Wed, 21 Oct 2099 07:28:00 GMT",
  };
  const { ExpiresString, ...sent } = kept;
  const Metadata = { "mixed-case": "Value With  Spaces", empty: "", "under_score": "1" };
  await bench.put("key", "text", { ...sent, Expires: new Date(ExpiresString), Metadata });
  for (const Command of [HeadObjectCommand, GetObjectCommand]) {
    const answer = await s3.send(new Command({ Bucket, Key: "key" }) as HeadObjectCommand);
    for (const [name, value] of Object.entries(kept)) {
      assertEquals(answer[name as keyof typeof answer], value, name);
    }
    assertEquals(Object.keys(answer.Metadata ?? {}).sort(), Object.keys(Metadata).sort());
    assertEquals(answer.Metadata?.["mixed-case"]?.replaceAll(/ +/g, " "), "Value With Spaces");
  }
  const answer = await s3.send(
    new GetObjectCommand({
      Bucket,
      Key: "key",
      ResponseContentType: "image/png",
      ResponseContentDisposition: "inline",
      ResponseContentEncoding: "br",
      ResponseContentLanguage: "en",
      ResponseCacheControl: "no-cache",
      ResponseExpires: new Date("2000-01-01T00:00:00Z"),
    }),
  );
  assertEquals(answer.ContentType, "image/png");
  assertEquals(answer.ContentDisposition, "inline");
  assertEquals(answer.ContentEncoding, "br");
  assertEquals(answer.ContentLanguage, "en");
  assertEquals(answer.CacheControl, "no-cache");
  assertEquals(answer.ExpiresString, "Sat, 01 Jan 2000 00:00:00 GMT");
});

test("user metadata has 2 KB", async (bench) => {
  await bench.put("key", "text", { Metadata: { a: "x".repeat(1900) } });
  const large = { Metadata: { a: "x".repeat(1500), b: "x".repeat(1500) } };
  await assertRefusal(bench.put("large", "text", large), 400, "MetadataTooLarge");
});

const PLAIN_KEYS = [
  "a b/c  d.txt",
  "1+1=2",
  "100%/%41%zz",
  "ключ/日本語/🦖.txt",
  "cafe\u0301",
  "caf\u00e9",
  `quotes " ' < > & ; : @ $ , ! * ( )`,
  "~tilde_.-",
  "#?[]",
];

/** Keys that are no file system paths. */
const HARD_KEYS = ["a//b///c", "/leading", "a\\b^c`d{e}|f", "a/../b", "./a", "x".repeat(1024)];

test("keys are any text", (bench) => roundTrip(bench, PLAIN_KEYS));

test.unlikePeer("keys need not look like paths", (bench) => roundTrip(bench, HARD_KEYS));

/** Objects with these keys do not touch each other. */
async function roundTrip(bench: S3Bench, keys: readonly string[]): Promise<void> {
  for (const [index, key] of keys.entries()) await bench.put(key, `text ${index}`);
  for (const [index, key] of keys.entries()) {
    assertEquals(await bench.text(key), `text ${index}`, key);
  }
  const [Key = ""] = keys;
  await bench.s3.send(new DeleteObjectCommand({ Bucket: bench.bucket, Key }));
  await assertRefusal(bench.get(Key), 404, "NoSuchKey");
}

test("a key of more than 1,024 bytes is refused", async (bench) => {
  await assertRefusal(bench.put("é".repeat(513), "x"), 400, "KeyTooLongError");
});

test("a folder marker is an empty object whose key ends in a slash", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("folder/", "");
  await bench.put("folder/file", "text");
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: "folder/" }));
  assertEquals([head.ContentLength, (await bench.get("folder/")).length], [0, 0]);
  await s3.send(new DeleteObjectCommand({ Bucket, Key: "folder/" }));
  await assertRefusal(s3.send(new HeadObjectCommand({ Bucket, Key: "folder/" })), 404, "NotFound");
  assertEquals(await bench.text("folder/file"), "text");
});

test("checksums of every algorithm are checked, kept and answered", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const bytes = utf8("The quick brown fox jumps over the lazy dog");
  const known = {
    CRC32: "QU+jOQ==",
    CRC32C: "ImIEBA==",
    CRC64NVME: "12xUBUlUwUM=",
    SHA1: encodeBase64(createHash("sha1").update(bytes).digest()),
    SHA256: encodeBase64(createHash("sha256").update(bytes).digest()),
  } as const;
  for (const [name, value] of Object.entries(known)) {
    const [Key, field] = [`key-${name}`, `Checksum${name}`];
    if (name !== "CRC64NVME") {
      const put = new PutObjectCommand({
        Bucket,
        Key,
        Body: bytes,
        ChecksumAlgorithm: name as "SHA256",
      });
      const sent = await s3.send(put);
      assertEquals(sent[field as "ChecksumSHA256"], value, name);
    } else {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes, [field]: value }));
    }
    const head = await s3.send(
      new HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }),
    );
    assertEquals([head[field as "ChecksumSHA256"], head.ChecksumType], [value, "FULL_OBJECT"]);
    const { Body } = await s3.send(
      new GetObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }),
    );
    assertEquals(await Body?.transformToString(), "The quick brown fox jumps over the lazy dog");
  }
});

test.unlikePeer("a wrong checksum or MD5 stores nothing", async (bench) => {
  const wrong = [
    { ContentMD5: encodeBase64(createHash("md5").update("other").digest()) },
    { ChecksumSHA256: encodeBase64(createHash("sha256").update("other").digest()) },
    { ChecksumCRC32: "AAAAAA==" },
    { ChecksumCRC32C: "AAAAAA==" },
    { ChecksumCRC64NVME: "AAAAAAAAAAA=" },
    { ChecksumSHA1: encodeBase64(createHash("sha1").update("other").digest()) },
  ];
  for (const one of wrong) {
    await assertRefusal(bench.put("key", "text", one), 400, "BadDigest");
  }
  await assertRefusal(bench.put("key", "text", { ContentMD5: "no MD5" }), 400, "InvalidDigest");
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
  await bench.put("key", "text", {
    ContentMD5: encodeBase64(createHash("md5").update("text").digest()),
  });
});

test.unlikePeer("the attributes of an object", async (bench) => {
  const etag = await bench.put("key", "text", { ChecksumAlgorithm: "SHA256" });
  const answer = await bench.s3.send(
    new GetObjectAttributesCommand({
      Bucket: bench.bucket,
      Key: "key",
      ObjectAttributes: ["ETag", "Checksum", "ObjectSize", "StorageClass", "ObjectParts"],
    }),
  );
  assertEquals(answer.ETag, etag.replaceAll('"', ""));
  assertEquals([answer.ObjectSize, answer.StorageClass], [4, "STANDARD"]);
  assertMatch(answer.Checksum?.ChecksumSHA256 ?? "", /^[\w+/]{43}=$/);
  assertEquals(answer.ObjectParts, undefined);
});

test("many objects are deleted at once", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const keys = ["a", "b c", "d/é", "<&>", "1+1"];
  for (const key of keys) await bench.put(key, key);
  const Objects = [...keys, "absent"].map((Key) => ({ Key }));
  const answer = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  assertEquals(answer.Deleted?.map(({ Key }) => Key).sort(), [...keys, "absent"].sort());
  assertEquals(answer.Errors ?? [], []);
  for (const key of keys) await assertRefusal(bench.get(key), 404, "NoSuchKey");
  await bench.put("quiet", "x");
  const quiet = { Objects: [{ Key: "quiet" }], Quiet: true };
  const silent = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: quiet }));
  assertEquals([silent.Deleted, silent.Errors], [undefined, undefined]);
  await assertRefusal(bench.get("quiet"), 404, "NoSuchKey");
});

test("more than 1,000 objects at once are refused", async ({ s3, bucket: Bucket }) => {
  const Objects = Array.from({ length: 1001 }, (_, i) => ({ Key: `key-${i}` }));
  const call = s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  await assertRefusal(call, 400, "MalformedXML");
});
