import type { Transport } from "./connection.ts";

/** Buffers of a relay: small while little comes, as idle connections hold two of them. */
const MIN_BUFFER = 2048;
const MAX_BUFFER = 65_536;

/** How long the two ends of a relay may take to find each other, in milliseconds: they are on one machine. */
const PAIRING_TIME = 5000;

/** How long bytes that wait for a client may make no progress after their connection was closed, in milliseconds. */
const FLUSH_TIME = 10_000;

/** The pause after a connection that could not be accepted, in milliseconds. */
const ACCEPT_PAUSE = 20;

const LOOPBACK = "127.0.0.1";

/**
 * Speaks TLS on accepted connections. The runtime does not let go of a socket of TLS whose client stalls, in a handshake or
 * while it is written to, and offers TLS for a server only on its own listener. So each connection is relayed to such a
 * listener on the loopback interface: what faces the client is a plain socket, which can always be closed.
 */
export class TlsAcceptor {
  readonly #listener: Deno.TlsListener;
  /** Those who wait for the other end of their relay, by the port that it comes from, and ends that came before. */
  readonly #waiting = new Map<number, (connection: Deno.TlsConn) => void>();
  readonly #arrived = new Map<number, Deno.TlsConn>();
  #isClosed = false;

  /** @throws where the certificate or its key cannot be used. */
  constructor(files: { cert: string; key: string }) {
    const address = { hostname: LOOPBACK, port: 0 };
    this.#listener = Deno.listenTls({ ...address, ...files, alpnProtocols: ["http/1.1"] });
    this.#acceptAll();
  }

  /** The connection to talk to a client with. The handshake is still to come. @throws where there are no descriptors. */
  async secure(client: Deno.TcpConn): Promise<TlsConnection> {
    const { port } = this.#listener.addr as Deno.NetAddr;
    const relay = await Deno.connect({ hostname: LOOPBACK, port });
    try {
      relay.setNoDelay(true);
      const inner = await this.#otherEnd(relay.localAddr.port);
      return new TlsConnection(client, relay, inner);
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
    const timer = setTimeout(() => reject(new Error("The relay of TLS is late")), PAIRING_TIME);
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
        // There are no descriptors left, or the listener was closed.
        if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE));
      }
    }
  }

  #pair(connection: Deno.TlsConn): void {
    const { port } = connection.remoteAddr as Deno.NetAddr;
    const claim = this.#waiting.get(port);
    if (claim !== undefined) return claim(connection);
    this.#arrived.set(port, connection);
    // Another program of this machine may have connected, whom nobody waits for.
    setTimeout(() => {
      if (this.#arrived.get(port) !== connection) return;
      this.#arrived.delete(port);
      closeQuietly(connection);
    }, PAIRING_TIME);
  }
}

/** A client's connection under TLS: what is read and written here is plain. */
export class TlsConnection implements Transport {
  readonly #client: Deno.TcpConn;
  readonly #relay: Deno.TcpConn;
  readonly #inner: Deno.TlsConn;
  #onClose: () => void = () => {};
  #isClosing = false;
  #isGone = false;
  /** Resolves when everything that the server wrote has been handed to the client, up to its end, or never will be. */
  readonly #flushed = Promise.withResolvers<void>();
  #isFlushed = false;
  #progress = 0;

  constructor(client: Deno.TcpConn, relay: Deno.TcpConn, inner: Deno.TlsConn) {
    this.#client = client;
    this.#relay = relay;
    this.#inner = inner;
    this.#pump(client, relay).catch(() => this.abort());
    this.#pump(relay, client).then(() => this.#endFlush(), () => this.abort());
  }

  /** Called once, when all of its sockets are closed. */
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

  /** Says that nothing more is sent; ends when the client's side has all of it. */
  async closeWrite(): Promise<void> {
    await this.#inner.closeWrite();
    await this.#flushed.promise;
  }

  /** Closes it when what was written has left. */
  close(): void {
    this.#isClosing = true;
    closeQuietly(this.#inner);
    if (this.#isFlushed) return this.abort();
    const watch = (seen: number) => {
      if (this.#isGone) return;
      if (this.#progress === seen) return this.abort();
      setTimeout(watch, FLUSH_TIME, this.#progress);
    };
    setTimeout(watch, FLUSH_TIME, this.#progress);
  }

  /** Closes it at once. */
  abort(): void {
    if (this.#isGone) return;
    this.#isGone = true;
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
      buffer = fitting(buffer, count);
    }
    await to.closeWrite();
  }
}

/** A buffer for what comes next, after so many bytes came. */
function fitting(buffer: Uint8Array, count: number): Uint8Array {
  const { length } = buffer;
  if (count === length && length < MAX_BUFFER) return new Uint8Array(4 * length);
  return count * 16 < length ? new Uint8Array(MIN_BUFFER) : buffer;
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
