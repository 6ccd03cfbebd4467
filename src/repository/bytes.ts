/**
 * Reading and writing the binary parts of the format: bytes, and whole numbers of 7 bits a byte, the lowest first.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { BadFormat } from "./errors.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes that the largest whole number takes: 53 bits. */
const MAX_NUMBER_LENGTH = 8;

/** Bytes that grow at their end. */
export class ByteWriter {
  #bytes: Bytes;
  #length = 0;

  /** @param capacity Bytes for which memory is taken at once. */
  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written, without a copy: valid until the next write. */
  get written(): Bytes {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Drops what follows the first bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  number(value: number): void {
    this.#reserve(MAX_NUMBER_LENGTH);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = rest % 128 + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.byteLength);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.byteLength;
  }

  /** Writes bytes after their length. */
  sized(bytes: Uint8Array): void {
    this.number(bytes.byteLength);
    this.bytes(bytes);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.byteLength) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.byteLength));
    larger.set(this.written);
    this.#bytes = larger;
  }
}

/** Reads what `ByteWriter` writes. The bytes may be anything. Every method throws `BadFormat` at their end. */
export class ByteReader {
  #at = 0;

  constructor(private readonly source: Bytes) {}

  get isAtEnd(): boolean {
    return this.#at >= this.source.byteLength;
  }

  byte(): number {
    const value = this.source[this.#at++];
    if (value === undefined) throw new BadFormat("ends too early");
    return value;
  }

  number(): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < MAX_NUMBER_LENGTH; i++) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) {
        if (Number.isSafeInteger(value)) return value;
        break;
      }
      factor *= 128;
    }
    throw new BadFormat("has a number that is too large");
  }

  /** Returns the next bytes, without a copy. */
  bytes(length: number): Bytes {
    const end = this.#at + length;
    if (end > this.source.byteLength) throw new BadFormat("ends too early");
    const bytes = this.source.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** Returns bytes after their length. */
  sized(): Bytes {
    return this.bytes(this.number());
  }
}

/** Releases the memory of bytes that nothing uses any more: the garbage collector would do it late. */
export function release({ buffer, byteLength }: Uint8Array): void {
  // Small buffers of the runtime share their memory.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached) {
    buffer.transfer(0);
  }
}

/** Of `node:crypto`, as that of the web copies the bytes. */
export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
