import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { S3Bench, type TestRequest } from "./test_support.ts";
import { childrenNamed, childText, type XmlNode } from "../xml/xml_reader.ts";

const EMPTY_TAG = '"d41d8cd98f00b204e9800998ecf8427e"';

async function status(
  bench: S3Bench,
  method: string,
  path: string,
  request: TestRequest = {},
): Promise<number> {
  const response = await bench.send(method, path, request);
  await response.body?.cancel();
  return response.status;
}

/** Stores an object of one part. Returns the part's entity tag. */
async function putInPart(
  bench: S3Bench,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const started = await bench.ask("POST", path, { query: "uploads", headers });
  const id = childText(started, "UploadId");
  const part = await bench.send("PUT", path, { query: `partNumber=1&uploadId=${id}`, body });
  const tag = part.headers.get("etag");
  const document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>" +
    `<ETag>${tag}</ETag></Part></CompleteMultipartUpload>`;
  await bench.ask("POST", path, { query: `uploadId=${id}`, body: document });
}

function onlyChild(node: XmlNode, name: string): XmlNode {
  const [child] = childrenNamed(node, name);
  if (child === undefined) throw new Error(`There is no ${name}`);
  return child;
}

Deno.test("A client may say whose bucket it expects", () =>
  S3Bench.use(async (bench) => {
    const owner = (id: string) => ({ headers: { "x-amz-expected-bucket-owner": id } });
    assertEquals(await status(bench, "HEAD", "/photos", owner("p")), 200);
    assertEquals(await status(bench, "HEAD", "/photos", owner("other")), 403);
    assertEquals(
      await bench.fail("PUT", "/photos/a", { body: "x", ...owner("q") }),
      "AccessDenied",
    );
    await bench.send("PUT", "/photos/a", { body: "x", ...owner("p") });
    const copy = { "x-amz-copy-source": "photos/a", "x-amz-source-expected-bucket-owner": "q" };
    assertEquals(await bench.fail("PUT", "/photos/b", { headers: copy }), "AccessDenied");
  }));

Deno.test("Object attributes list the parts in the form that SDKs read, also a single part", () =>
  S3Bench.use(async (bench) => {
    await putInPart(bench, "/photos/big", "hello", { "x-amz-checksum-algorithm": "CRC32" });
    await bench.send("PUT", "/photos/plain", { body: "hello" });
    const headers = { "x-amz-object-attributes": "ETag,ObjectParts,Checksum" };
    const ask = { query: "attributes", headers };
    const attributes = await bench.ask("GET", "/photos/big", ask);
    const parts = onlyChild(attributes, "ObjectParts");
    assertEquals(childText(parts, "PartsCount"), "1");
    assertEquals(childText(onlyChild(parts, "Part"), "Size"), "5");
    const checksum = onlyChild(attributes, "Checksum");
    assertEquals(childText(checksum, "ChecksumType"), "COMPOSITE");
    const plain = await bench.ask("GET", "/photos/plain", ask);
    assertEquals(childrenNamed(plain, "ObjectParts"), []);
    const bad = { query: "attributes", headers: { ...headers, "x-amz-max-parts": "x" } };
    assertEquals(await bench.fail("GET", "/photos/big", bad), "InvalidArgument");
    await bench.send("PUT", "/photos/folder/", { body: "" });
    const folder = await bench.ask("GET", "/photos/folder/", ask);
    assertEquals(childText(folder, "ETag"), EMPTY_TAG.replaceAll('"', ""));
    assertEquals(await bench.fail("GET", "/photos/none/", ask), "NoSuchKey");
    const one = await bench.send("HEAD", "/photos/plain", { query: "partNumber=1" });
    assertEquals([one.status, one.headers.get("x-amz-mp-parts-count")], [206, null]);
  }));

