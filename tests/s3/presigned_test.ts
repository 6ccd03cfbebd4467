/**
 * URLs and forms that the SDK for JavaScript presigns, used by clients without a key.
 *
 * @module
 */
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { Answer } from "../support/answer.ts";
import { assertSameBytes, MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { assertRefusal, type S3Bench, sdkClient, sdkSuite } from "./support/sdk.ts";
import { plainFetch } from "./support/site.ts";

const test = sdkSuite("Presigned requests");

/** Sends a request without any key. */
async function send({ site }: S3Bench, url: string, init: RequestInit = {}): Promise<Answer> {
  const client = site.client === undefined ? {} : { client: site.client };
  return await Answer.of(await plainFetch(url, { ...init, ...client }));
}

function assertCode(answer: Answer, status: number, code: string): void {
  answer.expect(status);
  assertStringIncludes(answer.text, `<Code>${code}</Code>`);
}

test("a presigned URL reads an object, with headers that it names", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const Key = "a b/é+%.txt";
  await bench.put(Key, "text", { ContentType: "text/plain" });
  const command = new GetObjectCommand({
    Bucket,
    Key,
    ResponseContentType: "image/png",
    ResponseContentDisposition: 'attachment; filename="ü.png"',
  });
  const url = await getSignedUrl(s3, command, { expiresIn: 60 });
  const answer = (await send(bench, url)).expect(200);
  assertEquals([answer.text, answer.header("Content-Type")], ["text", "image/png"]);
  const range = await send(bench, url, { headers: { Range: "bytes=1-2" } });
  assertEquals(range.expect(206).text, "ex");
  assertCode(await send(bench, url, { method: "DELETE" }), 403, "SignatureDoesNotMatch");
});

test("a presigned URL stores an object", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const command = new PutObjectCommand({ Bucket, Key: "key" });
  const url = await getSignedUrl(s3, command, { expiresIn: 60 });
  const bytes = patternBytes(3 * MIB);
  const answer = await send(bench, url, { method: "PUT", body: bytes });
  assertMatch(answer.expect(200).header("ETag"), /^"[0-9a-f]{32}"$/);
  assertSameBytes(await bench.get("key"), bytes);
  assertCode(await send(bench, url), 403, "SignatureDoesNotMatch");
});

test("a presigned URL stores a part", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const place = { Bucket, Key: "parts" };
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(place));
  const command = new UploadPartCommand({ ...place, UploadId, PartNumber: 1 });
  const url = await getSignedUrl(s3, command, { expiresIn: 60 });
  (await send(bench, url, { method: "PUT", body: patternBytes(100) })).expect(200);
});

test("a presigned URL stores what the command says of the object", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  const place = { Bucket, Key: "described" };
  const command = new PutObjectCommand({
    ...place,
    ContentType: "text/x-described",
    ACL: "private",
    StorageClass: "STANDARD",
    Metadata: { color: "red", "two-words": "a b+c&d=%41" },
  });
  const url = await getSignedUrl(s3, command, { expiresIn: 60 });
  assertStringIncludes(url, "x-amz-meta-color=red");
  const headers = { "Content-Type": "text/x-described" };
  (await send(bench, url, { method: "PUT", body: "text", headers })).expect(200);
  const head = await s3.send(new HeadObjectCommand(place));
  assertEquals([head.ContentType, head.Metadata], [
    "text/x-described",
    { color: "red", "two-words": "a b+c&d=%41" },
  ]);
});

test("a presigned URL copies an object", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("from", "text");
  const source = { CopySource: `${Bucket}/from` };
  const url = await getSignedUrl(s3, new CopyObjectCommand({ Bucket, Key: "to", ...source }));
  (await send(bench, url, { method: "PUT" })).expect(200);
  assertEquals(await bench.text("to"), "text");
});

test("a presigned URL that asks for what the server does not do stores nothing", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  for (
    const [own, code] of [
      [{ ACL: "public-read" }, "NotImplemented"],
      [{ Tagging: "a=b" }, "NotImplemented"],
      [{ StorageClass: "GLACIER" }, "InvalidStorageClass"],
    ] as const
  ) {
    const command = new PutObjectCommand({ Bucket, Key: "refused", ...own });
    const answer = await send(bench, await getSignedUrl(s3, command), {
      method: "PUT",
      body: "text",
    });
    assertStringIncludes(answer.text, `<Code>${code}</Code>`);
  }
  await assertRefusal(bench.get("refused"), 404, "NoSuchKey");
});

test("a presigned URL cannot be changed", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("key", "text");
  await bench.put("other", "secret");
  const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: "key" }), {
    expiresIn: 60,
  });
  for (
    const changed of [
      url.replace("/key?", "/other?"),
      url.replace("X-Amz-Expires=60", "X-Amz-Expires=61"),
      `${url}&response-content-type=text%2Fhtml`,
      url.replace(/(X-Amz-Signature=)./, "$1x"),
      url.replace(
        /(X-Amz-Signature=.{63})./,
        (all, before) => before + (all.endsWith("0") ? "1" : "0"),
      ),
    ]
  ) {
    assert(changed !== url);
    assertCode(await send(bench, changed), 403, "SignatureDoesNotMatch");
  }
  assertEquals((await send(bench, url)).expect(200).text, "text");
});

