import { delay } from "@std/async/delay";
import { closeQuietly } from "../connection.ts";

/** Time for the two ends of a relay to be matched, in milliseconds. Both are on this machine. */
const PAIRING_TIMEOUT = 5000;

/** The pause after a failed accept, in milliseconds. */
const ACCEPT_PAUSE = 20;

const LOOPBACK = "127.0.0.1";

/** The two sockets of a relay: its near end takes encrypted bytes, the inner end has the plain ones. */
export interface Relay {
  near: Deno.TcpConn;
  inner: Deno.TlsConn;
}

/**
 * Encrypts connections with one certificate. Deno offers server-side TLS only through its own listener, so each
 * connection leads to such a listener on the loopback interface.
 */
export class TlsEnd {
  readonly #listener: Deno.TlsListener;
  /** Relays that wait for their inner end, and inner ends that nothing waits for yet, by the port of the near end. */
  readonly #waiting = new Map<number, (connection: Deno.TlsConn) => void>();
  readonly #arrived = new Map<number, Deno.TlsConn>();
  #connecting = 0;
  #isClosing = false;
  #isClosed = false;

  /** @throws if the certificate or its key is invalid. */
  constructor({ cert, key }: TlsCertificate) {
    const address = { hostname: LOOPBACK, port: 0 };
    this.#listener = Deno.listenTls({ ...address, cert, key, alpnProtocols: ["http/1.1"] });
    this.#acceptAll();
  }

  /** Opens a relay. @throws if no descriptors are left. */
  async connect(): Promise<Relay> {
    this.#connecting++;
    try {
      const { port } = this.#listener.addr as Deno.NetAddr;
      const near = await Deno.connect({ hostname: LOOPBACK, port });
      try {
        near.setNoDelay(true);
        return { near, inner: await this.#innerEnd(near.localAddr.port) };
      } catch (error) {
        closeQuietly(near);
        throw error;
      }
    } finally {
      this.#connecting--;
      if (this.#isClosing) this.close();
    }
  }

  /** Stops listening once the relays that are being opened are complete. Complete ones stay. */
  close(): void {
    this.#isClosing = true;
    if (this.#isClosed || this.#connecting > 0) return;
    this.#isClosed = true;
    this.#listener.close();
  }

  async #innerEnd(port: number): Promise<Deno.TlsConn> {
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
    const { hostname, port } = connection.remoteAddr as Deno.NetAddr;
    // Near ends have this address. From another one, such as 127.0.0.2, a program on this machine could use the port of
    // a near end, and would be served as its client.
    if (hostname !== LOOPBACK) return closeQuietly(connection);
    const claim = this.#waiting.get(port);
    if (claim !== undefined) return claim(connection);
    const former = this.#arrived.get(port);
    if (former !== undefined) closeQuietly(former);
    this.#arrived.set(port, connection);
    // Another program on this machine may have connected: its connection is never claimed.
    setTimeout(() => {
      if (this.#arrived.get(port) !== connection) return;
      this.#arrived.delete(port);
      closeQuietly(connection);
    }, PAIRING_TIMEOUT);
  }
}

/** A certificate chain and its private key, in PEM. It is never changed: a renewed one is another object. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Selects the certificate of each connection. */
export interface CertificateSource {
  /**
   * Returns the certificate for a client; `undefined` if there is none, which fails the handshake.
   *
   * @param serverName The host name that the client asks for, in lower case; `undefined` if it names none.
   */
  select(
    serverName: string | undefined,
  ): TlsCertificate | undefined | Promise<TlsCertificate | undefined>;
  /** Whether further handshakes may use a certificate that was selected before. */
  isCurrent(certificate: TlsCertificate): boolean;
}
