/**
 * What is stored through S3 is an ordinary file, and every file is an object.
 *
 * @module
 */
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { Upload as ManagedUpload } from "@aws-sdk/lib-storage";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Project } from "../support/admin.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { type Drive, query, uploadParts } from "../support/drive.ts";
import { makeLink, visit } from "../support/sharing/links.ts";
import { assertRefusal, type S3Bench, sdkClient, sdkSuite } from "./support/sdk.ts";

const test = sdkSuite("S3 and the Drive API", ["http"]);

function projectOf({ site }: S3Bench): Project {
  return new Project(site.server, site.projectId, site.projectKey);
}

/** The drive that is the bucket. */
function driveOf(bench: S3Bench): Drive {
  return projectOf(bench).drive(bench.bucket);
}

test.unlikePeer("an object is a file with the same bytes, type and size", async (bench) => {
  const drive = driveOf(bench);
  const bytes = patternBytes(200_000);
  await bench.put("folder/é + 1.bin", bytes, { ContentType: "text/x-test" });
  const answer = (await drive.get("folder/é + 1.bin")).expect(200);
  assertSameBytes(answer.bytes, bytes);
  const [file] = await drive.details();
  assertEquals(file?.name, "folder/é + 1.bin");
  assertEquals([file?.size, file?.content_type], [200_000, "text/x-test"]);
  assertEquals(await drive.usage(), { files: 1, bytes: 200_000 });
  await bench.s3.send(new DeleteObjectCommand({ Bucket: bench.bucket, Key: "folder/é + 1.bin" }));
  (await drive.get("folder/é + 1.bin")).expect(404);
});

test.unlikePeer("a file is an object, whose entity tag is no MD5", async (bench) => {
  const drive = driveOf(bench);
  const bytes = patternBytes(100_000);
  await drive.put("file.txt", bytes, { "Content-Type": "text/plain" });
  assertSameBytes(await bench.get("file.txt"), bytes);
  const { s3, bucket: Bucket } = bench;
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: "file.txt" }));
  assertEquals([head.ContentLength, head.ContentType], [100_000, "text/plain"]);
  // Clients compare MD5s only with tags that have no dash.
  assertMatch(head.ETag ?? "", /^"[^"]+-\d+"$/);
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
  assertEquals(Contents?.map(({ Key, Size, ETag }) => [Key, Size, ETag]), [
    ["file.txt", 100_000, head.ETag],
  ]);
  const get = new GetObjectCommand({ Bucket, Key: "file.txt", IfNoneMatch: head.ETag ?? "" });
  await s3.send(get).then(
    () => assert(false),
    (error) => assertEquals(error.$metadata.httpStatusCode, 304),
  );
  const put = new PutObjectCommand({
    Bucket,
    Key: "file.txt",
    Body: "x",
    IfMatch: head.ETag ?? "",
  });
  await s3.send(put);
  assertEquals(await drive.text("file.txt"), "x");
});

test.unlikePeer("files made of parts on either side", async (bench) => {
  const drive = driveOf(bench);
  const parts = [patternBytes(5 * MIB, 1), patternBytes(6 * MIB, 2)];
  await uploadParts(drive, "by-drive", parts);
  const { s3, bucket: Bucket } = bench;
  const second = await s3.send(new GetObjectCommand({ Bucket, Key: "by-drive", PartNumber: 2 }));
  assertEquals(second.PartsCount, 2);
  assertSameBytes(
    await second.Body?.transformToByteArray() ?? new Uint8Array(),
    parts[1] ?? new Uint8Array(),
  );
  const bytes = patternBytes(25 * MIB, 3);
  const params = { Bucket, Key: "by-s3", Body: bytes };
  await new ManagedUpload({ client: s3, params, partSize: 12 * MIB }).done();
  assertSameBytes((await drive.get("by-s3")).expect(200).bytes, bytes);
  const range = await drive.get("by-s3", { Range: `bytes=${12 * MIB - 1}-${12 * MIB}` });
  assertEquals(range.expect(206).bytes, bytes.slice(12 * MIB - 1, 12 * MIB + 1));
});

test.unlikePeer("drives are buckets, and buckets are drives before they have files", async (bench) => {
  const project = projectOf(bench);
  await project.drive("Not a bucket's name").put("key", "text");
  const { Buckets } = await bench.s3.send(new ListBucketsCommand({}));
  const names = Buckets?.map(({ Name }) => Name) ?? [];
  assert(names.includes("Not a bucket's name") && names.includes(bench.bucket));
  const answer = await project.files("GET", "");
  const { drives } = answer.expect(200).json as { drives: { drive_name: string }[] };
  assert(drives.some(({ drive_name }) => drive_name === bench.bucket));
});

