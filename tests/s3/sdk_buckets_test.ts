/**
 * Buckets, copies and what buckets and objects do not have, by the SDK for JavaScript.
 *
 * @module
 */
import {
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetBucketAclCommand,
  GetBucketLocationCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectTaggingCommand,
} from "@aws-sdk/client-s3";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHash } from "node:crypto";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { assertRefusal, S3Bench, sdkClient, sdkSuite } from "./support/sdk.ts";
import { HOST_BUCKET } from "./support/site.ts";

const test = sdkSuite("Buckets and copies by the SDK for JavaScript");

test("a bucket is created, listed and deleted", async (bench) => {
  const { s3, site } = bench;
  const Bucket = site.newBucket();
  await assertRefusal(s3.send(new HeadBucketCommand({ Bucket })), 404, "NotFound");
  const created = await s3.send(new CreateBucketCommand({ Bucket }));
  assertMatch(created.Location ?? "", new RegExp(`${Bucket}/?$`));
  await s3.send(new HeadBucketCommand({ Bucket }));
  const { Buckets, Owner } = await s3.send(new ListBucketsCommand({}));
  const listed = Buckets?.find(({ Name }) => Name === Bucket);
  assert(Math.abs(Number(listed?.CreationDate) - Date.now()) < 60_000);
  assert(Owner?.ID !== undefined);
  const names = (Buckets ?? []).map(({ Name = "" }) => Name);
  assertEquals(names, [...names].sort());
  await s3.send(new DeleteBucketCommand({ Bucket }));
  await assertRefusal(s3.send(new HeadBucketCommand({ Bucket })), 404, "NotFound");
  await assertRefusal(s3.send(new DeleteBucketCommand({ Bucket })), 404, "NoSuchBucket");
  await assertRefusal(s3.send(new ListObjectsV2Command({ Bucket })), 404, "NoSuchBucket");
});

test("a bucket with objects is not deleted", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("key", "text");
  await assertRefusal(s3.send(new DeleteBucketCommand({ Bucket })), 409, "BucketNotEmpty");
  assertEquals(await bench.text("key"), "text");
});

test("an own bucket is not created again", async ({ s3, bucket: Bucket }) => {
  const again = s3.send(new CreateBucketCommand({ Bucket }));
  await assertRefusal(again, 409, "BucketAlreadyOwnedByYou");
});

test("bucket names have the form of host names", async ({ s3 }) => {
  for (const Bucket of ["ab", "Upper", "under_score", "-dash", "dash-", "a..b", "x".repeat(64)]) {
    const call = s3.send(new CreateBucketCommand({ Bucket }));
    await assertRefusal(call, 400, "InvalidBucketName");
  }
});

test.unlikePeer("a bucket is in no special region", async ({ s3, bucket: Bucket }) => {
  const { LocationConstraint } = await s3.send(new GetBucketLocationCommand({ Bucket }));
  assert(LocationConstraint === undefined || `${LocationConstraint}` === "");
});

test("there are no versions, tags and policies, and the owner has all rights", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("key", "text");
  const versioning = await s3.send(new GetBucketVersioningCommand({ Bucket }));
  assertEquals(versioning.Status, undefined);
  await assertRefusal(s3.send(new GetBucketTaggingCommand({ Bucket })), 404, "NoSuchTagSet");
  await assertRefusal(s3.send(new GetBucketPolicyCommand({ Bucket })), 404, "NoSuchBucketPolicy");
  const tags = await s3.send(new GetObjectTaggingCommand({ Bucket, Key: "key" }));
  assertEquals(tags.TagSet, []);
  for (
    const { Grants, Owner } of [
      await s3.send(new GetBucketAclCommand({ Bucket })),
      await s3.send(new GetObjectAclCommand({ Bucket, Key: "key" })),
    ]
  ) {
    assert(Owner !== undefined);
    assertEquals(Grants?.map(({ Permission }) => Permission), ["FULL_CONTROL"]);
  }
});

test.unlikePeer("versions, tags and policies cannot be set", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("key", "text");
  const Tagging = { TagSet: [{ Key: "a", Value: "b" }] };
  const calls = [
    () =>
      s3.send(
        new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }),
      ),
    () => s3.send(new PutBucketTaggingCommand({ Bucket, Tagging })),
    () => s3.send(new PutBucketPolicyCommand({ Bucket, Policy: "{}" })),
    () => s3.send(new PutObjectTaggingCommand({ Bucket, Key: "key", Tagging })),
  ];
  for (const call of calls) await assertRefusal(call(), 501, "NotImplemented");
  assertEquals(await bench.text("key"), "text");
});

const SOURCE = "folder/a b+c%é.txt";

/** The source as a header names it. */
function sourceIn(bucket: string): string {
  return `${bucket}/${SOURCE.split("/").map(encodeURIComponent).join("/")}`;
}

