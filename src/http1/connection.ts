import { Buffer } from "node:buffer";

/** What a connection of the gate holds of what came in: at first, and while a body or a long head comes. */
export const MIN_READ_BUFFER = 8192;

export const MAX_READ_BUFFER = 65_536;

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
  isBroken = false;

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
  skipTo(position: number): void {
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
      this.isBroken = true;
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

/** What a wire is made of, such as a `Deno.Conn`. */
export interface Transport extends ByteSource {
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  close(): void;
  /** Closes it without waiting for what was written to leave. `close` does so where this is missing. */
  abort?(): void;
}

/** The connection ended, broke, or was closed by us. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** What is sent in one go. */
export interface MessagePart {
  /** A head, one character a byte, with its empty line. */
  head?: string | undefined;
  /** Bytes of a body. */
  piece: Uint8Array;
  /** Whether the body goes in chunks. */
  chunked: boolean;
  /** Whether the body ends with the piece. */
  isLast: boolean;
}

/** Room for the size of a chunk, its two line ends, and the last chunk. */
const CHUNK_FRAME = 32;
const LINE_END = "\r\n";
const LAST_CHUNK = "0\r\n\r\n";
const FIRST_OUT_BUFFER = 4096;

/** A connection: what it reads is in `reader`, and it writes one thing after the other. */
export class Connection {
  readonly reader: ByteReader;
  /** Bytes that the other side, or the system for it, has taken. */
  written = 0;
  /** Whether bytes wait to be taken. */
  isWriting = false;
  readonly #connection: Transport;
  readonly #onClose: () => void;
  #out: Buffer | undefined;
  #isClosed = false;

  /** @param onClose Called once, when the connection is closed from this side. */
  constructor(connection: Transport, onClose: () => void = () => {}) {
    this.#connection = connection;
    this.#onClose = onClose;
    this.reader = new ByteReader(connection);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a head and bytes of a body with as few writes as may be. @throws {ConnectionLost} */
  async send({ head = "", piece, chunked, isLast }: MessagePart): Promise<void> {
    if (head === "" && !chunked) return await this.write(piece);
    // A head that goes with a large piece is not worth copying the piece.
    if (!chunked && piece.length > MAX_READ_BUFFER / 2) {
      await this.write(this.#compose(head, NOTHING, false, false));
      return await this.write(piece);
    }
    await this.write(this.#compose(head, piece, chunked, isLast));
  }

  /** @throws {ConnectionLost} */
  async write(bytes: Uint8Array): Promise<void> {
    this.isWriting = true;
    try {
      let sent = 0;
      while (sent < bytes.length) {
        const rest = sent === 0 ? bytes : bytes.subarray(sent);
        const count = await this.#connection.write(rest);
        sent += count;
        this.written += count;
      }
    } catch (cause) {
      throw new ConnectionLost("The connection broke while it was written to", { cause });
    } finally {
      this.isWriting = false;
    }
  }

  /** Gives up the buffer for what is sent, if it is large. Call it when the connection has been idle for some time. */
  shrink(): void {
    if (!this.isWriting && (this.#out?.length ?? 0) > FIRST_OUT_BUFFER) this.#out = undefined;
  }

  /** Says that nothing more is sent. */
  async closeWrite(): Promise<void> {
    try {
      await this.#connection.closeWrite();
    } catch {
      // It is over already.
    }
  }

  /** Closes it for both directions, whatever is under way. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#connection.close();
    } catch {
      // It is over already.
    }
    this.#onClose();
  }

  /** Closes it at once, also where bytes wait for the other side. */
  abort(): void {
    this.close();
    this.#connection.abort?.();
  }

  #compose(head: string, piece: Uint8Array, chunked: boolean, isLast: boolean): Uint8Array {
    const out = this.#outBuffer(head.length + piece.length + CHUNK_FRAME);
    const frame = chunked && piece.length > 0;
    const begin = frame ? head + piece.length.toString(16) + LINE_END : head;
    let at = writeText(out, begin, 0);
    out.set(piece, at);
    at += piece.length;
    const end = (frame ? LINE_END : "") + (chunked && isLast ? LAST_CHUNK : "");
    if (end !== "") at += writeText(out, end, at);
    return new Uint8Array(out.buffer, out.byteOffset, at);
  }

  #outBuffer(size: number): Buffer {
    if (this.#out === undefined || this.#out.length < size) {
      const power = Math.ceil(Math.log2(size));
      this.#out = Buffer.allocUnsafeSlow(Math.max(FIRST_OUT_BUFFER, 2 ** power));
    }
    return this.#out;
  }
}

const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();

/** Writes one byte a character; gives how many. Nearly every text is ASCII, for which the encoder is ten times as fast. */
function writeText(out: Buffer, text: string, at: number): number {
  const { read, written } = encoder.encodeInto(text, at === 0 ? out : out.subarray(at));
  if (read === text.length && written === text.length) return written;
  return out.write(text, at, "latin1");
}