test.unlikePeer("folder markers are the same on both sides", async (bench) => {
  const drive = driveOf(bench);
  await bench.put("by-s3/", "");
  const body = JSON.stringify({ name: "by-drive/" });
  (await drive.send("POST", "/folders", { body })).expect(201);
  const { Contents } = await bench.s3.send(new ListObjectsV2Command({ Bucket: bench.bucket }));
  assertEquals(Contents?.map(({ Key }) => Key), ["by-drive/", "by-s3/"]);
  const answer = await drive.send("GET", "/folders");
  const { folders } = answer.expect(200).json as { folders: unknown[] };
  assertMatch(JSON.stringify(folders), /by-drive\/.*by-s3\//);
  assertEquals(await drive.names(), []);
});

test.unlikePeer("metadata stays with a file that is moved or copied", async (bench) => {
  const drive = driveOf(bench);
  const etag = await bench.put("key", "text", {
    Metadata: { kept: "yes" },
    CacheControl: "no-cache",
  });
  const send = (what: string, to: string) =>
    drive.send("POST", `/files/${what}`, {
      body: JSON.stringify({ from: "key", to }),
    });
  (await send("copy", "copy")).expect(201);
  (await send("move", "moved")).expect(200);
  for (const Key of ["copy", "moved"]) {
    const head = await bench.s3.send(new HeadObjectCommand({ Bucket: bench.bucket, Key }));
    assertEquals([head.Metadata, head.CacheControl, head.ETag], [
      { kept: "yes" },
      "no-cache",
      etag,
    ]);
  }
});

test.unlikePeer("a link reads an object", async (bench) => {
  await bench.put("shared.txt", "text", { ContentType: "text/plain" });
  const { url } = await makeLink(driveOf(bench), { name: "shared.txt" });
  assertEquals((await visit(`${url}?download`)).expect(200).text, "text");
});

test.unlikePeer("deleted and overwritten objects go to the trash", async (bench) => {
  const project = projectOf(bench);
  const drive = driveOf(bench);
  (await project.call("PATCH", "", { body: { trash_days: 30 } })).expect(200);
  try {
    await bench.put("key", "first", { Metadata: { number: "1" } });
    await bench.put("key", "second");
    await bench.s3.send(new DeleteObjectCommand({ Bucket: bench.bucket, Key: "key" }));
    const trash = (await drive.send("GET", "/trash")).expect(200).json as {
      items: { id: string; name: string; size: number; reason: string }[];
    };
    assertEquals(trash.items.map(({ size, reason }) => [size, reason]), [
      [6, "deleted"],
      [5, "replaced"],
    ]);
    const body = JSON.stringify({ ids: [trash.items[1]?.id] });
    (await drive.send("POST", "/trash/restore", { body })).expect(200);
    const { bucket: Bucket } = bench;
    const head = await bench.s3.send(new HeadObjectCommand({ Bucket, Key: "key" }));
    assertEquals([head.ContentLength, head.Metadata], [5, { number: "1" }]);
    await drive.send("DELETE", "/trash", { body: JSON.stringify({ all: true }) });
  } finally {
    (await project.call("PATCH", "", { body: { trash_days: 0 } })).expect(200);
  }
});

test.unlikePeer("the quota counts objects, parts and copies", async (bench) => {
  const project = projectOf(bench);
  const used = (await project.call("GET", "")).expect(200).json as { bytes: number };
  (await project.call("PATCH", "", { body: { max_bytes: used.bytes + 100_000 } })).expect(200);
  try {
    await bench.put("first", patternBytes(60_000));
    const { s3, bucket: Bucket } = bench;
    const over = { Bucket, Key: "second", Body: patternBytes(60_000) };
    const refusal = await s3.send(new PutObjectCommand(over)).then(
      () => undefined,
      (error) => error.$metadata.httpStatusCode,
    );
    assert(refusal >= 400 && refusal !== 500, `${refusal}`);
    await assertRefusal(bench.get("second"), 404, "NoSuchKey");
    await bench.put("third", patternBytes(30_000));
  } finally {
    (await project.call("PATCH", "", { body: { max_bytes: null } })).expect(200);
  }
});

test.unlikePeer("metadata counts as bytes, and objects as files", async (bench) => {
  const project = projectOf(bench);
  const { s3, bucket: Bucket } = bench;
  const usage = async () => {
    const { bytes, files } = (await project.call("GET", "")).expect(200).json as Record<
      "bytes" | "files",
      number
    >;
    return { bytes, files };
  };
  const before = await usage();
  const Metadata = { colour: "r".repeat(994) };
  await s3.send(new PutObjectCommand({ Bucket, Key: "m", Body: "", Metadata }));
  assertEquals(await usage(), { ...before, bytes: before.bytes + 1000, files: before.files + 1 });
  const { bytes, files } = await usage();
  const statusOf = (work: Promise<unknown>) =>
    work.then(() => 200, (error) => error.$metadata.httpStatusCode as number);
  (await project.call("PATCH", "", { body: { max_bytes: bytes + 500, max_files: files + 1 } }))
    .expect(200);
  try {
    const put = (Key: string, extra = {}) =>
      statusOf(s3.send(new PutObjectCommand({ Bucket, Key, Body: "", ...extra })));
    assertEquals(await put("n", { Metadata }), 507);
    const replace = (size: number) =>
      statusOf(s3.send(
        new CopyObjectCommand({
          Bucket,
          Key: "m",
          CopySource: `${Bucket}/m`,
          MetadataDirective: "REPLACE",
          Metadata: { colour: "r".repeat(size) },
        }),
      ));
    assertEquals(await replace(1600), 507);
    assertEquals(await replace(1494), 200);
    assertEquals((await usage()).bytes, bytes + 500);
    assertEquals(await replace(0), 200);
    assertEquals((await usage()).bytes, bytes - 994);
    assertEquals(await put("n"), 200);
    assertEquals(await put("o"), 507);
    assertEquals(
      await statusOf(
        s3.send(new CopyObjectCommand({ Bucket, Key: "o", CopySource: `${Bucket}/m` })),
      ),
      507,
    );
  } finally {
    (await project.call("PATCH", "", { body: { max_bytes: null, max_files: null } })).expect(200);
  }
});

test.unlikePeer("keys with fewer rights may do less", async (bench) => {
  const { site, bucket: Bucket } = bench;
  await bench.put("public/a", "text");
  await bench.put("private", "secret");
  const other = await bench.newBucket();
  const keys = await site.makeKeys({
    permissions: ["read", "list"],
    drives: [Bucket],
    prefix: "public/",
  });
  const s3 = sdkClient(site, { keys });
  const object = await s3.send(new GetObjectCommand({ Bucket, Key: "public/a" }));
  assertEquals(await object.Body?.transformToString(), "text");
  const refusals = [
    () => s3.send(new GetObjectCommand({ Bucket, Key: "private" })),
    () => s3.send(new PutObjectCommand({ Bucket, Key: "public/b", Body: "x" })),
    () => s3.send(new DeleteObjectCommand({ Bucket, Key: "public/a" })),
    () => s3.send(new ListObjectsV2Command({ Bucket: other })),
    () => s3.send(new CreateBucketCommand({ Bucket: "a-new-bucket" })),
    () =>
      s3.send(new CopyObjectCommand({ Bucket, Key: "public/c", CopySource: `${Bucket}/private` })),
  ];
  for (const call of refusals) await assertRefusal(call(), 403, "AccessDenied");
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "public/" }));
  assertEquals(Contents?.map(({ Key }) => Key), ["public/a"]);
  const { Buckets } = await s3.send(new ListBucketsCommand({}));
  assertEquals(Buckets?.map(({ Name }) => Name), [Bucket]);
  s3.destroy();
});

test.unlikePeer("a revoked key is refused", async (bench) => {
  const { site, bucket: Bucket } = bench;
  const keys = await site.makeKeys({});
  const s3 = sdkClient(site, { keys });
  await s3.send(new ListObjectsV2Command({ Bucket }));
  const path = `/s3-keys/${keys.accessKeyId}`;
  (await projectOf(bench).call("DELETE", path)).expect(200);
  await assertRefusal(s3.send(new ListObjectsV2Command({ Bucket })), 403, "InvalidAccessKeyId");
  s3.destroy();
});

test.unlikePeer("a file that expires is no object afterwards", async (bench) => {
  const drive = driveOf(bench);
  const path = `/files${query({ name: "short", expires_in: 1 })}`;
  (await drive.send("POST", path, { body: "text" })).expect(201);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await assertRefusal(bench.get("short"), 404, "NoSuchKey");
  const { Contents } = await bench.s3.send(new ListObjectsV2Command({ Bucket: bench.bucket }));
  assertEquals(Contents, undefined);
});
