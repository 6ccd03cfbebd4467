import { Connection, type MessagePart, type Transport } from "./connection.ts";
import type { ConnectionTable, TrackedConnection } from "./connection_table.ts";

/** Time for a complete head, from its first byte, in milliseconds. */
const HEAD_TIMEOUT = 30_000;

/** Time for the next request, in milliseconds. A proxy in front must close its idle connections earlier. */
const KEEP_ALIVE_TIMEOUT = 60_000;

/** How long a rejected client may go on sending, in milliseconds, so that it can read the response. */
const LINGER_TIME = 2000;

/** Idle time after which a connection releases its write buffer, in milliseconds. */
const SHRINK_AFTER = 1000;

/** Bytes that a client must accept within the write timeout: fewer than any system's socket buffer holds. */
const PROGRESS = 65_536;

export interface ClientOptions {
  connections: ConnectionTable;
  /** Time in which a client must accept 64 KiB of a response, in milliseconds. */
  writeTimeout: number;
}

/**
 * A client's connection with its deadlines: `HEAD_TIMEOUT` for a head, `KEEP_ALIVE_TIMEOUT` for the next request, and
 * the write timeout for accepting a response.
 */
export class ClientConnection implements TrackedConnection {
  readonly connection: Connection;
  /** Called instead of closing the connection when bytes requested by `expectBytes` are late. */
  onLate: (() => void) | undefined;
  /** Called when this side closes the connection, as to make room for another one. */
  onClose: (() => void) | undefined;
  idleSince: number | undefined;
  readonly #table: ConnectionTable;
  readonly #writeTimeout: number;
  /** Deadline for bytes from the client. */
  #readBy = Infinity;
  #expectsSince: number | undefined;
  /** How long nothing may be transferred, in milliseconds, since when nothing was, and all bytes until then. */
  #maxSilence = Infinity;
  #silentSince = 0;
  #transferred = 0;
  #shrinkAt = Infinity;
  /** Progress of the current write: when `PROGRESS` more bytes were last accepted, and how many there were then. */
  #progressAt = 0;
  #progressBytes = 0;

  constructor(
    transport: Transport,
    readonly address: Deno.NetAddr,
    { connections, writeTimeout }: ClientOptions,
  ) {
    this.connection = new Connection(transport, () => this.onClose?.());
    this.#table = connections;
    this.#writeTimeout = writeTimeout;
    this.awaitHead();
  }

  get stalledSince(): number | undefined {
    if (this.connection.isWriting) return this.#progressAt;
    return this.#maxSilence === Infinity ? this.#expectsSince : this.#silentSince;
  }

  /** Waits for the first byte of a request. */
  awaitRequest(): void {
    const { clock } = this.#table;
    this.#table.setIdle(this);
    this.#maxSilence = Infinity;
    this.#readBy = clock.in(KEEP_ALIVE_TIMEOUT);
    this.#shrinkAt = clock.in(SHRINK_AFTER);
    this.connection.reader.shrink();
  }

  /** Waits for the rest of a head or of a TLS handshake. */
  awaitHead(): void {
    this.#readBy = this.#table.clock.in(HEAD_TIMEOUT);
  }

  /**
   * Counts as idle during a request that waits for something else, until `beginRequest`: it makes room for others as idle
   * connections do.
   */
  setIdle(): void {
    this.#table.setIdle(this);
  }

  /**
   * Resolves when the client has left, or the connection was closed. It reads ahead, so it never resolves if the client
   * sends anything. To be called once in a request without a body.
   */
  async left(): Promise<void> {
    const { reader } = this.connection;
    if (reader.length > 0 || await reader.fill()) await new Promise(() => {});
  }

  /** Starts processing a request: until its end, only `expectBytes` sets a read deadline. */
  beginRequest(): void {
    this.#readBy = this.#shrinkAt = Infinity;
    this.#table.setBusy(this);
  }

  /** Sets a deadline for the next bytes, in milliseconds from now. */
  expectBytes(time: number): void {
    const { clock } = this.#table;
    this.#readBy = clock.in(time);
    this.#expectsSince = clock.now;
  }

  /** Clears the deadline of `expectBytes`. */
  expectNothing(): void {
    this.#readBy = Infinity;
    this.#expectsSince = undefined;
  }

  /**
   * Closes the connection when no byte was transferred in either direction for a time, in milliseconds, until
   * `awaitRequest`. While nothing is transferred, the request counts as stalled.
   */
  limitSilence(time: number): void {
    this.#maxSilence = time;
    this.#silentSince = this.#table.clock.now;
  }

  /** Sends a part of a message within the write timeout. @throws {ConnectionLost} */
  send(part: MessagePart): Promise<void> {
    this.#beginWriting();
    return this.connection.send(part);
  }

  /** Sends bytes within the write timeout. @throws {ConnectionLost} */
  write(bytes: Uint8Array): Promise<void> {
    this.#beginWriting();
    return this.connection.write(bytes);
  }

  /** Closes the sending direction, and waits until the client has received everything. */
  async closeWrite(): Promise<void> {
    this.onLate = undefined;
    this.expectBytes(this.#writeTimeout);
    await this.connection.closeWrite();
    this.expectNothing();
  }

  /**
   * Closes the sending direction, then reads and discards for `LINGER_TIME`. If unread bytes were left at the close,
   * the system would reset the connection, and the client could miss the response.
   */
  async linger(): Promise<void> {
    const { reader } = this.connection;
    await this.closeWrite();
    this.#table.setIdle(this);
    this.#readBy = this.#table.clock.in(LINGER_TIME);
    do reader.skipTo(reader.end); while (await reader.fill());
  }

  check(now: number): void {
    if (this.#readBy < now) {
      this.#readBy = Infinity;
      if (this.onLate === undefined) this.close();
      else this.onLate();
    }
    if (this.#shrinkAt < now) {
      this.#shrinkAt = Infinity;
      this.connection.shrink();
    }
    this.#checkSilence(now);
    if (!this.connection.isWriting) return;
    if (this.connection.written >= this.#progressBytes + PROGRESS) {
      this.#progressBytes = this.connection.written;
      this.#progressAt = now;
    } else if (this.#progressAt + this.#writeTimeout < now) {
      this.close();
    }
  }

  /** Closes the connection. A completely written response still reaches a client that reads it. */
  close(): void {
    if (this.connection.isWriting || this.connection.written === 0) this.connection.abort();
    else this.connection.close();
  }

  #checkSilence(now: number): void {
    const transferred = this.connection.written + this.connection.reader.received;
    if (transferred !== this.#transferred) {
      this.#transferred = transferred;
      this.#silentSince = now;
    } else if (this.#silentSince + this.#maxSilence < now) this.close();
  }

  #beginWriting(): void {
    this.#progressBytes = this.connection.written;
    this.#progressAt = this.#table.clock.in(0);
  }
}
