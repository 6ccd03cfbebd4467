/**
 * The encoding `aws-chunked` of request bodies
 * (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html):
 *
 *     <hexadecimal size>[;chunk-signature=<signature>]\r\n
 *     <bytes>\r\n
 *     … the last chunk has the size 0 and no bytes
 *     [<name>:<value>\r\n …]
 *     [x-amz-trailer-signature:<signature>\r\n]
 *     \r\n
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import type { ChunkSignatures } from "../auth/signing_key.ts";
import { isSameSecret } from "../../rules/secrets.ts";
import { S3Error } from "../s3_error.ts";

/** The longest head of a chunk, in characters: a size and a signature have at most 94. */
const MAX_HEAD = 128;

/** All trailers together, in characters. */
const MAX_TRAILERS = 4096;

/** "The chunk size must be at least 8 KB", in bytes, except for the last one with bytes. */
const MIN_SIGNED_CHUNK = 8192;

const TRAILER_SIGNATURE = "x-amz-trailer-signature";

/** A size of at most 52 bits, and the signature. */
const HEAD = /^0*([0-9a-fA-F]{1,13})(?:;chunk-signature=([0-9a-f]{64}))?$/;

const LF = 10;

/** How a body is decoded. */
export interface ChunkedOptions {
  /** Bytes of the chunks together. */
  size: number;
  /** Absent if chunks have no signatures. */
  signatures: ChunkSignatures | undefined;
  /** Whether trailers may follow the last chunk. */
  hasTrailers: boolean;
  /** The names of the trailers, in lower case, all of which must come. */
  trailerNames: readonly string[];
}

/** Decodes a body. Bytes are passed on before the signature of their chunk is known: see `end`. */
export class ChunkedDecoder {
  /** The trailers by name, without their signature. Complete after `end`. */
  readonly trailers = new Map<string, string>();
  #state: "head" | "data" | "data end" | "trailers" | "done" = "head";
  /** The part of a line that was received. */
  #line = "";
  /** Bytes of the chunk that are still to come. */
  #left = 0;
  /** Bytes of all chunks that are still to come. */
  #total: number;
  /** The signature of the chunk, as received. */
  #signature = "";
  #hash: Hash | undefined;
  #isLast = false;
  #wasSmall = false;
  #trailersLength = 0;

  constructor(private readonly options: ChunkedOptions) {
    this.#total = options.size;
  }

