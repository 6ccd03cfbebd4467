import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { ChunkSignatures, type ChunkSigning, sha256Hex } from "../auth/signing_key.ts";
import { type S3Code, S3Error } from "../s3_error.ts";
import { ChunkedDecoder, type ChunkedOptions } from "./chunked_body.ts";

const SIGNING: ChunkSigning = {
  key: new Uint8Array(32).fill(1),
  date: "20130524T000000Z",
  scope: "20130524/us-east-1/s3/aws4_request",
  seed: "0".repeat(64),
};

const TRAILER = "x-amz-checksum-crc32";

/** How a body of a test is encoded. */
interface Encoding {
  signed?: boolean;
  trailer?: boolean;
  /** The end of a trailer's line. */
  trailerEnd?: string;
}

function encode(chunks: string[], { signed, trailer, trailerEnd = "\r\n" }: Encoding): string {
  const signatures = new ChunkSignatures(SIGNING);
  const parts = [...chunks, ""].map((chunk) => {
    const size = chunk.length.toString(16);
    const head = signed ? `${size};chunk-signature=${signatures.ofChunk(sha256Hex(chunk))}` : size;
    return `${head}\r\n${chunk}${chunk === "" ? "" : "\r\n"}`;
  });
  if (trailer) parts.push(`${TRAILER}:AAAAAA==${trailerEnd}`);
  if (trailer && signed) {
    const signature = signatures.ofTrailers(`${TRAILER}:AAAAAA==\n`);
    parts.push(`x-amz-trailer-signature:${signature}\r\n`);
  }
  return `${parts.join("")}\r\n`;
}

function optionsFor(size: number, { signed = false, trailer = false }: Encoding): ChunkedOptions {
  return {
    size,
    signatures: signed ? new ChunkSignatures(SIGNING) : undefined,
    hasTrailers: trailer,
    trailerNames: trailer ? [TRAILER] : [],
  };
}

function decode(options: ChunkedOptions, pieces: Iterable<string>): [string, ChunkedDecoder] {
  const decoder = new ChunkedDecoder(options);
  let text = "";
  for (const piece of pieces) {
    for (const bytes of decoder.push(Buffer.from(piece, "latin1"))) {
      text += Buffer.from(bytes).toString("latin1");
    }
  }
  decoder.end();
  return [text, decoder];
}

function refusal(body: string, code: S3Code, size: number, encoding: Encoding = {}): void {
  // The result is the same for one piece and for single bytes.
  for (const pieces of [[body], [...body]]) {
    const error = assertThrows(() => decode(optionsFor(size, encoding), pieces)) as S3Error;
    assertEquals([error.name, error.code], ["S3Error", code], error.message);
  }
}

const ENCODINGS: Encoding[] = [
  { signed: false },
  { signed: true },
  { signed: false, trailer: true },
  { signed: true, trailer: true },
  // Clients of the library minio-go end trailers this way.
  { signed: true, trailer: true, trailerEnd: "\n\r\n" },
];

Deno.test("a body is decoded however it is cut into two or three pieces", () => {
  for (const encoding of ENCODINGS) {
    // Bytes that look like the ends of lines and heads of chunks.
    const content = "\r\n0\r\n\r\n3\r\nab";
    const body = encode([content], encoding);
    for (let first = 0; first <= body.length; first++) {
      for (let second = first; second <= body.length; second += 11 + first % 7) {
        const pieces = [body.slice(0, first), body.slice(first, second), body.slice(second)];
        const [text, decoder] = decode(optionsFor(content.length, encoding), pieces);
        assertEquals(text, content);
        assertEquals(decoder.trailers.get(TRAILER), encoding.trailer ? "AAAAAA==" : undefined);
      }
    }
    assertEquals(decode(optionsFor(content.length, encoding), body)[0], content);
  }
});

Deno.test("bodies of several chunks and of none are decoded", () => {
  for (const encoding of ENCODINGS) {
    const chunks = ["a".repeat(8192), "b".repeat(10_000), "c"];
    const [text] = decode(optionsFor(18_193, encoding), [encode(chunks, encoding)]);
    assertEquals(text, chunks.join(""));
    assertEquals(decode(optionsFor(0, encoding), [encode([], encoding)])[0], "");
  }
  const small = encode(["a", "b", "c"], {});
  assertEquals(decode(optionsFor(3, {}), [small])[0], "abc");
});

Deno.test("a body that is cut short or continued is refused", () => {
  for (const encoding of ENCODINGS) {
    const body = encode(["hello"], encoding);
    for (let end = 0; end < body.length; end++) {
      const decoder = new ChunkedDecoder(optionsFor(5, encoding));
      for (const _ of decoder.push(Buffer.from(body.slice(0, end)))); // Drained.
      const error = assertThrows(() => decoder.end(), S3Error);
      assertEquals(error.code, "IncompleteBody");
    }
    refusal(`${body}x`, "IncompleteBody", 5, encoding);
  }
});

