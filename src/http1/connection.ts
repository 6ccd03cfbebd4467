import { Buffer } from "node:buffer";

/** Bounds of a read buffer, in bytes: the first while idle, the second while a body or a long head arrives. */
export const MIN_READ_BUFFER = 8192;
export const MAX_READ_BUFFER = 65_536;

/** Where a `ByteReader` gets its bytes from. `read` resolves to `null` at the end of the stream. */
export interface ByteSource {
  read(into: Uint8Array): Promise<number | null>;
}

/** The byte stream below a `Connection`, such as a `Deno.Conn`. */
export interface Transport extends ByteSource {
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  close(): void;
  /** Closes without flushing written bytes. `close` does that if this method is missing. */
  abort?(): void;
}

/** The connection ended, broke, or was closed by this side. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** Part of a message, sent with as few writes as possible. */
export interface MessagePart {
  /** The head with its empty line, one character per byte. */
  head?: string | undefined;
  /** Bytes of the body. */
  piece: Uint8Array;
  /** Whether the body uses the chunked transfer coding. */
  chunked: boolean;
  /** Whether the body ends with `piece`. */
  isLast: boolean;
}

/** An interim response that asks the client to send the body (RFC 9110, 15.2.1). */
export const CONTINUE: Uint8Array = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Room for a chunk size, two line ends and the last chunk. */
const CHUNK_FRAME = 32;
const LINE_END = "\r\n";
const LAST_CHUNK = "0\r\n\r\n";
const MIN_WRITE_BUFFER = 4096;

/** A connection: incoming bytes are read through `reader`; one write runs at a time. */
export class Connection {
  readonly reader: ByteReader;
  /** Bytes that the peer, or the operating system on its behalf, has accepted. */
  written = 0;
  /** Whether a write is waiting for the peer. */
  isWriting = false;
  #out: Buffer | undefined;
  #isClosed = false;

