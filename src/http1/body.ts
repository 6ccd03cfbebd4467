import { type ByteReader, NO_BYTES } from "./connection.ts";
import {
  type Header,
  joinedHeader,
  MalformedMessage,
  parseHeader,
  singleHeader,
} from "./headers.ts";

/** How the end of a body is determined: by its length, by its last chunk, or by the end of the connection. */
export type Framing =
  | { kind: "length"; length: number }
  | { kind: "chunked" }
  | { kind: "close" };

/** The framing of every message without a body. There is no other instance, so that `===` identifies it. */
export const NO_BODY: Framing = { kind: "length", length: 0 };
const CHUNKED: Framing = { kind: "chunked" };
const UNTIL_CLOSE: Framing = { kind: "close" };

/** Bytes of a chunk's size line with its extensions; and of all trailers of a body. */
export const MAX_CHUNK_LINE = 1024;
export const MAX_TRAILERS = 8192;

/** The body of a message while it is received. */
export interface BodyReader {
  /**
   * Returns the bytes that have arrived, possibly none. They stay valid until the next `fill` of the underlying reader.
   *
   * @throws {MalformedMessage}
   */
  take(): Uint8Array;
  /** Whether the whole body was taken. */
  readonly isDone: boolean;
  /** Must be called when the connection ends. Returns whether the body is complete. */
  end(): boolean;
}

/**
 * Returns the framing of a request's body (RFC 9112, 6.3). Rejects a request whose body two parsers could delimit
 * differently, as that allows request smuggling.
 *
 * @throws {MalformedMessage}
 */
export function requestFraming(minor: 0 | 1, headers: readonly Header[]): Framing {
  const length = singleHeader(headers, "content-length");
  const coding = singleHeader(headers, "transfer-encoding");
  if (coding === undefined) {
    const bytes = length === undefined ? 0 : parseLength(length);
    return bytes === 0 ? NO_BODY : { kind: "length", length: bytes };
  }
  if (length !== undefined) {
    throw new MalformedMessage("it has both Content-Length and Transfer-Encoding: send one");
  }
  if (minor === 0) throw new MalformedMessage("HTTP/1.0 does not define Transfer-Encoding");
  if (coding.toLowerCase() !== "chunked") {
    throw new MalformedMessage("the only supported Transfer-Encoding is chunked", 501);
  }
  return CHUNKED;
}

/**
 * Returns the framing of a response's body (RFC 9112, 6.3).
 *
 * @param method The method of the request.
 * @throws {MalformedMessage}
 */
export function responseFraming(
  method: string,
  { status, minor, headers }: { status: number; minor: 0 | 1; headers: readonly Header[] },
): Framing {
  const length = responseLength(headers);
  const coding = joinedHeader(headers, "transfer-encoding");
  if (coding !== undefined) {
    if (length !== undefined) {
      throw new MalformedMessage("it has both Content-Length and Transfer-Encoding");
    }
    if (minor === 0 || coding.toLowerCase() !== "chunked") {
      throw new MalformedMessage("its Transfer-Encoding is not supported");
    }
  }
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return NO_BODY;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : { kind: "length", length };
}

/** Returns the body that starts at the reader's position. */
export function bodyReader(reader: ByteReader, framing: Framing): BodyReader {
  if (framing === NO_BODY) return EMPTY_BODY;
  if (framing.kind === "chunked") return new ChunkedBody(reader);
  if (framing.kind === "close") return new BodyUntilClose(reader);
  return new BodyOfLength(reader, framing.length);
}

/**
 * Whether the rest of a body has arrived, so that the next request can follow on the connection. Consumes that rest.
 */
export function isFullyReceived(body: BodyReader): boolean {
  try {
    body.take();
    return body.isDone;
  } catch {
    return false;
  }
}

const EMPTY_BODY: BodyReader = { take: () => NO_BYTES, isDone: true, end: () => true };

class BodyOfLength implements BodyReader {
  #remaining: number;

  constructor(private readonly reader: ByteReader, length: number) {
    this.#remaining = length;
  }

  get isDone(): boolean {
    return this.#remaining === 0;
  }

