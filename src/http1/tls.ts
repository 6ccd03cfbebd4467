import { delay } from "@std/async/delay";
import { closeQuietly, type Transport } from "./connection.ts";

/** Sizes of a relay's buffers, in bytes: small while little is transferred, as every connection holds two of them. */
const MIN_BUFFER = 2048;
const MAX_BUFFER = 65_536;

/** Time for the two ends of a relay to be matched, in milliseconds. Both are on this machine. */
const PAIRING_TIMEOUT = 5000;

/** How long pending bytes may make no progress after their connection was closed, in milliseconds. */
const FLUSH_TIMEOUT = 10_000;

/** The pause after a failed accept, in milliseconds. */
const ACCEPT_PAUSE = 20;

const LOOPBACK = "127.0.0.1";

/**
 * Adds TLS to accepted connections. Deno cannot close a TLS socket whose client stalls during the handshake or a write,
 * and offers server-side TLS only through its own listener. Each connection is therefore relayed to such a listener on
 * the loopback interface: the client's side is a plain socket, which can always be closed.
 */
export class TlsAcceptor {
  readonly #listener: Deno.TlsListener;
  /** Pending relays, and accepted ends without a relay yet, by the port of the relay's near end. */
  readonly #waiting = new Map<number, (connection: Deno.TlsConn) => void>();
  readonly #arrived = new Map<number, Deno.TlsConn>();
  #isClosed = false;

  /** @throws if the certificate or its key is invalid. */
  constructor(files: { cert: string; key: string }) {
    const address = { hostname: LOOPBACK, port: 0 };
    this.#listener = Deno.listenTls({ ...address, ...files, alpnProtocols: ["http/1.1"] });
    this.#acceptAll();
  }

  /** Returns the encrypted transport of a client before its handshake. @throws if no descriptors are left. */
  async secure(client: Deno.TcpConn): Promise<TlsTransport> {
    const { port } = this.#listener.addr as Deno.NetAddr;
    const relay = await Deno.connect({ hostname: LOOPBACK, port });
    try {
      relay.setNoDelay(true);
      const inner = await this.#otherEnd(relay.localAddr.port);
      return new TlsTransport(client, relay, inner);
    } catch (error) {
      closeQuietly(relay);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#listener.close();
  }

  async #otherEnd(port: number): Promise<Deno.TlsConn> {
    const arrived = this.#arrived.get(port);
    this.#arrived.delete(port);
    if (arrived !== undefined) return arrived;
    const { promise, resolve, reject } = Promise.withResolvers<Deno.TlsConn>();
    this.#waiting.set(port, resolve);
    // `deadline` of `@std/async` would keep a timer for 5 s after every new connection.
    const timer = setTimeout(() => reject(new Error("The TLS relay timed out")), PAIRING_TIMEOUT);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(port);
    }
  }

  async #acceptAll(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#pair(await this.#listener.accept());
      } catch {
        // No descriptors are left, or the listener was closed.
        if (!this.#isClosed) await delay(ACCEPT_PAUSE);
      }
    }
  }

  #pair(connection: Deno.TlsConn): void {
    const { port } = connection.remoteAddr as Deno.NetAddr;
    const claim = this.#waiting.get(port);
    if (claim !== undefined) return claim(connection);
    this.#arrived.set(port, connection);
    // Another program on this machine may have connected: its connection is never claimed.
    setTimeout(() => {
      if (this.#arrived.get(port) !== connection) return;
      this.#arrived.delete(port);
      closeQuietly(connection);
    }, PAIRING_TIMEOUT);
  }
}

/** A client's TLS connection. `read` and `write` transfer plain text. */
export class TlsTransport implements Transport {
  readonly #client: Deno.TcpConn;
  readonly #relay: Deno.TcpConn;
  readonly #inner: Deno.TlsConn;
  #onClose: () => void = () => {};
  #isClosing = false;
  #isClosed = false;
  /** Resolves when all written bytes were passed to the client's socket, or the connection was aborted. */
  readonly #flushed = Promise.withResolvers<void>();
  #isFlushed = false;
  /** Counts writes to either side. */
  #progress = 0;

  constructor(client: Deno.TcpConn, relay: Deno.TcpConn, inner: Deno.TlsConn) {
    this.#client = client;
    this.#relay = relay;
    this.#inner = inner;
    this.#pump(client, relay).catch(() => this.abort());
    this.#pump(relay, client).then(() => this.#endFlush(), () => this.abort());
  }

  /** Called once, when all three sockets are closed. */
  set onClose(listener: () => void) {
    this.#onClose = listener;
  }

  async handshake(): Promise<void> {
    await this.#inner.handshake();
  }

  read(into: Uint8Array): Promise<number | null> {
    return this.#inner.read(into);
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.#inner.write(bytes);
  }

  /** Closes the sending direction, and waits until all written bytes were passed to the client's socket. */
  async closeWrite(): Promise<void> {
    await this.#inner.closeWrite();
    await this.#flushed.promise;
  }

  /** Closes the connection after the written bytes were flushed, or made no progress for `FLUSH_TIMEOUT`. */
  close(): void {
    this.#isClosing = true;
    closeQuietly(this.#inner);
    if (this.#isFlushed) return this.abort();
    const check = (seen: number) => {
      if (this.#isClosed) return;
      if (this.#progress === seen) return this.abort();
      setTimeout(check, FLUSH_TIMEOUT, this.#progress);
    };
    setTimeout(check, FLUSH_TIMEOUT, this.#progress);
  }

  /** Closes the connection at once. */
  abort(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const connection of [this.#client, this.#relay, this.#inner]) closeQuietly(connection);
    this.#flushed.resolve();
    this.#onClose();
  }

  #endFlush(): void {
    this.#isFlushed = true;
    this.#flushed.resolve();
    if (this.#isClosing) this.abort();
  }

  async #pump(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
    let buffer: Uint8Array = new Uint8Array(MIN_BUFFER);
    for (;;) {
      const count = await from.read(buffer);
      if (count === null) break;
      for (let sent = 0; sent < count;) {
        sent += await to.write(buffer.subarray(sent, count));
        this.#progress++;
      }
      buffer = resized(buffer, count);
    }
    await to.closeWrite();
  }
}

/** Returns the buffer for the next read, given the size of the last one. */
function resized(buffer: Uint8Array, count: number): Uint8Array {
  const { length } = buffer;
  if (count === length && length < MAX_BUFFER) return new Uint8Array(4 * length);
  return count * 16 < length ? new Uint8Array(MIN_BUFFER) : buffer;
}
