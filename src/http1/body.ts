import type { ByteReader } from "./connection.ts";
import {
  type Header,
  joinedHeader,
  MalformedMessage,
  parseHeaders,
  singleHeader,
} from "./headers.ts";

/** A chunk's size and its extensions, in bytes; and all trailers of a body. */
export const MAX_CHUNK_LINE = 1024;

export const MAX_TRAILERS = 8192;

const LF = 10;
const CR = 13;

/** A size of at most 13 digits, so that it is a whole number here, and extensions without control characters. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** Whether a trailer may stand there is looked at, although none is passed on. */
const TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A body in chunks (RFC 9112, 7.1), read strictly. Extensions and trailers are left out. */
export class ChunkedBody implements BodyReader {
  readonly #reader: ByteReader;
  #state: "size" | "data" | "data end" | "trailers" | "done" | "malformed" = "size";
  /** Bytes of the chunk that are still to come. */
  #remaining = 0;
  #trailers = 0;
  /** Where the bytes that are taken in one go begin and end: those of several chunks are moved together. */
  #from = 0;
  #to = 0;

  constructor(reader: ByteReader) {
    this.#reader = reader;
    reader.widen();
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  take(): Uint8Array {
    this.#from = this.#to = this.#reader.start;
    try {
      while (this.#step());
    } catch (error) {
      this.#state = "malformed";
      throw error;
    }
    return this.#reader.view(this.#from, this.#to);
  }

  end(): boolean {
    return this.isDone;
  }

  /** Goes on by one line or by the bytes of one chunk; gives `false` where more has to come before. */
  #step(): boolean {
    if (this.#state === "done") return false;
    // The lines behind an error must not be read as the rest of the body: its end is unknown.
    if (this.#state === "malformed") throw new MalformedMessage("its body is malformed");
    if (this.#state === "data") return this.#takeData();
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (this.#state === "size") this.#beginChunk(line);
    else if (this.#state === "trailers") this.#takeTrailer(line);
    else if (line === "") this.#state = "size";
    else throw new MalformedMessage("a chunk of its body is longer than its size says");
    return true;
  }

  #beginChunk(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined) throw new MalformedMessage("the size of a chunk of its body is none");
    this.#remaining = Number.parseInt(digits, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "data";
  }

  #takeTrailer(line: string): void {
    if (line === "") {
      this.#state = "done";
      return;
    }
    this.#trailers += line.length;
    if (this.#trailers > MAX_TRAILERS || !TEXT.test(line)) {
      throw new MalformedMessage("the trailers of its body are none, or too long");
    }
    parseHeaders(["", line]);
  }

  #takeData(): boolean {
    const reader = this.#reader;
    const { buffer, start } = reader;
    const count = Math.min(this.#remaining, reader.length);
    if (count === 0) return false;
    if (this.#from === this.#to) this.#from = this.#to = start;
    else buffer.copyWithin(this.#to, start, start + count);
    this.#to += count;
    this.#remaining -= count;
    if (this.#remaining === 0) this.#state = "data end";
    reader.skipTo(start + count);
    return true;
  }

  /** Takes the line that begins there, without its end; gives `undefined` where it is not complete. */
  #takeLine(): string | undefined {
    const { buffer, start, end } = this.#reader;
    const limit = Math.min(end, start + MAX_CHUNK_LINE);
    for (let at = start; at < limit; at++) {
      if (buffer[at] !== LF) continue;
      if (at === start || buffer[at - 1] !== CR) throw badLine();
      this.#reader.skipTo(at + 1);
      return this.#reader.text(start, at - 1);
    }
    if (end - start >= MAX_CHUNK_LINE) throw badLine();
    return undefined;
  }
}

function badLine(): MalformedMessage {
  return new MalformedMessage("a line between the chunks of its body is none");
}

/** The body of a message on its way. */
export interface BodyReader {
  /** What is at hand; it may be empty. The bytes stay until the next `fill` of the reader. @throws {Malformed} */
  take(): Uint8Array;
  /** Whether all of it was taken. */
  readonly isDone: boolean;
  /** Told when the connection has ended. Gives whether the body may end so. */
  end(): boolean;
}

/** A body of which more than this is still to come is read in large pieces. */
const LARGE = 16_384;

/** The body that begins where the reader stands. */
export function bodyReader(reader: ByteReader, framing: Framing): BodyReader {
  if (framing.kind === "chunked") return new ChunkedBody(reader);
  if (framing.kind === "close") return new BodyUntilClose(reader);
  if (framing.length > LARGE) reader.widen();
  return new BodyOfLength(reader, framing.length);
}

class BodyOfLength implements BodyReader {
  readonly #reader: ByteReader;
  #remaining: number;

  constructor(reader: ByteReader, length: number) {
    this.#reader = reader;
    this.#remaining = length;
  }

  get isDone(): boolean {
    return this.#remaining === 0;
  }

  take(): Uint8Array {
    const bytes = this.#reader.take(this.#remaining);
    this.#remaining -= bytes.length;
    return bytes;
  }

  end(): boolean {
    return this.isDone;
  }
}

class BodyUntilClose implements BodyReader {
  readonly #reader: ByteReader;
  isDone = false;

  constructor(reader: ByteReader) {
    this.#reader = reader;
    reader.widen();
  }

  take(): Uint8Array {
    return this.#reader.take(Infinity);
  }

  end(): boolean {
    this.isDone = true;
    return !this.#reader.isBroken;
  }
}

/** How the end of a body is known: by its length, by its last chunk, or by the end of the connection. */
export type Framing =
  | { kind: "length"; length: number }
  | { kind: "chunked" }
  | { kind: "close" };

/** There is exactly one of these. */
export const NO_BODY: Framing = { kind: "length", length: 0 };
const CHUNKED: Framing = { kind: "chunked" };
const UNTIL_CLOSE: Framing = { kind: "close" };

/**
 * The framing of a request's body. Wherever two readers could see two different ends, it is refused.
 *
 * @throws {MalformedMessage}
 */
export function requestFraming(minor: 0 | 1, fields: readonly Header[]): Framing {
  const length = singleHeader(fields, "content-length");
  const coding = singleHeader(fields, "transfer-encoding");
  if (coding === undefined) {
    const told = length === undefined ? 0 : parseLength(length);
    return told === 0 ? NO_BODY : { kind: "length", length: told };
  }
  if (length !== undefined) {
    throw new MalformedMessage("it has both Content-Length and Transfer-Encoding: send one");
  }
  if (minor === 0) throw new MalformedMessage("HTTP/1.0 knows no Transfer-Encoding");
  if (coding.toLowerCase() !== "chunked") {
    throw new MalformedMessage("only the Transfer-Encoding chunked is known here", 501);
  }
  return CHUNKED;
}

/**
 * The framing of an answer's body (RFC 9112, 6.3).
 *
 * @param method of the request.
 * @throws {MalformedMessage}
 */
export function responseFraming(
  method: string,
  { status, minor, fields }: { status: number; minor: 0 | 1; fields: readonly Header[] },
): Framing {
  const length = lengthOf(fields);
  const coding = joinedHeader(fields, "transfer-encoding");
  if (coding !== undefined) {
    if (length !== undefined) throw new MalformedMessage("it has two framings");
    if (minor === 0 || coding.toLowerCase() !== "chunked") {
      throw new MalformedMessage("its Transfer-Encoding is not known");
    }
  }
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return NO_BODY;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : { kind: "length", length };
}

/** The length that an answer tells: once, or several times the same. */
function lengthOf(fields: readonly Header[]): number | undefined {
  let length: number | undefined;
  for (const { lower, value } of fields) {
    if (lower !== "content-length") continue;
    const told = parseLength(value);
    if (length !== undefined && length !== told) throw new MalformedMessage("it has two lengths");
    length = told;
  }
  return length;
}

function parseLength(text: string): number {
  const length = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(length)) return length;
  throw new MalformedMessage("its Content-Length is no whole number of bytes");
}