test("a presigned URL expires, and is valid for a week at most", async (bench) => {
  const { s3, bucket: Bucket } = bench;
  await bench.put("key", "text");
  const command = new GetObjectCommand({ Bucket, Key: "key" });
  const url = await getSignedUrl(s3, command, { expiresIn: 1 });
  await delay(2100);
  const expired = await send(bench, url);
  assertCode(expired, 403, "AccessDenied");
  const week = await getSignedUrl(s3, command, { expiresIn: 604_800 });
  assertEquals((await send(bench, week)).expect(200).text, "text");
  const long = week.replace("X-Amz-Expires=604800", "X-Amz-Expires=604801");
  assertCode(await send(bench, long), 400, "AuthorizationQueryParametersError");
});

test("a key that does not exist signs nothing", async (bench) => {
  const { site, bucket: Bucket } = bench;
  const keys = { accessKeyId: "KV000000000000000000", secretAccessKey: "x".repeat(40) };
  const s3 = sdkClient(site, { keys });
  const command = new GetObjectCommand({ Bucket, Key: "key" });
  assertCode(await send(bench, await getSignedUrl(s3, command)), 403, "InvalidAccessKeyId");
  s3.destroy();
});

/** A form that the SDK signed, and what a browser sends with it. */
async function post(
  bench: S3Bench,
  options: Omit<PresignedPostOptions, "Bucket">,
  file: Uint8Array<ArrayBuffer>,
  change: (form: FormData) => void = () => {},
): Promise<Answer> {
  const { url, fields } = await createPresignedPost(bench.s3, { Bucket: bench.bucket, ...options });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  change(form);
  form.append("file", new Blob([file]), "été.txt");
  return await send(bench, url, { method: "POST", body: form, redirect: "manual" });
}

test("a form stores a file", async (bench) => {
  const bytes = patternBytes(2 * MIB);
  const answer = await post(
    bench,
    {
      Key: "form/é.txt",
      Fields: { "Content-Type": "text/x-form", "x-amz-meta-from": "a form" },
      Conditions: [["content-length-range", 1, 3 * MIB], ["starts-with", "$x-amz-meta-from", "a"]],
    },
    bytes,
  );
  answer.expect(204);
  assertSameBytes(await bench.get("form/é.txt"), bytes);
  const { bucket: Bucket, s3 } = bench;
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: "form/é.txt" }));
  assertEquals([head.ContentType, head.Metadata], ["text/x-form", { from: "a form" }]);
});

test("a form chooses the name of its file and the answer", async (bench) => {
  const answer = await post(
    bench,
    {
      Key: "uploads/${filename}",
      Fields: { success_action_status: "201" },
      Conditions: [["starts-with", "$key", "uploads/"]],
    },
    utf8("text"),
  );
  assertMatch(answer.expect(201).text, /<Key>uploads\/été.txt<\/Key>/);
  assertEquals(await bench.text("uploads/été.txt"), "text");
  const target = "http://127.0.0.1:9/done";
  const redirected = await post(
    bench,
    { Key: "redirected", Fields: { success_action_redirect: target } },
    utf8("text"),
  );
  assertMatch(redirected.expect(303).header("Location"), /^http:\/\/127\.0\.0\.1:9\/done\?.*key=/);
});

test("a form that its policy does not allow stores nothing", async (bench) => {
  const limit = { Key: "key", Conditions: [["content-length-range", 1, 10]] };
  const options = limit as Omit<PresignedPostOptions, "Bucket">;
  assertCode(await post(bench, options, patternBytes(11)), 400, "EntityTooLarge");
  assertCode(await post(bench, options, patternBytes(0)), 400, "EntityTooSmall");
  const other = await post(bench, options, utf8("text"), (form) => form.set("key", "other"));
  assertCode(other, 403, "AccessDenied");
  const extra = await post(
    bench,
    options,
    utf8("text"),
    (form) => form.append("x-amz-meta-extra", "not in the policy"),
  );
  assertCode(extra, 403, "AccessDenied");
  const forged = await post(bench, options, utf8("text"), (form) => {
    const policy = JSON.parse(atob(String(form.get("Policy"))));
    policy.conditions = policy.conditions.filter((one: unknown) => !Array.isArray(one));
    form.set("Policy", btoa(JSON.stringify(policy)));
  });
  assertCode(forged, 403, "SignatureDoesNotMatch");
  const expired = await post(bench, { Key: "key", Expires: -10 }, utf8("text"));
  assertCode(expired, 403, "AccessDenied");
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
});
