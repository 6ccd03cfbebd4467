/**
 * The body of a request: decoded, bounded, and compared with everything that the sender says of it.
 *
 * @module
 */
import { concat } from "@std/bytes/concat";
import { Buffer } from "node:buffer";
import { type BodyLimits, readBody } from "../../http/body.ts";
import { KIB } from "../../rules/units.ts";
import type { Verified } from "../auth/signature.ts";
import { ChunkSignatures } from "../auth/signing_key.ts";
import { S3Error } from "../s3_error.ts";
import { CHECKSUM_ALGORITHMS, type ChecksumAlgorithm } from "./checksum.ts";
import { ChunkedDecoder } from "./chunked_body.ts";
import {
  checksumHeader,
  expectedChecksum,
  type ExpectedDigests,
  expectedMd5,
  PayloadCheck,
  type PayloadDigests,
} from "./digests.ts";

/** The body of a request. */
export interface Payload {
  /**
   * The decoded bytes, to be read once.
   *
   * @throws {S3Error} if they are not what was announced or signed.
   * @throws {HttpError} if they stop coming.
   */
  bytes: AsyncIterable<Uint8Array>;
  /** The number of decoded bytes, if announced. */
  announced: number | undefined;
  /**
   * To be called after all bytes and before anything is published.
   *
   * @param received What was read of `bytes`, with its SHA-256 in base64.
   * @throws {S3Error} if the bytes are not what was announced or signed.
   */
  finish: (received: { size: number; sha256: string }) => PayloadDigests;
}

/** How a body is read. `limit` is the largest number of decoded bytes. */
export interface PayloadOptions extends Omit<BodyLimits, "tooLarge"> {
  /** The checksum that is computed if the sender announces none. */
  compute?: ChecksumAlgorithm | undefined;
  /** False if checksums in headers are not of the body: with CompleteMultipartUpload, they are of the object. */
  hasChecksum?: boolean;
}

/** The encoding may double the size of a body, and add this many bytes. */
const MAX_OVERHEAD = 64 * KIB;

/**
 * Opens the body of a request. Nothing is read before its bytes are iterated.
 *
 * @throws {S3Error} if it is announced too large, or if the headers that describe it are wrong.
 */
export function openPayload(
  request: Request,
  verified: Pick<Verified<unknown>, "payload" | "signing">,
  options: PayloadOptions,
): Payload {
  const { headers } = request;
  const { payload } = verified;
  const { limit, compute, hasChecksum = true, ...limits } = options;
  const isChunked = payload.kind === "chunked";
  const lengthHeader = isChunked ? "x-amz-decoded-content-length" : "content-length";
  const announced = lengthOf(headers, lengthHeader);
  if (announced !== undefined && announced > limit) throw tooLarge(limit);
  const trailerNames = announcedTrailers(headers);
  const lookup = (name: string) => headers.get(name);
  const expected: ExpectedDigests = {
    md5: expectedMd5(lookup),
    checksum: hasChecksum ? expectedChecksum(lookup, headers.keys(), trailerNames) : undefined,
  };
  const sha256 = payload.kind === "signed" ? payload.sha256 : undefined;
  if (!isChunked) {
    if (trailerNames.length > 0) throw trailersWithoutPlace();
    const body = readBody(request, { ...limits, limit, tooLarge });
    return checkedPayload(body, { announced, expected, sha256, compute });
  }
  if (announced === undefined) {
    throw new S3Error(
      "MissingContentLength",
      "A body that is encoded as aws-chunked needs the header x-amz-decoded-content-length",
    );
  }
  if (trailerNames.length > 0 && !payload.trailer) throw trailersWithoutPlace();
  const decoder = new ChunkedDecoder({
    size: announced,
    signatures: payload.signed ? chunkSignatures(verified) : undefined,
    hasTrailers: payload.trailer,
    trailerNames,
  });
  const body = readBody(request, { ...limits, limit: 2 * announced + MAX_OVERHEAD, tooLarge });
  const { trailers } = decoder;
  return checkedPayload(decode(body, decoder), { announced, expected, compute, trailers });
}

