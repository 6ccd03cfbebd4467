import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { EXAMPLE_ID, EXAMPLE_TIME, exampleLookup } from "../auth/test_support.ts";
import { type Verified, verifySignature } from "../auth/signature.ts";
import { type S3Code, S3Error } from "../s3_error.ts";
import { CHECKSUM_ALGORITHMS, createChecksum } from "./checksum.ts";
import { checksumHeader, type PayloadDigests } from "./digests.ts";
import { objectEncoding, openPayload, type PayloadOptions } from "./payload.ts";

type BodyOf = Pick<Verified<unknown>, "payload" | "signing">;

const UNSIGNED: BodyOf = { payload: { kind: "unsigned" } };
const CHUNKED: BodyOf = { payload: { kind: "chunked", signed: false, trailer: true } };
const LIMITS: PayloadOptions = { limit: 1_000_000, idle: 60_000 };

function requestOf(body: string, headers: Record<string, string> = {}): Request {
  return new Request("http://s3.example/bucket/key", { method: "PUT", body, headers });
}

/** Reads a body as the store does. */
async function read(
  request: Request,
  verified = UNSIGNED,
  options = LIMITS,
): Promise<{ text: string; digests: PayloadDigests }> {
  const { bytes, finish } = openPayload(request, verified, options);
  const hash = createHash("sha256");
  let text = "";
  let size = 0;
  for await (const piece of bytes) {
    hash.update(piece);
    text += Buffer.from(piece).toString("latin1");
    size += piece.byteLength;
  }
  return { text, digests: finish({ size, sha256: hash.digest("base64") }) };
}

async function refusal(
  request: Request,
  code: S3Code,
  verified = UNSIGNED,
  options = LIMITS,
): Promise<S3Error> {
  const error = await assertRejects(() => read(request, verified, options), S3Error);
  assertEquals(error.code, code, error.message);
  return error;
}

