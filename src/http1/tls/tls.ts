import { MAX_CLIENT_HELLO, parseClientHello } from "./client_hello.ts";
import { closeQuietly, ConnectionLost, type Transport } from "../connection.ts";
import { type CertificateSource, type Relay, type TlsCertificate, TlsEnd } from "./tls_end.ts";

/** Sizes of a relay's buffers, in bytes: small while little is transferred, as every connection holds two of them. */
const MIN_BUFFER = 2048;
const MAX_BUFFER = 65_536;

/** How long pending bytes may make no progress after their connection was closed, in milliseconds. */
const FLUSH_TIMEOUT = 10_000;

/** Certificates that are ready for handshakes. Each takes a descriptor; the least recently used one is closed. */
const MAX_ENDS = 32;

/** A fatal alert: "no server with that name" (RFC 8446, 6: unrecognized_name). */
const UNRECOGNIZED_NAME = Uint8Array.of(21, 3, 3, 0, 2, 2, 112);

/**
 * Adds TLS to accepted connections. Deno cannot close a TLS socket whose client stalls during the handshake or a write,
 * and selects no certificate by the client's first message. Each connection is therefore relayed to the `TlsEnd` of
 * its certificate: the client's side is a plain socket, which can be read first, and closed at any time.
 */
export class TlsAcceptor {
  readonly #source: CertificateSource;
  /** Least recently used first. */
  readonly #ends = new Map<TlsCertificate, TlsEnd>();
  #isClosed = false;

  /** @throws if a fixed certificate or its key is invalid. */
  constructor(tls: TlsCertificate | CertificateSource) {
    if ("select" in tls) {
      this.#source = tls;
    } else {
      this.#source = { select: () => tls, isCurrent: () => true };
      this.#endOf(tls);
    }
  }

  /** Returns the encrypted transport of a client before its handshake. */
  secure(client: Deno.TcpConn): TlsTransport {
    return new TlsTransport(client, (first) => this.#open(client, first));
  }

  /** Accepts no further handshakes. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.values()) end.close();
  }

  async #open(client: Deno.TcpConn, { serverName }: FirstMessage): Promise<Relay> {
    const selected = await this.#source.select(serverName);
    if (selected === undefined || this.#isClosed) {
      await client.write(UNRECOGNIZED_NAME);
      throw new ConnectionLost("There is no certificate for the client");
    }
    return await this.#endOf(selected).connect();
  }

  #endOf(certificate: TlsCertificate): TlsEnd {
    const known = this.#ends.get(certificate);
    const end = known ?? new TlsEnd(certificate);
    this.#ends.delete(certificate);
    if (known === undefined) this.#closeOthers();
    this.#ends.set(certificate, end);
    return end;
  }

  /** Makes room for another end: closes those of replaced certificates, else the least recently used one. */
  #closeOthers(): void {
    for (const [certificate, end] of this.#ends) {
      if (this.#source.isCurrent(certificate) && this.#ends.size < MAX_ENDS) continue;
      this.#ends.delete(certificate);
      end.close();
    }
  }
}

/** What a client has sent until its first message was complete. */
interface FirstMessage {
  serverName: string | undefined;
  bytes: Uint8Array;
}

/** Opens the relay of a client. @throws if there is no certificate for it, or if no descriptors are left. */
type OpenRelay = (first: FirstMessage) => Promise<Relay>;

/** A client's TLS connection. `read` and `write` transfer plain text. */
export class TlsTransport implements Transport {
  readonly #opening: Promise<Relay>;
  #relay: Relay | undefined;
  #onClose: () => void = () => {};
  #isClosing = false;
  #isClosed = false;
  /** Resolves when all written bytes were passed to the client's socket, or the connection was aborted. */
  readonly #flushed = Promise.withResolvers<void>();
  #isFlushed = false;
  /** Counts writes to either side. */
  #progress = 0;

  constructor(private readonly client: Deno.TcpConn, open: OpenRelay) {
    this.#opening = this.#open(open);
    // Reported by the handshake, or by the first read or write.
    this.#opening.catch(() => {});
  }

  /** Called once, when all three sockets are closed. */
  set onClose(listener: () => void) {
    this.#onClose = listener;
  }

  /** Completes the handshake. @throws if the client ends it, if it has no certificate, or if no descriptors are left. */
  async handshake(): Promise<void> {
    const { inner } = await this.#opening;
    await inner.handshake();
  }

