import { Buffer } from "node:buffer";
import { MAX_READ_BUFFER } from "../drive/limits.ts";
import { ByteReader, type ByteSource } from "./byte_reader.ts";

/** What a wire is made of, such as a `Deno.Conn`. */
export interface Connection extends ByteSource {
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
export interface Sending {
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
export class Wire {
  readonly reader: ByteReader;
  /** Bytes that the other side, or the system for it, has taken. */
  written = 0;
  /** Whether bytes wait to be taken. */
  isWriting = false;
  readonly #connection: Connection;
  readonly #onClose: () => void;
  #out: Buffer | undefined;
  #isClosed = false;

  /** @param onClose Called once, when the connection is closed from this side. */
  constructor(connection: Connection, onClose: () => void = () => {}) {
    this.#connection = connection;
    this.#onClose = onClose;
    this.reader = new ByteReader(connection);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a head and bytes of a body with as few writes as may be. @throws {ConnectionLost} */
  async send({ head = "", piece, chunked, isLast }: Sending): Promise<void> {
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
  async end(): Promise<void> {
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