Deno.test("A part is sent with its own checksum, and a response without bytes has none", () =>
  S3Bench.use(async (bench) => {
    const one = new Uint8Array(5 * 2 ** 20).fill(1);
    const two = new Uint8Array(10).fill(2);
    const value = (bytes: Uint8Array) => {
      const crc = Buffer.alloc(4);
      crc.writeUInt32BE(crc32(bytes));
      return crc.toString("base64");
    };
    const chosen = { headers: { "x-amz-checksum-algorithm": "CRC32" } };
    const started = await bench.ask("POST", "/photos/big", { query: "uploads", ...chosen });
    const id = childText(started, "UploadId");
    let list = "";
    for (const [i, body] of [one, two].entries()) {
      const query = `partNumber=${i + 1}&uploadId=${id}`;
      const { headers } = await bench.send("PUT", "/photos/big", { query, body });
      list += `<Part><PartNumber>${i + 1}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`;
    }
    const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
    await bench.ask("POST", "/photos/big", { query: `uploadId=${id}`, body });
    const enabled = { "x-amz-checksum-mode": "ENABLED" };
    for (const [i, bytes] of [one, two].entries()) {
      const query = `partNumber=${i + 1}`;
      const response = await bench.send("GET", "/photos/big", { query, headers: enabled });
      await response.body?.cancel();
      assertEquals(response.headers.get("x-amz-checksum-crc32"), value(bytes));
      assertEquals(response.headers.get("x-amz-checksum-type"), "COMPOSITE");
    }
    const asked = { query: "attributes", headers: { "x-amz-object-attributes": "ObjectParts" } };
    const parts = onlyChild(await bench.ask("GET", "/photos/big", asked), "ObjectParts");
    const told = childrenNamed(parts, "Part").map((part) => childText(part, "ChecksumCRC32"));
    assertEquals(told, [one, two].map(value));
    const headers = { ...enabled, "if-none-match": "*" };
    const unchanged = await bench.send("GET", "/photos/big", { headers });
    assertEquals([unchanged.status, unchanged.headers.get("x-amz-checksum-crc32")], [304, null]);
  }));

Deno.test("Conditions on objects that do not exist", () =>
  S3Bench.use(async (bench) => {
    const headers = { "if-match": '"x"' };
    assertEquals(await status(bench, "DELETE", "/photos/none", { headers }), 204);
    assertEquals(await status(bench, "DELETE", "/photos/none/", { headers }), 204);
    const started = await bench.ask("POST", "/photos/a", { query: "uploads" });
    const id = childText(started, "UploadId");
    await bench.send("PUT", "/photos/a", { query: `partNumber=1&uploadId=${id}`, body: "x" });
    const tag = createHash("md5").update("x").digest("hex");
    const body = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>" +
      `<ETag>${tag}</ETag></Part></CompleteMultipartUpload>`;
    const complete = { query: `uploadId=${id}`, body, headers };
    assertEquals(await bench.fail("POST", "/photos/a", complete), "NoSuchKey");
    await bench.send("PUT", "/photos/a", { body: "y" });
    assertEquals(await bench.fail("POST", "/photos/a", complete), "PreconditionFailed");
    assertEquals(await bench.fail("DELETE", "/photos/a", { headers }), "PreconditionFailed");
  }));

Deno.test("Conditions that are not checked are refused", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    for (const name of ["x-amz-if-match-size", "x-amz-if-match-last-modified-time"]) {
      const headers = { [name]: "1" };
      assertEquals(await bench.fail("DELETE", "/photos/a", { headers }), "NotImplemented");
    }
    const body = "<Delete><Object><Key>a</Key><Size>7</Size></Object></Delete>";
    const result = await bench.ask("POST", "/photos", { query: "delete", body });
    assertEquals(childText(onlyChild(result, "Error"), "Code"), "NotImplemented");
    assertEquals(await status(bench, "HEAD", "/photos/a"), 200);
  }));

Deno.test("Markers of folders are copied, and obey conditions", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/old/", { body: "" });
    await bench.send("PUT", "/photos/file", { body: "x" });
    const copy = (source: string, more: Record<string, string> = {}) => ({
      headers: { "x-amz-copy-source": `photos/${source}`, ...more },
    });
    const copied = await bench.ask("PUT", "/photos/new/", copy("old/"));
    assertEquals(childText(copied, "ETag"), EMPTY_TAG);
    assertEquals(await status(bench, "HEAD", "/photos/new/"), 200);
    assertEquals(await bench.fail("PUT", "/photos/b/", copy("none/")), "NoSuchKey");
    assertEquals(await bench.fail("PUT", "/photos/b/", copy("file")), "InvalidRequest");
    assertEquals(await bench.fail("PUT", "/photos/b", copy("old/")), "InvalidRequest");
    const exists = { "if-none-match": "*" };
    assertEquals(
      await bench.fail("PUT", "/photos/new/", copy("old/", exists)),
      "PreconditionFailed",
    );
    const again = { body: "", headers: exists };
    assertEquals(await bench.fail("PUT", "/photos/old/", again), "PreconditionFailed");
    const wrong = { headers: { "if-match": '"x"' } };
    assertEquals(await bench.fail("DELETE", "/photos/old/", wrong), "PreconditionFailed");
    const right = { headers: { "if-match": EMPTY_TAG } };
    assertEquals(await status(bench, "DELETE", "/photos/old/", right), 204);
  }));

Deno.test("A bucket with open uploads can be deleted", () =>
  S3Bench.use(async (bench) => {
    await bench.ask("POST", "/photos/a", { query: "uploads" });
    assertEquals(await status(bench, "DELETE", "/photos"), 204);
    assertEquals(await bench.fail("GET", "/photos", { query: "uploads" }), "NoSuchBucket");
  }));