  read(into: Uint8Array): Promise<number | null> {
    return this.#relay === undefined ? this.#readLater(into) : this.#relay.inner.read(into);
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.#relay === undefined ? this.#writeLater(bytes) : this.#relay.inner.write(bytes);
  }

  /** Closes the sending direction, and waits until all written bytes were passed to the client's socket. */
  async closeWrite(): Promise<void> {
    const { inner } = await this.#opening;
    await inner.closeWrite();
    await this.#flushed.promise;
  }

  /** Closes the connection after the written bytes were flushed, or made no progress for `FLUSH_TIMEOUT`. */
  close(): void {
    this.#isClosing = true;
    if (this.#relay !== undefined) closeQuietly(this.#relay.inner);
    if (this.#isFlushed || this.#relay === undefined) return this.abort();
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
    closeQuietly(this.client);
    if (this.#relay !== undefined) closeRelay(this.#relay);
    this.#flushed.resolve();
    this.#onClose();
  }

  async #readLater(into: Uint8Array): Promise<number | null> {
    const { inner } = await this.#opening;
    return await inner.read(into);
  }

  async #writeLater(bytes: Uint8Array): Promise<number> {
    const { inner } = await this.#opening;
    return await inner.write(bytes);
  }

  /** Reads the client's first message, opens the relay for it, and begins to transfer bytes. */
  async #open(open: OpenRelay): Promise<Relay> {
    try {
      const first = await this.#readHello();
      const relay = await open(first);
      if (this.#isClosed) {
        closeRelay(relay);
        throw new ConnectionLost("The connection was closed");
      }
      this.#relay = relay;
      this.#transfer(first.bytes, relay.near);
      return relay;
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  async #readHello(): Promise<FirstMessage> {
    let buffer = new Uint8Array(MIN_BUFFER);
    for (let length = 0; length < MAX_CLIENT_HELLO;) {
      const count = await this.client.read(buffer.subarray(length));
      if (count === null) throw new ConnectionLost("The client left before the handshake");
      length += count;
      const bytes = buffer.subarray(0, length);
      const hello = parseClientHello(bytes);
      // The TLS implementation answers what is no ClientHello with the alert that it deserves.
      if (hello === "malformed") return { serverName: undefined, bytes };
      if (hello !== undefined) return { ...hello, bytes };
      if (length === buffer.length) {
        buffer = new Uint8Array(2 * length);
        buffer.set(bytes);
      }
    }
    throw new ConnectionLost("The first message of the client is too long");
  }

  #transfer(first: Uint8Array, near: Deno.TcpConn): void {
    const client = this.client;
    this.#pump(client, near, first).catch(() => this.abort());
    this.#pump(near, client).then(() => this.#endFlush(), () => this.abort());
  }

  #endFlush(): void {
    this.#isFlushed = true;
    this.#flushed.resolve();
    if (this.#isClosing) this.abort();
  }

  async #pump(from: Deno.TcpConn, to: Deno.TcpConn, first?: Uint8Array): Promise<void> {
    if (first !== undefined) await this.#writeAll(to, first);
    let buffer: Uint8Array = new Uint8Array(MIN_BUFFER);
    for (;;) {
      const count = await from.read(buffer);
      if (count === null) break;
      await this.#writeAll(to, buffer.subarray(0, count));
      buffer = resized(buffer, count);
    }
    await to.closeWrite();
  }

  async #writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await to.write(sent === 0 ? bytes : bytes.subarray(sent));
      this.#progress++;
    }
  }
}

function closeRelay({ near, inner }: Relay): void {
  closeQuietly(near);
  closeQuietly(inner);
}

/** Returns the buffer for the next read, given the size of the last one. */
function resized(buffer: Uint8Array, count: number): Uint8Array {
  const { length } = buffer;
  if (count === length && length < MAX_BUFFER) return new Uint8Array(4 * length);
  return count * 16 < length ? new Uint8Array(MIN_BUFFER) : buffer;
}

/**
 * Begins TLS on a connection to another server.
 *
 * @param name The host that its certificate must have, as `URL` has it.
 * @param signal Closes the connection when it is aborted before the handshake is complete.
 */
export async function secureClient(
  plain: Deno.TcpConn,
  name: string,
  signal: AbortSignal,
): Promise<Deno.TlsConn> {
  const hostname = name.replace(/^\[|\]$/g, "");
  const transport = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
  const abort = () => closeQuietly(transport);
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    await transport.handshake();
    signal.throwIfAborted();
    return transport;
  } catch (error) {
    closeQuietly(transport);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
