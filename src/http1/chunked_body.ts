import { MAX_CHUNK_LINE, MAX_TRAILERS } from "../drive/limits.ts";
import type { BodyReader } from "./body_reader.ts";
import type { ByteReader } from "./byte_reader.ts";
import { parseFields } from "./fields.ts";
import { Malformed } from "./malformed.ts";

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
    if (this.#state === "malformed") throw new Malformed("its body is malformed");
    if (this.#state === "data") return this.#takeData();
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (this.#state === "size") this.#beginChunk(line);
    else if (this.#state === "trailers") this.#takeTrailer(line);
    else if (line === "") this.#state = "size";
    else throw new Malformed("a chunk of its body is longer than its size says");
    return true;
  }

  #beginChunk(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined) throw new Malformed("the size of a chunk of its body is none");
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
      throw new Malformed("the trailers of its body are none, or too long");
    }
    parseFields(["", line]);
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
    reader.takeTo(start + count);
    return true;
  }

  /** Takes the line that begins there, without its end; gives `undefined` where it is not complete. */
  #takeLine(): string | undefined {
    const { buffer, start, end } = this.#reader;
    const limit = Math.min(end, start + MAX_CHUNK_LINE);
    for (let at = start; at < limit; at++) {
      if (buffer[at] !== LF) continue;
      if (at === start || buffer[at - 1] !== CR) throw badLine();
      this.#reader.takeTo(at + 1);
      return this.#reader.text(start, at - 1);
    }
    if (end - start >= MAX_CHUNK_LINE) throw badLine();
    return undefined;
  }
}

function badLine(): Malformed {
  return new Malformed("a line between the chunks of its body is none");
}