  take(): Uint8Array {
    const bytes = this.reader.take(this.#remaining);
    this.#remaining -= bytes.length;
    return bytes;
  }

  end(): boolean {
    return this.isDone;
  }
}

class BodyUntilClose implements BodyReader {
  isDone = false;

  constructor(private readonly reader: ByteReader) {}

  take(): Uint8Array {
    return this.reader.take(Infinity);
  }

  end(): boolean {
    this.isDone = true;
    return !this.reader.isBroken;
  }
}

const LF = 10;
const CR = 13;

/** A size of at most 13 digits, which a number holds exactly, and extensions without control characters. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** A trailer's characters. Trailers are validated although they are dropped. */
const TRAILER = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A body in the chunked transfer coding (RFC 9112, 7.1), parsed strictly. Extensions and trailers are dropped. */
export class ChunkedBody implements BodyReader {
  #state: "size" | "data" | "data end" | "trailers" | "done" | "malformed" = "size";
  /** Missing bytes of the current chunk. */
  #remaining = 0;
  /** Bytes of the trailers so far. */
  #trailers = 0;
  /** The range that `take` returns. The data of several chunks is moved together. */
  #from = 0;
  #to = 0;

  constructor(private readonly reader: ByteReader) {}

  get isDone(): boolean {
    return this.#state === "done";
  }

  take(): Uint8Array {
    this.#from = this.#to = this.reader.start;
    try {
      while (this.#step());
    } catch (error) {
      this.#state = "malformed";
      throw error;
    }
    return this.reader.view(this.#from, this.#to);
  }

  end(): boolean {
    return this.isDone;
  }

  /** Consumes one line or the data of one chunk. Returns `false` if more bytes must arrive first. */
  #step(): boolean {
    if (this.#state === "done") return false;
    // After an error the end of the body is unknown: the following lines must not be parsed as its rest.
    if (this.#state === "malformed") throw new MalformedMessage("its body is malformed");
    if (this.#state === "data") return this.#takeData();
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (this.#state === "size") this.#beginChunk(line);
    else if (this.#state === "trailers") this.#takeTrailer(line);
    else if (line === "") this.#state = "size";
    else throw new MalformedMessage("a chunk of its body is longer than the chunk's size");
    return true;
  }

  #beginChunk(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined) throw new MalformedMessage("a chunk of its body has an invalid size");
    this.#remaining = Number.parseInt(digits, 16);
    this.#state = this.#remaining === 0 ? "trailers" : "data";
  }

  #takeTrailer(line: string): void {
    if (line === "") {
      this.#state = "done";
      return;
    }
    this.#trailers += line.length;
    if (this.#trailers > MAX_TRAILERS || !TRAILER.test(line)) {
      throw new MalformedMessage("the trailers of its body are invalid or too long");
    }
    parseHeader(line);
  }

  #takeData(): boolean {
    const reader = this.reader;
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

  /** Consumes a line and returns it without its line end, or `undefined` if it has not arrived completely. */
  #takeLine(): string | undefined {
    const { buffer, start, end } = this.reader;
    const limit = Math.min(end, start + MAX_CHUNK_LINE);
    for (let at = start; at < limit; at++) {
      if (buffer[at] !== LF) continue;
      if (at === start || buffer[at - 1] !== CR) throw invalidLine();
      this.reader.skipTo(at + 1);
      return this.reader.text(start, at - 1);
    }
    if (end - start >= MAX_CHUNK_LINE) throw invalidLine();
    return undefined;
  }
}

function invalidLine(): MalformedMessage {
  return new MalformedMessage("a line between the chunks of its body is invalid");
}

/** Returns a response's Content-Length, which may be repeated with the same value. */
function responseLength(headers: readonly Header[]): number | undefined {
  let length: number | undefined;
  for (const { lower, value } of headers) {
    if (lower !== "content-length") continue;
    const parsed = parseLength(value);
    if (length !== undefined && length !== parsed) {
      throw new MalformedMessage("it has two different values of Content-Length");
    }
    length = parsed;
  }
  return length;
}

function parseLength(text: string): number {
  const length = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(length)) return length;
  throw new MalformedMessage("its Content-Length is not a whole number of bytes");
}