async function putSource(bench: S3Bench): Promise<string> {
  return await bench.put(SOURCE, "text", {
    ContentType: "text/plain",
    CacheControl: "no-cache",
    Metadata: { kept: "yes" },
  });
}

test("a copy has the bytes, tag and metadata of its source", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const etag = await putSource(bench);
  const other = await bench.newBucket();
  for (const [target, Key] of [[Bucket, "copy é"], [other, "copy"]] as const) {
    const CopySource = sourceIn(Bucket);
    const { CopyObjectResult } = await s3.send(
      new CopyObjectCommand({ Bucket: target, Key, CopySource }),
    );
    assertEquals(CopyObjectResult?.ETag, etag);
    assert(CopyObjectResult?.LastModified !== undefined);
    const answer = await s3.send(new GetObjectCommand({ Bucket: target, Key }));
    assertEquals(await answer.Body?.transformToString(), "text");
    assertEquals(
      [answer.ContentType, answer.CacheControl, answer.Metadata, answer.ETag],
      ["text/plain", "no-cache", { kept: "yes" }, etag],
    );
  }
  await s3.send(new DeleteObjectCommand({ Bucket, Key: SOURCE }));
  assertEquals(await bench.text("copy é"), "text");
});

test("a copy may have other metadata", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await putSource(bench);
  const copy = (Key: string, more: Partial<CopyObjectCommandInput>) =>
    s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: sourceIn(Bucket), ...more }));
  const replace = {
    MetadataDirective: "REPLACE",
    ContentType: "image/png",
    Metadata: { new: "1" },
  } as const;
  for (const Key of ["copy", SOURCE]) {
    await copy(Key, replace);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
    assertEquals(
      [head.ContentType, head.Metadata, head.CacheControl],
      ["image/png", { new: "1" }, undefined],
    );
    assertEquals(new TextDecoder().decode(await bench.get(Key)), "text");
  }
  await assertRefusal(copy(SOURCE, {}), 400, "InvalidRequest");
});

test("a copy gets a checksum of another algorithm", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await putSource(bench);
  const sha256 = createHash("sha256").update("text").digest("base64");
  const target = { Bucket, Key: "copy" };
  const { CopyObjectResult } = await s3.send(
    new CopyObjectCommand({
      ...target,
      CopySource: sourceIn(Bucket),
      ChecksumAlgorithm: "SHA256",
    }),
  );
  assertEquals(CopyObjectResult?.ChecksumSHA256, sha256);
  const head = await s3.send(new HeadObjectCommand({ ...target, ChecksumMode: "ENABLED" }));
  assertEquals([head.ChecksumSHA256, head.ChecksumType], [sha256, "FULL_OBJECT"]);
  assertEquals([head.ChecksumCRC32, head.Metadata], [undefined, { kept: "yes" }]);
});

test("conditions guard a copy", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const etag = await putSource(bench);
  const copy = (more: Partial<CopyObjectCommandInput>) =>
    s3.send(new CopyObjectCommand({ Bucket, Key: "copy", CopySource: sourceIn(Bucket), ...more }));
  const past = new Date(Date.now() - 3_600_000);
  for (
    const refused of [
      { CopySourceIfMatch: '"other"' },
      { CopySourceIfNoneMatch: etag },
      { CopySourceIfUnmodifiedSince: past },
    ]
  ) await assertRefusal(copy(refused), 412, "PreconditionFailed");
  await assertRefusal(bench.get("copy"), 404, "NoSuchKey");
  await copy({ CopySourceIfMatch: etag, CopySourceIfModifiedSince: past });
  assertEquals(await bench.text("copy"), "text");
  await assertRefusal(copy({ CopySource: `${Bucket}/absent` }), 404, "NoSuchKey");
  await assertRefusal(copy({ CopySource: "no-such-bucket/key" }), 404, "NoSuchBucket");
});

test("large objects are copied", async (bench) => {
  const bytes = patternBytes(21 * MIB);
  await bench.put("large", bytes);
  const { s3, bucket: Bucket } = bench;
  await s3.send(new CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/large` }));
  assertSameBytes(await bench.get("copy"), bytes);
});

test("the bucket is in the host name", async ({ site }) => {
  if (site.transport !== "https") return;
  const s3 = sdkClient(site, { isHosted: true });
  const Bucket = HOST_BUCKET;
  await s3.send(new CreateBucketCommand({ Bucket }));
  const bench = new S3Bench(site, s3, Bucket);
  const bytes = patternBytes(MIB);
  await bench.put("a b/ключ+1.bin", bytes);
  assertSameBytes(await bench.get("a b/ключ+1.bin"), bytes);
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
  assertEquals(Contents?.map(({ Key }) => Key), ["a b/ключ+1.bin"]);
  s3.destroy();
});
