import type { ByteReader } from "./byte_reader.ts";
import { ChunkedBody } from "./chunked_body.ts";
import type { Framing } from "./framing.ts";

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
    return !this.#reader.broken;
  }
}