function chunkSignatures({ signing }: Pick<Verified<unknown>, "signing">): ChunkSignatures {
  if (signing === undefined) throw new Error("A body of signed chunks has no signing key");
  return new ChunkSignatures(signing);
}

/** Chunks in a piece of a body that are passed on without copying them. */
const MAX_CHUNKS_APART = 4;

async function* decode(
  body: AsyncIterable<Uint8Array>,
  decoder: ChunkedDecoder,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    const parts = [...decoder.push(piece)];
    // A sender may cut a body into chunks of one byte, and each piece takes time later.
    if (parts.length > MAX_CHUNKS_APART) yield concat(parts);
    else yield* parts;
  }
  decoder.end();
}

/** What is known of a body besides its bytes. */
export interface PayloadFacts {
  announced: number | undefined;
  expected: ExpectedDigests;
  /** Signed, in hexadecimal. */
  sha256?: string | undefined;
  compute?: ChecksumAlgorithm | undefined;
  /** Complete after the last byte. */
  trailers?: ReadonlyMap<string, string>;
}

/** A body whose decoded bytes are given. */
export function checkedPayload(
  body: AsyncIterable<Uint8Array>,
  { announced, expected, sha256, compute, trailers }: PayloadFacts,
): Payload {
  const check = new PayloadCheck(expected, compute);
  let hasEnded = false;
  async function* observe() {
    for await (const piece of body) {
      check.update(piece);
      yield piece;
    }
    hasEnded = true;
  }
  return {
    bytes: observe(),
    announced,
    finish: (received) => {
      if (!hasEnded || received.size !== (announced ?? received.size)) {
        throw new S3Error("IncompleteBody", "The body has not the length that was announced");
      }
      const actual = Buffer.from(received.sha256, "base64").toString("hex");
      if (sha256 !== undefined && actual !== sha256) throw wrongHash(sha256, actual);
      return check.finish(received.sha256, trailers);
    },
  };
}

function wrongHash(expected: string, actual: string): S3Error {
  return new S3Error(
    "XAmzContentSHA256Mismatch",
    "The provided x-amz-content-sha256 header does not match what was received: nothing was stored",
    { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: actual },
  );
}

/** The number of bytes in a header; `undefined` without one. */
function lengthOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const size = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (size !== undefined) return size;
  throw new S3Error("InvalidArgument", `${name} must be a number of bytes`, {
    ArgumentName: name,
    ArgumentValue: text,
  });
}

/** Throws the error for a body with more than `limit` bytes. */
export function tooLarge(limit: number): never {
  throw new S3Error(
    "EntityTooLarge",
    `Your proposed upload exceeds the maximum allowed size of ${limit} bytes`,
    { MaxSizeAllowed: String(limit) },
  );
}

const TRAILER_NAMES = CHECKSUM_ALGORITHMS.map(checksumHeader);

/** The names in `x-amz-trailer`, in lower case. */
function announcedTrailers(headers: Headers): string[] {
  const names = (headers.get("x-amz-trailer") ?? "").split(",")
    .map((name) => name.trim().toLowerCase()).filter(Boolean);
  if (names.every((name) => TRAILER_NAMES.includes(name))) return names;
  throw new S3Error(
    "InvalidRequest",
    "The value specified in the x-amz-trailer header is not supported: it must be the header of a checksum",
  );
}

function trailersWithoutPlace(): S3Error {
  return new S3Error(
    "InvalidRequest",
    "x-amz-trailer announces trailers, but x-amz-content-sha256 says that there are none",
  );
}

/** Returns the value of `Content-Encoding` without `aws-chunked`, which does not describe the object; `undefined` if nothing is left. */
export function objectEncoding(contentEncoding: string | null): string | undefined {
  const codings = (contentEncoding ?? "").split(",").map((coding) => coding.trim());
  const kept = codings.filter((coding) => coding !== "" && coding.toLowerCase() !== "aws-chunked");
  return kept.length === 0 ? undefined : kept.join(", ");
}
