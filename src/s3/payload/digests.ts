/**
 * The digests that a sender announces in headers or trailers, and their comparison with the bytes.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { S3Error } from "../s3_error.ts";
import {
  CHECKSUM_ALGORITHMS,
  CHECKSUM_LENGTH,
  type ChecksumAlgorithm,
  createChecksum,
} from "./checksum.ts";

/** Finds the value of a header or of a field of a form by its name in lower case; null if it is absent. */
export type HeaderLookup = (name: string) => string | null | undefined;

/** What the bytes must have. */
export interface ExpectedDigests {
  /** Base64, from `Content-MD5`. */
  md5?: string | undefined;
  /** A checksum; its value is absent if it comes in a trailer. */
  checksum?: ExpectedChecksum | undefined;
}

export interface ExpectedChecksum {
  algorithm: ChecksumAlgorithm;
  /** Base64. */
  value: string | undefined;
}

/** What the bytes have. */
export interface PayloadDigests {
  /** Hexadecimal. */
  md5: string;
  /** Base64. Absent if the sender chose none. */
  checksum?: { algorithm: ChecksumAlgorithm; value: string };
}

const PREFIX = "x-amz-checksum-";

/** Returns the name of the header, trailer or field of a checksum. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return PREFIX + algorithm.toLowerCase();
}

/** Headers that have the prefix of checksums and are none. */
const NO_CHECKSUMS = ["algorithm", "mode", "type"].map((name) => PREFIX + name);

/**
 * Returns the MD5 in `Content-MD5`, in base64; `undefined` without one.
 *
 * @throws {S3Error} if it is malformed.
 */
export function expectedMd5(lookup: HeaderLookup): string | undefined {
  const value = lookup("content-md5") ?? undefined;
  if (value === undefined || isBase64Of(value, 16)) return value;
  throw new S3Error(
    "InvalidDigest",
    "The Content-MD5 is not valid: it must be the base64 of 16 bytes",
    { "Content-MD5": value },
  );
}

/**
 * Returns the checksum that headers or trailers announce; `undefined` without one.
 *
 * @param names Names of all headers, in lower case.
 * @param trailers Names of the trailers that are announced, in lower case.
 * @throws {S3Error} if it is malformed, not supported, or if there are two.
 */
export function expectedChecksum(
  lookup: HeaderLookup,
  names: Iterable<string>,
  trailers: readonly string[] = [],
): ExpectedChecksum | undefined {
  const sent = [...names].filter((name) => name.startsWith(PREFIX) && !NO_CHECKSUMS.includes(name));
  const [first, ...others] = [...sent, ...trailers];
  if (others.length > 0) {
    throw new S3Error(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header: multiple checksum types are not allowed",
    );
  }
  const algorithm = CHECKSUM_ALGORITHMS.find((algorithm) => checksumHeader(algorithm) === first);
  assertSdkAlgorithm(lookup, algorithm);
  if (first === undefined) return undefined;
  if (algorithm === undefined) {
    throw new S3Error(
      trailers.length > 0 ? "InvalidRequest" : "NotImplemented",
      `${first} is not supported: the algorithms are ${CHECKSUM_ALGORITHMS.join(", ")}`,
    );
  }
  const value = sent.length > 0 ? lookup(first) ?? "" : undefined;
  if (value !== undefined) assertChecksum(first, value, algorithm);
  return { algorithm, value };
}

/** The SDKs also name the algorithm by itself: it must be that of the checksum. */
function assertSdkAlgorithm(lookup: HeaderLookup, algorithm: ChecksumAlgorithm | undefined): void {
  const named = lookup("x-amz-sdk-checksum-algorithm") ?? undefined;
  if (named === undefined || named.toUpperCase() === algorithm) return;
  throw new S3Error(
    "InvalidRequest",
    algorithm === undefined
      ? "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found"
      : "The value of x-amz-sdk-checksum-algorithm is not the algorithm of the checksum",
  );
}

/** @throws {S3Error} if a value is no checksum of an algorithm. */
function assertChecksum(name: string, value: string, algorithm: ChecksumAlgorithm): void {
  if (isBase64Of(value, CHECKSUM_LENGTH[algorithm])) return;
  throw new S3Error("InvalidRequest", `Value for ${name} header is invalid`);
}

function isBase64Of(text: string, length: number): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.byteLength === length && bytes.toString("base64") === text;
}

/** Computes digests of bytes and compares them. */
export class PayloadCheck {
  readonly #md5 = createHash("md5");
  readonly #algorithm: ChecksumAlgorithm | undefined;
  readonly #checksum;

  /** @param compute The checksum that is computed if the sender announces none. */
  constructor(private readonly expected: ExpectedDigests, compute?: ChecksumAlgorithm) {
    this.#algorithm = expected.checksum?.algorithm ?? compute;
    // The store computes SHA-256.
    const isOwn = this.#algorithm !== undefined && this.#algorithm !== "SHA256";
    this.#checksum = isOwn ? createChecksum(this.#algorithm ?? "CRC32") : undefined;
  }

  update(bytes: Uint8Array): void {
    this.#md5.update(bytes);
    this.#checksum?.update(bytes);
  }

  /**
   * Returns the digests of all bytes.
   *
   * @param sha256 Of the bytes, in base64.
   * @param trailers By name, in lower case.
   * @throws {S3Error} if they differ from the expected ones.
   */
  finish(sha256: string, trailers?: ReadonlyMap<string, string>): PayloadDigests {
    const md5 = this.#md5.digest("hex");
    if (this.expected.md5 !== undefined) {
      assertSame("Content-MD5", this.expected.md5, Buffer.from(md5, "hex").toString("base64"));
    }
    const algorithm = this.#algorithm;
    if (algorithm === undefined) return { md5 };
    const value = this.#checksum === undefined
      ? sha256
      : Buffer.from(this.#checksum.digest()).toString("base64");
    const name = checksumHeader(algorithm);
    const trailer = trailers?.get(name);
    if (trailer !== undefined) assertChecksum(name, trailer, algorithm);
    assertSame(algorithm, this.expected.checksum?.value ?? trailer, value);
    return { md5, checksum: { algorithm, value } };
  }
}

function assertSame(what: string, expected: string | undefined, actual: string): void {
  if (expected === undefined || expected === actual) return;
  throw new S3Error(
    "BadDigest",
    `The ${what} you specified did not match what was received: nothing was stored, send it again`,
    { ExpectedDigest: expected, CalculatedDigest: actual },
  );
}