  /** Decodes a piece. @throws {S3Error} as soon as anything is wrong. */
  *push(piece: Uint8Array): Generator<Uint8Array> {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < piece.byteLength;) {
      if (this.#state === "done") throw incomplete("bytes follow its end");
      if (this.#state === "data") {
        const bytes = piece.subarray(at, at + this.#left);
        at += bytes.byteLength;
        this.#take(bytes);
        yield bytes;
        if (this.#left === 0) this.#endChunk();
        continue;
      }
      const lineFeed = buffer.indexOf(LF, at);
      const end = lineFeed === -1 ? piece.byteLength : lineFeed + 1;
      this.#addToLine(buffer, at, end);
      at = end;
      if (this.#line.endsWith("\r\n")) this.#endLine();
      else if (lineFeed !== -1 && this.#state !== "trailers") throw malformed();
    }
  }

  /** To be called after the last piece. @throws {S3Error} if the body is not complete. */
  end(): void {
    if (this.#state !== "done") throw incomplete("it ends before its last chunk does");
  }

  #addToLine(buffer: Buffer, from: number, to: number): void {
    const isTrailer = this.#state === "trailers";
    const max = isTrailer ? MAX_TRAILERS - this.#trailersLength : MAX_HEAD;
    if (this.#line.length + to - from > max) {
      if (isTrailer) throw badTrailers(`they have more than ${MAX_TRAILERS} characters`);
      throw malformed();
    }
    this.#line += buffer.toString("latin1", from, to);
  }

  #endLine(): void {
    const line = this.#line.slice(0, -2);
    this.#line = "";
    if (this.#state === "head") return this.#beginChunk(line);
    if (this.#state === "data end") {
      if (line !== "") throw malformed();
      this.#state = this.#isLast ? "done" : "head";
      return;
    }
    if (line === "") return this.#endTrailers();
    this.#trailersLength += line.length + 2;
    // Some clients end each trailer with a line feed before the end of the line.
    for (const trailer of line.replace(/\n$/, "").split("\n")) this.#addTrailer(trailer);
  }

  #beginChunk(head: string): void {
    const [, hex, signature] = HEAD.exec(head) ?? [];
    const isSigned = this.options.signatures !== undefined;
    if (hex === undefined || isSigned !== (signature !== undefined)) throw malformed();
    const size = parseInt(hex, 16);
    if (size > this.#total) throw incomplete("it is longer than x-amz-decoded-content-length");
    if (size > 0 && this.#wasSmall && isSigned) {
      throw new S3Error(
        "InvalidChunkSizeError",
        `Only the last chunk may have fewer than ${MIN_SIGNED_CHUNK} bytes: send larger ones`,
      );
    }
    this.#wasSmall = size < MIN_SIGNED_CHUNK;
    this.#signature = signature ?? "";
    this.#hash = isSigned ? createHash("sha256") : undefined;
    this.#left = size;
    this.#state = "data";
    if (size > 0) return;
    this.#isLast = true;
    this.#endChunk();
    if (this.#total > 0) throw incomplete("it is shorter than x-amz-decoded-content-length");
    this.#state = this.options.hasTrailers ? "trailers" : "data end";
  }

  #take(bytes: Uint8Array): void {
    this.#left -= bytes.byteLength;
    this.#total -= bytes.byteLength;
    this.#hash?.update(bytes);
  }

  #endChunk(): void {
    this.#state = "data end";
    if (this.#hash === undefined) return;
    const expected = this.options.signatures?.ofChunk(this.#hash.digest("hex")) ?? "";
    if (!isSameSecret(expected, this.#signature)) throw wrongSignature("a chunk");
  }

  #addTrailer(line: string): void {
    const [, name = "", value = ""] = /^([A-Za-z0-9-]+):[ \t]*([\x20-\x7e]*)$/.exec(line) ?? [];
    const lower = name.toLowerCase();
    if (name === "") throw badTrailers("a line has another form than <name>:<value>");
    if (this.trailers.has(lower)) throw badTrailers(`${lower} occurs more than once`);
    if (this.trailers.has(TRAILER_SIGNATURE)) throw badTrailers("a line follows their signature");
    this.trailers.set(lower, value.trimEnd());
  }

  #endTrailers(): void {
    const { signatures, trailerNames } = this.options;
    const signature = this.trailers.get(TRAILER_SIGNATURE);
    this.trailers.delete(TRAILER_SIGNATURE);
    const missing = trailerNames.find((name) => !this.trailers.has(name));
    if (missing !== undefined) throw badTrailers(`${missing} is missing`);
    const more = [...this.trailers.keys()].find((name) => !trailerNames.includes(name));
    if (more !== undefined) throw badTrailers(`${more} is not announced in x-amz-trailer`);
    if ((signatures === undefined) !== (signature === undefined)) {
      throw badTrailers(
        `${TRAILER_SIGNATURE} is ${signature === undefined ? "missing" : "unexpected"}`,
      );
    }
    const canonical = [...this.trailers].map(([name, value]) => `${name}:${value}\n`).join("");
    const expected = signatures?.ofTrailers(canonical) ?? "";
    if (!isSameSecret(expected, signature ?? "")) throw wrongSignature("the trailers");
    this.#state = "done";
  }
}

function malformed(): S3Error {
  return new S3Error(
    "InvalidRequest",
    "The body is not encoded as aws-chunked in the way that x-amz-content-sha256 says",
  );
}

function incomplete(problem: string): S3Error {
  return new S3Error("IncompleteBody", `The body is not what was announced: ${problem}`);
}

function badTrailers(problem: string): S3Error {
  return new S3Error("MalformedTrailerError", `The trailers are wrong: ${problem}`);
}

function wrongSignature(what: string): S3Error {
  return new S3Error(
    "SignatureDoesNotMatch",
    `The signature of ${what} is wrong: nothing was stored`,
  );
}
