/**
 * What deviates from a signed request is refused before anything is stored.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Answer } from "../support/answer.ts";
import { assertSameBytes, patternBytes, utf8 } from "../support/bytes.ts";
import { assertRefusal, type S3Bench, sdkSuite } from "./support/sdk.ts";
import {
  type RawS3,
  sendRaw,
  sendSigned,
  sign,
  type Signed,
  signedChunks,
} from "./support/raw_s3.ts";
import { REGION } from "./support/site.ts";

const test = sdkSuite("Signatures");

const MINUTE = 60_000;

/** The upload of a text to the key `key`. */
function upload({ bucket }: S3Bench, more: Partial<RawS3> = {}): RawS3 {
  return { method: "PUT", path: `/${bucket}/key`, body: utf8("text"), ...more };
}

/** Sends a changed request, which must be refused with one of some codes and store nothing. */
async function assertRefused(
  bench: S3Bench,
  signed: Signed,
  status: number,
  ...codes: string[]
): Promise<void> {
  const answer = await sendSigned(bench.site, signed);
  assertCode(answer, status, ...codes);
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
}

function assertCode(answer: Answer, status: number, ...codes: string[]): void {
  const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(answer.expect(status).text) ?? [];
  assert(codes.includes(code), answer.text);
  assertStringIncludes(answer.header("Content-Type"), "xml");
}

test("a signed upload is stored", async (bench) => {
  (await sendRaw(bench.site, upload(bench))).expect(200);
  assertEquals(await bench.text("key"), "text");
  (await sendRaw(bench.site, upload(bench, { payload: "UNSIGNED-PAYLOAD" }))).expect(200);
});

test("a changed request is refused", async (bench) => {
  const signed = sign(bench.site, upload(bench, { headers: { "x-amz-meta-a": "1" } }));
  const { headers } = signed;
  const Authorization = headers.Authorization ?? "";
  const wrong: Partial<Signed>[] = [
    { url: `${signed.url}?acl` },
    { url: signed.url.replace("/key", "/other") },
    { headers: { ...headers, "x-amz-meta-a": "2" } },
    {
      headers: {
        ...headers,
        Authorization: Authorization.replace(/.$/, (c) => c === "0" ? "1" : "0"),
      },
    },
    { headers: { ...headers, Authorization: Authorization.replace(REGION, "eu-west-1") } },
  ];
  const codes = ["SignatureDoesNotMatch", "AccessDenied", "AuthorizationHeaderMalformed"];
  for (const change of wrong) {
    const answer = await sendSigned(bench.site, { ...signed, ...change });
    assert([400, 403].includes(answer.status), `${answer.status} ${JSON.stringify(change)}`);
    assertCode(answer, answer.status, ...codes);
  }
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
  await assertRefusal(bench.get("other"), 404, "NoSuchKey");
});

test.unlikePeer("a header of the protocol that is not signed is refused", async (bench) => {
  const signed = sign(bench.site, upload(bench));
  const headers = { ...signed.headers, "x-amz-meta-b": "not signed" };
  await assertRefused(bench, { ...signed, headers }, 403, "AccessDenied");
});

test("a changed body is refused", async (bench) => {
  const signed = sign(bench.site, upload(bench));
  const changed = { ...signed, body: utf8("tExt") };
  await assertRefused(bench, changed, 400, "XAmzContentSHA256Mismatch");
  const large = patternBytes(300_000);
  const half = sign(bench.site, upload(bench, { body: large }));
  const other = Uint8Array.from(large);
  other[299_999] = (other[299_999] ?? 0) ^ 1;
  await assertRefused(bench, { ...half, body: other }, 400, "XAmzContentSHA256Mismatch");
});

test("a clock may be 15 minutes off", async (bench) => {
  for (const minutes of [-14, 14]) {
    const time = new Date(Date.now() + minutes * MINUTE);
    (await sendRaw(bench.site, upload(bench, { path: `/${bench.bucket}/other`, time }))).expect(
      200,
    );
  }
  for (const minutes of [-16, 16]) {
    const time = new Date(Date.now() + minutes * MINUTE);
    const signed = sign(bench.site, upload(bench, { time }));
    await assertRefused(bench, signed, 403, "RequestTimeTooSkewed");
  }
});

test("requests without a valid signature are refused", async (bench) => {
  const { site, bucket } = bench;
  const signed = sign(site, upload(bench));
  const { Authorization: _, ...unsigned } = signed.headers;
  await assertRefused(bench, { ...signed, headers: unsigned }, 403, "AccessDenied");
  for (const value of ["Bearer abc", "AWS key:signature", "AWS4-HMAC-SHA256 Credential=x"]) {
    const headers = { ...unsigned, Authorization: value };
    const answer = await sendSigned(site, { ...signed, headers });
    assert([400, 403].includes(answer.status), `${answer.status} ${value}`);
  }
  const keys = { accessKeyId: "KV000000000000000000", secretAccessKey: "x".repeat(40) };
  assertCode(await sendRaw(site, upload(bench, { keys })), 403, "InvalidAccessKeyId");
  const secret = { ...site.keys, secretAccessKey: "x".repeat(40) };
  const wrong = await sendRaw(site, upload(bench, { keys: secret }));
  assertCode(wrong, 403, "SignatureDoesNotMatch");
  assert(!wrong.text.includes(site.keys.secretAccessKey));
  const list = await sendRaw(site, { method: "GET", path: `/${bucket}`, keys: secret });
  assertCode(list, 403, "SignatureDoesNotMatch");
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
});