/** A request of the documentation's examples of bodies in chunks. */
async function chunkedExample(
  headers: Record<string, string>,
  seed: string,
  body: string,
): Promise<{ request: Request; verified: BodyOf }> {
  const all: Record<string, string> = {
    host: "s3.amazonaws.com",
    "x-amz-date": "20130524T000000Z",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
    "content-encoding": "aws-chunked",
    "x-amz-decoded-content-length": "66560",
    ...headers,
  };
  const names = Object.keys(all).sort().join(";");
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${EXAMPLE_ID}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${seed}`;
  const verified = await verifySignature(
    {
      method: "PUT",
      path: "/examplebucket/chunkObject.txt",
      query: "",
      headers: Object.entries({ ...all, authorization }),
    },
    exampleLookup,
    EXAMPLE_TIME,
  );
  return { request: requestOf(body, all), verified };
}

function chunk(size: number, signature: string): string {
  return `${size.toString(16)};chunk-signature=${signature}\r\n${"a".repeat(size)}${
    size === 0 ? "" : "\r\n"
  }`;
}

Deno.test("the documentation's example is accepted: PUT object in chunks", async () => {
  const body = chunk(65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648") +
    chunk(1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497") +
    chunk(0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9") + "\r\n";
  const { request, verified } = await chunkedExample(
    { "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "content-length": "66824" },
    "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
    body,
  );
  assertEquals(body.length, 66_824);
  assertEquals((await read(request, verified)).text, "a".repeat(66_560));
});

Deno.test("the documentation's example is accepted: PUT object in chunks with trailers", async () => {
  const body = chunk(65_536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2") +
    chunk(1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7") +
    chunk(0, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992") +
    "x-amz-checksum-crc32c:sOO8/Q==\r\n" +
    "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n";
  const { request, verified } = await chunkedExample(
    {
      "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
      "x-amz-trailer": "x-amz-checksum-crc32c",
    },
    "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
    body,
  );
  const { text, digests } = await read(request, verified);
  assertEquals(text, "a".repeat(66_560));
  assertEquals(digests.checksum, { algorithm: "CRC32C", value: "sOO8/Q==" });
});

Deno.test("the MD5 is always computed, and checksums only when they are asked for", async () => {
  const md5 = createHash("md5").update("hello").digest("hex");
  assertEquals((await read(requestOf("hello"))).digests, { md5 });
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const checksum = createChecksum(algorithm);
    checksum.update(Buffer.from("hello"));
    const value = Buffer.from(checksum.digest()).toString("base64");
    const header = checksumHeader(algorithm);
    const expected = { md5, checksum: { algorithm, value } };
    const named = { [header]: value, "x-amz-sdk-checksum-algorithm": algorithm };
    assertEquals((await read(requestOf("hello", named))).digests, expected);
    const computed = { ...LIMITS, compute: algorithm };
    assertEquals((await read(requestOf("hello"), UNSIGNED, computed)).digests, expected);
    await refusal(requestOf("hallo", named), "BadDigest");
    const inTrailer = { "x-amz-trailer": header, "x-amz-decoded-content-length": "5" };
    const body = (text: string) => `5\r\n${text}\r\n0\r\n${header}:${value}\r\n\r\n`;
    const sent = await read(requestOf(body("hello"), inTrailer), CHUNKED);
    assertEquals(sent.digests, expected);
    await refusal(requestOf(body("hallo"), inTrailer), "BadDigest", CHUNKED);
    const malformed = body("hello").replace(value, "AA==");
    await refusal(requestOf(malformed, inTrailer), "InvalidRequest", CHUNKED);
  }
});

Deno.test("Content-MD5 and the signed SHA-256 are compared", async () => {
  const right = createHash("md5").update("hello").digest("base64");
  await read(requestOf("hello", { "content-md5": right }));
  await refusal(requestOf("hallo", { "content-md5": right }), "BadDigest");
  for (
    const wrong of ["", "x", "AAAA", right.replace("==", ""), `${right}=`, ` ${"A".repeat(30)}`]
  ) {
    await refusal(requestOf("hello", { "content-md5": wrong }), "InvalidDigest");
  }
  const sha256 = createHash("sha256").update("hello").digest("hex");
  const signed: BodyOf = { payload: { kind: "signed", sha256 } };
  await read(requestOf("hello"), signed);
  const error = await refusal(requestOf("hallo"), "XAmzContentSHA256Mismatch", signed);
  assertEquals(error.details["ClientComputedContentSHA256"], sha256);
});

Deno.test("headers of checksums that contradict each other are refused before anything is read", () => {
  const crc32 = { "x-amz-checksum-crc32": "AAAAAA==" };
  const headers: [Record<string, string>, S3Code][] = [
    [{ ...crc32, "x-amz-checksum-crc32c": "AAAAAA==" }, "InvalidRequest"],
    [{ ...crc32, "x-amz-trailer": "x-amz-checksum-crc32" }, "InvalidRequest"],
    [{ "x-amz-checksum-crc32": "AAAA" }, "InvalidRequest"],
    [{ "x-amz-checksum-crc32": "" }, "InvalidRequest"],
    [{ "x-amz-checksum-md4": "AAAA" }, "NotImplemented"],
    [{ ...crc32, "x-amz-sdk-checksum-algorithm": "SHA1" }, "InvalidRequest"],
    [{ "x-amz-sdk-checksum-algorithm": "CRC32" }, "InvalidRequest"],
    [{ "x-amz-trailer": "x-amz-meta-a" }, "InvalidRequest"],
    [{ "x-amz-trailer": "x-amz-checksum-crc32,x-amz-checksum-sha1" }, "InvalidRequest"],
    [{ "x-amz-decoded-content-length": "1e3" }, "InvalidArgument"],
  ];
  for (const [more, code] of headers) {
    const request = requestOf("", { "x-amz-decoded-content-length": "0", ...more });
    const error = assertThrows(() => openPayload(request, CHUNKED, LIMITS), S3Error);
    assertEquals(error.code, code, JSON.stringify(more));
  }
  const trailer = requestOf("", { "x-amz-trailer": "x-amz-checksum-crc32" });
  assertThrows(() => openPayload(trailer, UNSIGNED, LIMITS), S3Error);
  const types = { "x-amz-checksum-type": "FULL_OBJECT", "x-amz-checksum-algorithm": "CRC32" };
  openPayload(requestOf("", types), UNSIGNED, LIMITS);
});

Deno.test("a checksum in the query is ignored: SDKs presign that of an empty body", async () => {
  const url = "http://s3.example/b/k?x-amz-checksum-crc32=AAAAAA%3D%3D";
  const { digests } = await read(new Request(url, { method: "PUT", body: "hello" }));
  assertEquals(digests.checksum, undefined);
});

Deno.test("a checksum of the object is not compared with the body that describes it", async () => {
  const request = requestOf("<xml/>", { "x-amz-checksum-crc32": "AAAAAA==" });
  const { digests } = await read(request, UNSIGNED, { ...LIMITS, hasChecksum: false });
  assertEquals(digests.checksum, undefined);
});

Deno.test("a body over the limit is refused by its announcement, or while it arrives", async () => {
  const limits = { ...LIMITS, limit: 4 };
  await refusal(requestOf("hello", { "content-length": "5" }), "EntityTooLarge", UNSIGNED, limits);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(3)),
  });
  const endless = new Request("http://s3.example/", { method: "PUT", body });
  await refusal(endless, "EntityTooLarge", UNSIGNED, limits);
  const decoded = requestOf("", { "x-amz-decoded-content-length": "5" });
  await refusal(decoded, "EntityTooLarge", CHUNKED, limits);
});

Deno.test("a body in chunks must have its announced length and a bounded overhead", async () => {
  await refusal(requestOf("0\r\n\r\n"), "MissingContentLength", CHUNKED);
  const announced = { "x-amz-decoded-content-length": "50000" };
  await refusal(requestOf("0\r\n\r\n", announced), "IncompleteBody", CHUNKED);
  const small = "1\r\nx\r\n".repeat(50_000) + "0\r\n\r\n";
  await refusal(requestOf(small, announced), "EntityTooLarge", CHUNKED);
});

Deno.test("a payload cannot be finished before its end or with another length", async () => {
  const sha256 = createHash("sha256").update("hello").digest("base64");
  const unread = openPayload(requestOf("hello"), UNSIGNED, LIMITS);
  assertThrows(() => unread.finish({ size: 0, sha256 }), S3Error);
  const headers = { "content-length": "5" };
  const { bytes, announced, finish } = openPayload(requestOf("hello", headers), UNSIGNED, LIMITS);
  assertEquals(announced, 5);
  for await (const _ of bytes); // Drained.
  assertThrows(() => finish({ size: 4, sha256 }), S3Error);
  finish({ size: 5, sha256 });
});

Deno.test("aws-chunked is not part of the object's encoding", () => {
  assertEquals(objectEncoding(null), undefined);
  assertEquals(objectEncoding("aws-chunked"), undefined);
  assertEquals(objectEncoding("AWS-Chunked, gzip"), "gzip");
  assertEquals(objectEncoding("gzip,aws-chunked"), "gzip");
  assertEquals(objectEncoding("gzip , br"), "gzip, br");
});

Deno.test("Chunks of one byte are passed on together", async () => {
  const text = `${"1\r\nx\r\n".repeat(1000)}0\r\n\r\n`;
  const headers = { "x-amz-decoded-content-length": "1000" };
  const { bytes } = openPayload(requestOf(text, headers), CHUNKED, LIMITS);
  const sizes = await Array.fromAsync(bytes, ({ byteLength }) => byteLength);
  assertEquals(sizes, [1000]);
});