  /** @param onClose Called once, when this side closes the connection. */
  constructor(
    private readonly transport: Transport,
    private readonly onClose: () => void = () => {},
  ) {
    this.reader = new ByteReader(transport);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a part of a message. @throws {ConnectionLost} */
  send({ head = "", piece, chunked, isLast }: MessagePart): Promise<void> {
    if (head === "" && !chunked) return this.write(piece);
    // For a large piece, a second write is cheaper than copying it behind the head.
    if (!chunked && piece.length > MAX_READ_BUFFER / 2) return this.#sendApart(head, piece);
    return this.write(this.#compose(head, piece, chunked, isLast));
  }

  /** Writes all bytes. @throws {ConnectionLost} */
  async write(bytes: Uint8Array): Promise<void> {
    this.isWriting = true;
    try {
      let sent = 0;
      while (sent < bytes.length) {
        const rest = sent === 0 ? bytes : bytes.subarray(sent);
        const count = await this.transport.write(rest);
        sent += count;
        this.written += count;
      }
    } catch (cause) {
      throw new ConnectionLost("The connection broke during a write", { cause });
    } finally {
      this.isWriting = false;
    }
  }

  /** Releases a large write buffer. Call it after the connection has been idle for some time. */
  shrink(): void {
    if (!this.isWriting && (this.#out?.length ?? 0) > MIN_WRITE_BUFFER) this.#out = undefined;
  }

  /** Closes the sending direction. */
  async closeWrite(): Promise<void> {
    try {
      await this.transport.closeWrite();
    } catch {
      // The connection is already closed.
    }
  }

  /** Closes both directions, and interrupts any read or write in progress. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeQuietly(this.transport);
    this.onClose();
  }

  /** Closes the connection at once, without flushing written bytes. */
  abort(): void {
    this.close();
    this.transport.abort?.();
  }

  async #sendApart(head: string, piece: Uint8Array): Promise<void> {
    await this.write(this.#compose(head, NO_BYTES, false, false));
    await this.write(piece);
  }

  #compose(head: string, piece: Uint8Array, chunked: boolean, isLast: boolean): Uint8Array {
    const out = this.#writeBuffer(head.length + piece.length + CHUNK_FRAME);
    const isChunk = chunked && piece.length > 0;
    const begin = isChunk ? head + piece.length.toString(16) + LINE_END : head;
    let at = writeText(out, begin, 0);
    if (piece.length > 0) out.set(piece, at);
    at += piece.length;
    const end = (isChunk ? LINE_END : "") + (chunked && isLast ? LAST_CHUNK : "");
    if (end !== "") at += writeText(out, end, at);
    return new Uint8Array(out.buffer, out.byteOffset, at);
  }

  #writeBuffer(size: number): Buffer {
    if (this.#out === undefined || this.#out.length < size) {
      const power = Math.ceil(Math.log2(size));
      this.#out = Buffer.allocUnsafeSlow(Math.max(MIN_WRITE_BUFFER, 2 ** power));
    }
    return this.#out;
  }
}

/**
 * The bytes that arrived on a connection and were not consumed yet, at most `MAX_READ_BUFFER`. At most one read is in
 * progress; it may start before its bytes are needed. Views stay valid until the next call of `fill`.
 */
export class ByteReader {
  #buffer: Buffer;
  #start = 0;
  #end = 0;
  #filling: Promise<boolean> | undefined;
  #isLarge = false;
  /** Bytes that were read. */
  received = 0;
  /** Whether the last read failed, as opposed to reaching the end of the stream. */
  isBroken = false;

  constructor(private readonly source: ByteSource) {
    this.#buffer = Buffer.allocUnsafeSlow(MIN_READ_BUFFER);
  }

  /** The unread bytes are those from `start` to `end`. */
  get buffer(): Uint8Array<ArrayBufferLike> {
    return this.#buffer;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  /** The number of unread bytes. */
  get length(): number {
    return this.#end - this.#start;
  }

  get isFull(): boolean {
    return this.length >= MAX_READ_BUFFER;
  }

  /** Consumes the bytes before a position in `buffer`. */
  skipTo(position: number): void {
    this.#start = position;
  }

  /** Returns the bytes between two positions as text, one character per byte. */
  text(start: number, end: number): string {
    return this.#buffer.toString("latin1", start, end);
  }

  /** Consumes and returns at most `max` bytes. */
  take(max: number): Uint8Array {
    const from = this.#start;
    this.#start = Math.min(this.#end, from + max);
    return this.view(from, this.#start);
  }

  /** Returns the bytes between two positions. */
  view(start: number, end: number): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + start, end - start);
  }

  /** Uses a small buffer from the next read on, as between two messages, unless the large one holds bytes. */
  shrink(): void {
    this.#isLarge = false;
  }

  /**
   * Waits for more bytes; resolves to `false` at the end of the stream. Must not be called while the buffer is full.
   */
  fill(): Promise<boolean> {
    this.#filling ??= this.#read();
    return this.#filling;
  }

  async #read(): Promise<boolean> {
    this.#makeRoom();
    try {
      const room = this.#end === 0 ? this.#buffer : this.view(this.#end, this.#buffer.length);
      const count = await this.source.read(room);
      if (count === null) return false;
      this.#end += count;
      this.received += count;
      // Much data arrives in full buffers. A connection with little of it, such as a WebSocket, keeps a small one.
      if (count === room.length) this.#isLarge = true;
      else if (count < MIN_READ_BUFFER / 2) this.#isLarge = false;
      return true;
    } catch {
      // Every read error ends the connection.
      this.isBroken = true;
      return false;
    } finally {
      this.#filling = undefined;
    }
  }

  #makeRoom(): void {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    const { length } = this.#buffer;
    if (this.#isLarge && length < MAX_READ_BUFFER) return this.#move(MAX_READ_BUFFER);
    if (!this.#isLarge && this.#end === 0 && length > MIN_READ_BUFFER) {
      return this.#move(MIN_READ_BUFFER);
    }
    if (this.#end === length) this.#move(this.#start > 0 ? length : MAX_READ_BUFFER);
  }

  #move(size: number): void {
    const old = this.#buffer;
    if (size !== old.length) this.#buffer = Buffer.allocUnsafeSlow(size);
    old.copy(this.#buffer, 0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/** Closes a connection that may be closed already. */
export function closeQuietly(connection: Pick<Transport, "close">): void {
  try {
    connection.close();
  } catch {
    // It was closed already.
  }
}

const encoder = new TextEncoder();

/**
 * Writes one byte per character and returns the count. `encodeInto` is ten times as fast, but correct for ASCII only.
 */
function writeText(out: Buffer, text: string, at: number): number {
  const { read, written } = encoder.encodeInto(text, at === 0 ? out : out.subarray(at));
  if (read === text.length && written === text.length) return written;
  return out.write(text, at, "latin1");
}
