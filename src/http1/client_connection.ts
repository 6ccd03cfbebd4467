import { SECOND } from "../rules/units.ts";
import { Connection, ConnectionLost, type MessagePart, type Transport } from "./connection.ts";
import type { ConnectionTable, TrackedConnection } from "./connection_table.ts";

/** How long a head may take from its first byte. */
const HEAD_TIMEOUT = 30 * SECOND;

/** How long a connection may wait for a request. A proxy in front has to give up its unused connections before. */
const KEEP_ALIVE_TIMEOUT = 60 * SECOND;

/** How long a caller who is refused while it sends is listened to, so that it can read why. */
const LINGER_TIME = 2 * SECOND;

/** How long a connection is idle before it gives up its buffer for answers, in milliseconds. */
const SHRINK_AFTER = 1000;

/** Bytes that a client has to take within its time: fewer than any buffer of a system holds. */
const PROGRESS = 65_536;

/**
 * The connection of a client, and what it owes in time: a head within `HEAD_TIMEOUT` of its first byte, the next request
 * within `KEEP_ALIVE_TIMEOUT`, and taking what is sent.
 */
export class ClientConnection implements TrackedConnection {
  readonly connection: Connection;
  /** Called in place of closing the connection when bytes that `expectBytes` waits for are late. */
  onLate: (() => void) | undefined;
  readonly #connections: ConnectionTable;
  readonly #patience: number;
  /** When bytes of the client have to have come. */
  #readBy = Infinity;
  #expectsSince: number | undefined;
  #shrinkAt = Infinity;
  /** The last time that `PROGRESS` bytes had been taken, while it is written to. */
  #takenAt = 0;
  #takenUpTo = 0;

  /** @param patience How long the client may take for `PROGRESS` bytes, in milliseconds. */
  constructor(
    connection: Transport,
    readonly address: Deno.NetAddr,
    { connections, patience }: { connections: ConnectionTable; patience: number },
  ) {
    this.connection = new Connection(connection);
    this.#connections = connections;
    this.#patience = patience;
    this.awaitHead();
  }

  get stalledSince(): number | undefined {
    return this.connection.isWriting ? this.#takenAt : this.#expectsSince;
  }

  /** Waits for the first byte of a request. */
  awaitRequest(): void {
    const { clock } = this.#connections;
    this.#connections.setIdle(this);
    this.#readBy = clock.in(KEEP_ALIVE_TIMEOUT);
    this.#shrinkAt = clock.in(SHRINK_AFTER);
    this.connection.reader.shrink();
  }

  /** Waits for the rest of a head, or of a handshake. */
  awaitHead(): void {
    this.#readBy = this.#connections.clock.in(HEAD_TIMEOUT);
  }

  /** A request is being answered: the client owes nothing but what `expectBytes` says. */
  beginRequest(): void {
    this.#readBy = this.#shrinkAt = Infinity;
    this.#connections.setBusy(this);
  }

  /** Bytes have to come within so many milliseconds. */
  expectBytes(time: number): void {
    const { clock } = this.#connections;
    this.#readBy = clock.in(time);
    this.#expectsSince = clock.now;
  }

  expectNothing(): void {
    this.#readBy = Infinity;
    this.#expectsSince = undefined;
  }

  /** Sends a head and bytes of a body, which the client has to take in time. @throws {ConnectionLost} */
  async send(sending: MessagePart): Promise<void> {
    this.#beginWriting();
    await this.connection.send(sending);
  }

  /** The same for bytes. @throws {ConnectionLost} */
  async write(bytes: Uint8Array): Promise<void> {
    this.#beginWriting();
    await this.connection.write(bytes);
  }

  /** Says that nothing more is sent; ends when the client's side has all of it. */
  async end(): Promise<void> {
    this.onLate = undefined;
    this.expectBytes(this.#patience);
    await this.connection.closeWrite();
    this.expectNothing();
  }

  /** Hears out a client that still sends: with unread bytes the connection would break before the answer was read. */
  async linger(): Promise<void> {
    const { reader } = this.connection;
    await this.end();
    this.#connections.setIdle(this);
    this.#readBy = this.#connections.clock.in(LINGER_TIME);
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
    if (!this.connection.isWriting) return;
    if (this.connection.written >= this.#takenUpTo + PROGRESS) {
      this.#takenUpTo = this.connection.written;
      this.#takenAt = now;
    } else if (this.#takenAt + this.#patience < now) {
      this.close();
    }
  }

  /** Closes the connection. An answer that has been written whole still reaches a client that takes it. */
  close(): void {
    if (this.connection.isWriting || this.connection.written === 0) this.connection.abort();
    else this.connection.close();
  }

  #beginWriting(): void {
    this.#takenUpTo = this.connection.written;
    this.#takenAt = this.#connections.clock.in(0);
  }
}

/** Whether an error says no more than that the client has left, or was sent away. */
export function isGone(error: unknown): boolean {
  return error instanceof ConnectionLost;
}