Deno.test("a changed byte of a signed body is refused", () => {
  const encoding = { signed: true, trailer: true };
  const body = encode(["hello world"], encoding);
  for (let at = 0; at < body.length; at++) {
    const changed = body.slice(0, at) + String.fromCharCode(body.charCodeAt(at) ^ 1) +
      body.slice(at + 1);
    assertThrows(() => decode(optionsFor(11, encoding), [changed]), S3Error);
  }
});

Deno.test("a wrong chunk is refused at its end, before the next one arrives", () => {
  const body = encode(["x".repeat(9000), "y"], { signed: true });
  const decoder = new ChunkedDecoder(optionsFor(9001, { signed: true }));
  const upToEnd = body.slice(0, body.indexOf("x") + 9000).replace("xx", "xz");
  const error = assertThrows(() => [...decoder.push(Buffer.from(upToEnd))], S3Error);
  assertEquals(error.code, "SignatureDoesNotMatch");
});

Deno.test("chunks cannot be left out, swapped or repeated", () => {
  const [a, b] = ["a".repeat(8192), "b".repeat(8192)];
  const body = encode([a, b], { signed: true });
  const second = body.indexOf("2000;", 1);
  const last = body.lastIndexOf("0;chunk");
  const [chunkA, chunkB, end] = [
    body.slice(0, second),
    body.slice(second, last),
    body.slice(last),
  ];
  for (const order of [[chunkB, chunkA, end], [chunkA, chunkA, end], [chunkA, end]]) {
    refusal(order.join(""), "SignatureDoesNotMatch", 16_384, { signed: true });
  }
});

Deno.test("chunks must have the announced size together", () => {
  const body = encode(["hello"], {});
  refusal(body, "IncompleteBody", 4);
  refusal(body, "IncompleteBody", 6);
  refusal("fffffffffffff\r\nhello", "IncompleteBody", 5);
});

Deno.test("malformed heads and ends of chunks are refused", () => {
  const bodies = [
    "5\nhello\r\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhelloxx0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "g\r\n",
    "\r\n",
    "5;x=y\r\nhello\r\n0\r\n\r\n",
    `5;chunk-signature=${"0".repeat(64)}\r\nhello\r\n0\r\n\r\n`,
    "1".repeat(14) + "\r\n",
    "5\r\nhello\r\n0\r\nx:y\r\n\r\n",
  ];
  for (const body of bodies) refusal(body, "InvalidRequest", 5);
  const unsigned = encode(["hello"], {});
  refusal(unsigned, "InvalidRequest", 5, { signed: true });
});

Deno.test("a head that never ends is refused after few bytes", () => {
  const decoder = new ChunkedDecoder(optionsFor(5, {}));
  assertThrows(() => {
    for (let i = 0; i < 200; i++) [...decoder.push(Buffer.from("0"))];
  }, S3Error);
  refusal("0".repeat(100_000), "InvalidRequest", 5);
  const encoding = { trailer: true };
  refusal(`0\r\n${"a".repeat(100_000)}`, "MalformedTrailerError", 0, encoding);
  const lines = Array.from({ length: 1000 }, (_, i) => `x${i}:1\r\n`).join("");
  refusal(`0\r\n${lines}`, "MalformedTrailerError", 0, encoding);
});

Deno.test("only the last signed chunk may be small", () => {
  const small = encode(["a".repeat(8191), "b"], { signed: true });
  refusal(small, "InvalidChunkSizeError", 8192, { signed: true });
});

Deno.test("trailers must be those that were announced", () => {
  const encoding = { trailer: true };
  const bodies = [
    "0\r\n\r\n",
    `0\r\n${TRAILER}:AAAAAA==\r\n${TRAILER}:AAAAAA==\r\n\r\n`,
    `0\r\n${TRAILER}:AAAAAA==\r\nx-amz-checksum-sha1:x\r\n\r\n`,
    `0\r\n${TRAILER}:AAAAAA==\r\nx-amz-trailer-signature:${"0".repeat(64)}\r\n\r\n`,
    `0\r\n${TRAILER} AAAAAA==\r\n\r\n`,
    `0\r\n${TRAILER}:AAAAAA==\n\n\r\n\r\n`,
  ];
  for (const body of bodies) refusal(body, "MalformedTrailerError", 0, encoding);
  const [, { trailers }] = decode(optionsFor(0, encoding), [
    `0\r\nX-Amz-Checksum-CRC32: \tAAAAAA== \r\n\r\n`,
  ]);
  assertEquals([...trailers], [[TRAILER, "AAAAAA=="]]);
});

Deno.test("trailers of signed chunks must be signed", () => {
  const encoding = { signed: true, trailer: true };
  const body = encode(["hello"], encoding);
  const signature = /x-amz-trailer-signature:.*\r\n/;
  refusal(body.replace(signature, ""), "MalformedTrailerError", 5, encoding);
  const other = body.replace(signature, `x-amz-trailer-signature:${"0".repeat(64)}\r\n`);
  refusal(other, "SignatureDoesNotMatch", 5, encoding);
  refusal(body.replace("AAAAAA==", "AAAAAQ=="), "SignatureDoesNotMatch", 5, encoding);
});