/** An upload in chunks. */
function chunked(
  bench: S3Bench,
  bytes: Uint8Array<ArrayBuffer>,
  payload: string,
  headers: Record<string, string> = {},
): Signed {
  return sign(
    bench.site,
    upload(bench, {
      body: bytes,
      payload,
      headers: {
        "content-encoding": "aws-chunked",
        "x-amz-decoded-content-length": String(bytes.length),
        ...headers,
      },
    }),
  );
}

const SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
const UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

function pieces(bytes: Uint8Array<ArrayBuffer>): Uint8Array[] {
  return [bytes.subarray(0, 65_536), bytes.subarray(65_536, 131_072), bytes.subarray(131_072)];
}

test("signed chunks are stored without their frame", async (bench) => {
  const bytes = patternBytes(150_000);
  const signed = chunked(bench, bytes, SIGNED);
  const body = signedChunks(signed, pieces(bytes));
  (await sendSigned(bench.site, { ...signed, body })).expect(200);
  assertSameBytes(await bench.get("key"), bytes);
  const head = await sendRaw(bench.site, { method: "HEAD", path: `/${bench.bucket}/key` });
  assert(!(head.headers.get("Content-Encoding") ?? "").includes("aws-chunked"));
});

test.unlikePeer("a changed, missing or additional chunk is refused", async (bench) => {
  const bytes = patternBytes(150_000);
  const signed = chunked(bench, bytes, SIGNED);
  const [one = bytes, two = bytes, three = bytes] = pieces(bytes);
  const whole = signedChunks(signed, [one, two, three]);
  const flipped = Uint8Array.from(whole);
  flipped[100_000] = (flipped[100_000] ?? 0) ^ 1;
  const refused = ["SignatureDoesNotMatch", "IncompleteBody", "InvalidRequest", "InvalidArgument"];
  for (
    const body of [
      flipped,
      signedChunks(signed, [one, three]),
      swapped(whole),
      signedChunks(signed, [one, two, three, one]),
      whole.slice(0, 140_000),
      bytes,
    ]
  ) {
    const answer = await sendSigned(bench.site, { ...signed, body });
    assert([400, 403].includes(answer.status), `${answer.status} ${answer.text}`);
    assertCode(answer, answer.status, ...refused, "InvalidChunkSizeError", "MalformedTrailerError");
  }
  await assertRefusal(bench.get("key"), 404, "NoSuchKey");
});

/** The first two chunks of 65,536 bytes in the other order, each with its signature. */
function swapped(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const size = body.indexOf(10) + 1 + 65_536 + 2;
  return new Uint8Array(
    Buffer.concat([body.subarray(size, 2 * size), body.subarray(0, size), body.subarray(2 * size)]),
  );
}

/** The CRC-32 of bytes in base64. */
function crcOf(bytes: Uint8Array): string {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(crc32(bytes));
  return buffer.toString("base64");
}

test("a trailer has a checksum, which is checked", async (bench) => {
  const bytes = patternBytes(150_000);
  const announced = { "x-amz-trailer": "x-amz-checksum-crc32" };
  const signed = chunked(bench, bytes, SIGNED_TRAILER, announced);
  const wrong = signedChunks(signed, pieces(bytes), "x-amz-checksum-crc32:AAAAAA==");
  await assertRefused(
    bench,
    { ...signed, body: wrong },
    400,
    "BadDigest",
    "XAmzContentChecksumMismatch",
  );
  const right = signedChunks(signed, pieces(bytes), `x-amz-checksum-crc32:${crcOf(bytes)}`);
  (await sendSigned(bench.site, { ...signed, body: right })).expect(200);
  assertSameBytes(await bench.get("key"), bytes);
});

test("chunks without signatures end with a checksum", async (bench) => {
  const bytes = patternBytes(70_000);
  const algorithm = { "x-amz-trailer": "x-amz-checksum-sha256" };
  const signed = chunked(bench, bytes, UNSIGNED_TRAILER, algorithm);
  const frame = (sum: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.concat([
      utf8(`${(65_536).toString(16)}\r\n`),
      bytes.subarray(0, 65_536),
      utf8(`\r\n${(70_000 - 65_536).toString(16)}\r\n`),
      bytes.subarray(65_536),
      utf8(`\r\n0\r\nx-amz-checksum-sha256:${sum}\r\n\r\n`),
    ]));
  const sum = createHash("sha256").update(bytes).digest("base64");
  const other = createHash("sha256").update("other").digest("base64");
  await assertRefused(
    bench,
    { ...signed, body: frame(other) },
    400,
    "BadDigest",
    "XAmzContentChecksumMismatch",
  );
  (await sendSigned(bench.site, { ...signed, body: frame(sum) })).expect(200);
  assertSameBytes(await bench.get("key"), bytes);
});

const GREETING = "Grüße, 日本";
const ENCODED = `=?UTF-8?B?${Buffer.from(GREETING).toString("base64")}?=`;

test("metadata that is not ASCII comes back, however it is sent", async (bench) => {
  const { site, bucket } = bench;
  // The bytes of UTF-8, which some clients send as they are.
  const bytes = Buffer.from(GREETING).toString("latin1");
  for (const value of [ENCODED, bytes]) {
    const request = upload(bench, { headers: { "x-amz-meta-text": value } });
    (await sendRaw(site, request)).expect(200);
    const head = await sendRaw(site, { method: "HEAD", path: `/${bucket}/key` });
    const answer = head.expect(200).header("x-amz-meta-text");
    assert([ENCODED.toLowerCase(), bytes.toLowerCase()].includes(answer.toLowerCase()), answer);
  }
});
