import { Buffer } from "node:buffer";
import { MAX_READ_BUFFER, MIN_READ_BUFFER } from "../drive/limits.ts";

/** What bytes come from: a connection. */
export interface ByteSource {
  read(into: Uint8Array): Promise<number | null>;
}

/**
 * The bytes that came in over a connection and were not taken yet, at the most `MAX_READ_BUFFER` of them. Never more than
 * one read is under way, and it may be begun before anybody needs its bytes.
 */
export class ByteReader {
  readonly #source: ByteSource;
  #buffer: Buffer;
  #start = 0;
  #end = 0;
  #filling: Promise<boolean> | undefined;
  #wide = false;
  /** Whether the connection broke, and did not just end. */
  broken = false;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#buffer = Buffer.allocUnsafeSlow(MIN_READ_BUFFER);
  }

  /** What lies at `start` to `end` has come and was not taken. It stays until the next `fill`, whoever calls it. */
  get buffer(): Uint8Array<ArrayBufferLike> {
    return this.#buffer;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  get isFull(): boolean {
    return this.length >= MAX_READ_BUFFER;
  }

  /** Takes what lies before the position. */
  takeTo(position: number): void {
    this.#start = position;
  }

  /** A part of what came, one character a byte. */
  text(start: number, end: number): string {
    return this.#buffer.toString("latin1", start, end);
  }

  /** Takes so many bytes at the most. They stay until the next `fill`, whoever calls it. */
  take(most: number): Uint8Array {
    const from = this.#start;
    this.#start = Math.min(this.#end, from + most);
    return this.view(from, this.#start);
  }

  /** The bytes from one position to another. They stay until the next `fill`, whoever calls it. */
  view(start: number, end: number): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + start, end - start);
  }

  /** Reads in large pieces from now on. */
  widen(): void {
    this.#wide = true;
  }

  /** Gives up a large buffer between two messages, unless it holds bytes or is being read into. */
  shrink(): void {
    this.#wide = false;
    if (this.length > 0 || this.#filling !== undefined) return;
    if (this.#buffer.length > MIN_READ_BUFFER) {
      this.#buffer = Buffer.allocUnsafeSlow(MIN_READ_BUFFER);
    }
    this.#start = this.#end = 0;
  }

  /** Waits for more bytes; gives `false` where no more come. It must not be called while the buffer is full. */
  fill(): Promise<boolean> {
    this.#filling ??= this.#read();
    return this.#filling;
  }

  async #read(): Promise<boolean> {
    this.#makeRoom();
    try {
      const count = await this.#source.read(this.view(this.#end, this.#buffer.length));
      this.#end += count ?? 0;
      return count !== null;
    } catch {
      // Whatever keeps a connection from being read, it is over.
      this.broken = true;
      return false;
    } finally {
      this.#filling = undefined;
    }
  }

  #makeRoom(): void {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    const { length } = this.#buffer;
    if (this.#wide && length < MAX_READ_BUFFER) return this.#move(MAX_READ_BUFFER);
    if (this.#end < length) return;
    if (this.#start > 0) return this.#move(length);
    this.#move(Math.min(2 * length, MAX_READ_BUFFER));
  }

  #move(size: number): void {
    const old = this.#buffer;
    if (size !== old.length) this.#buffer = Buffer.allocUnsafeSlow(size);
    old.copy(this.#buffer, 0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }
}