Deno.test("Parameters of lists may be empty, and names in lists of uploads are encoded", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    const empty = "list-type=2&continuation-token=&start-after=&prefix=&delimiter=&max-keys=" +
      "&encoding-type=";
    const page = await bench.ask("GET", "/photos", { query: empty });
    assertEquals(childrenNamed(page, "Contents").length, 1);
    assertEquals(childText(page, "ContinuationToken"), "");
    const started = await bench.ask("POST", "/photos/a%7F%21%20b", { query: "uploads" });
    const id = childText(started, "UploadId");
    const encoding = "encoding-type=url";
    const uploads = await bench.ask("GET", "/photos", { query: `uploads&${encoding}` });
    assertEquals(childText(onlyChild(uploads, "Upload"), "Key"), "a%7F%21%20b");
    assertEquals(childrenNamed(uploads, "Delimiter"), []);
    const path = "/photos/a%7F%21%20b";
    const parts = await bench.ask("GET", path, { query: `uploadId=${id}&${encoding}` });
    assertEquals(childText(parts, "Key"), "a%7F%21%20b");
    const none = await bench.ask("GET", path, { query: `uploadId=${id}&${encoding}&max-parts=0` });
    assertEquals([childText(none, "MaxParts"), childText(none, "IsTruncated")], ["0", "false"]);
  }));

Deno.test("Names of new buckets are host names", () =>
  S3Bench.use(async (bench) => {
    for (
      const name of ["a", "ab", "foo..bar", "foo.-bar", "foo-.bar", "192.168.5.4", "-ab", "ab-"]
    ) {
      assertEquals(await bench.fail("PUT", `/${name}`), "InvalidBucketName", name);
    }
    assertEquals(await bench.fail("PUT", `/${"a".repeat(64)}`), "InvalidBucketName");
    for (const name of ["abc", "a.b", "foo-bar.1", "a".repeat(63)]) {
      assertEquals(await status(bench, "PUT", `/${name}`), 200, name);
    }
  }));

Deno.test("Numbers in parameters have limits", () =>
  S3Bench.use(async (bench) => {
    await bench.send("PUT", "/photos/a", { body: "x" });
    const started = await bench.ask("POST", "/photos/a", { query: "uploads" });
    const upload = `uploadId=${childText(started, "UploadId")}`;
    for (const part of ["0", "-1", "10001", "x", ""]) {
      const query = `partNumber=${part}`;
      assertEquals(await bench.fail("GET", "/photos/a", { query }), "InvalidArgument", part);
      const sent = { query: `${query}&${upload}`, body: "x" };
      assertEquals(await bench.fail("PUT", "/photos/a", sent), "InvalidArgument", part);
    }
    assertEquals(
      await bench.fail("PUT", "/photos/a", { query: upload, body: "x" }),
      "InvalidArgument",
    );
    assertEquals(await bench.fail("GET", "/", { query: "max-buckets=0" }), "InvalidArgument");
    assertEquals(await status(bench, "GET", "/", { query: "max-buckets=10000" }), 200);
  }));

Deno.test("Calls about an upload in a bucket that does not exist get NoSuchBucket", () =>
  S3Bench.use(async (bench) => {
    const document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag>" +
      "</Part></CompleteMultipartUpload>";
    const calls: [method: string, query: string, body?: string][] = [
      ["PUT", "partNumber=1&uploadId=x", "x"],
      ["POST", "uploadId=x", document],
      ["DELETE", "uploadId=x"],
      ["GET", "uploadId=x"],
    ];
    for (const [method, query, body] of calls) {
      assertEquals(await bench.fail(method, "/none/a", { query, body }), "NoSuchBucket", method);
      assertEquals(await bench.fail(method, "/photos/a", { query, body }), "NoSuchUpload", method);
    }
  }));

Deno.test("The checksum of a completed upload has the type that the upload was started with", () =>
  S3Bench.use(async (bench) => {
    const headers = { "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "FULL_OBJECT" };
    const started = await bench.ask("POST", "/photos/a", { query: "uploads", headers });
    const query = `uploadId=${childText(started, "UploadId")}`;
    const sent = { query: `partNumber=1&${query}`, body: "x" };
    const part = await bench.send("PUT", "/photos/a", sent);
    const body = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>" +
      `<ETag>${part.headers.get("etag")}</ETag></Part></CompleteMultipartUpload>`;
    const other = { query, body, headers: { "x-amz-checksum-type": "COMPOSITE" } };
    assertEquals(await bench.fail("POST", "/photos/a", other), "InvalidRequest");
    assertEquals(await status(bench, "POST", "/photos/a", { query, body }), 200);
  }));
