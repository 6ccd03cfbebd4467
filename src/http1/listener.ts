import { delay } from "@std/async/delay";
import { ClientConnection } from "./client_connection.ts";
import { ConnectionLost } from "./connection.ts";
import { type ConnectionTable, isOutOfDescriptors, type PortGroup } from "./connection_table.ts";
import type { CertificateSource, TlsCertificate } from "./tls/tls_end.ts";
import { TlsAcceptor, type TlsTransport } from "./tls/tls.ts";

export interface ListenAddress {
  hostname: string;
  /** 0 selects a free port. */
  port: number;
  /** The certificate of all connections, or what selects one for each; `undefined` for plain connections. */
  tls: TlsCertificate | CertificateSource | undefined;
  /** How several processes share the port; absent for a port of this process alone. */
  sharing?: PortSharing | undefined;
}

/**
 * Linux spreads connections over the processes that listen on a port, which may be all those of one user. So the first
 * process of a server finds out if the port is free.
 */
export type PortSharing = "first" | "further";

export interface ListenerOptions {
  connections: ConnectionTable;
  /** The part of the table that the clients of this port belong to. */
  group: PortGroup;
  /** Time in which a client must accept 64 KiB of a response, in milliseconds. */
  writeTimeout: number;
  /** Serves a connection until it ends. */
  serve: (client: ClientConnection) => Promise<void>;
  /** Rejects a client because all connections are in use. */
  reject: (client: ClientConnection) => Promise<void>;
  onError: (error: unknown) => void;
  /** Called at most once a minute when no file descriptors are left. */
  onExhausted: () => void;
}

/** The pause after a failed accept, in milliseconds, and after one for which a connection was closed. */
const ACCEPT_PAUSE = 100;
const EVICTION_PAUSE = 10;

/** How often deadlines of a rejected client are checked, in milliseconds. The table does not contain it. */
const REJECT_CHECK_INTERVAL = 100;

/** Time between two calls of `onExhausted`, in milliseconds. */
const WARNING_INTERVAL = 60_000;

/** Clients that may receive a rejection at the same time. Further ones are closed without a response. */
const MAX_REJECTED = 32;

/** Accepts connections on one port until it is closed, and continues after errors. */
export class Listener {
  readonly address: Deno.NetAddr;
  readonly #listener: Deno.TcpListener;
  readonly #tls: TlsAcceptor | undefined;
  /** TLS connections that are not flushed and closed yet. */
  readonly #secure = new Set<TlsTransport>();
  /** Clients in the TLS handshake. */
  readonly #handshakes = new Set<ClientConnection>();
  #onFlushed: (() => void) | undefined;
  #isClosed = false;
  #rejected = 0;
  #warnedAt = -Infinity;

  /** Starts to listen. @throws if the port is not available. */
  constructor(
    { hostname, port, tls, sharing }: ListenAddress,
    private readonly options: ListenerOptions,
  ) {
    this.#tls = tls === undefined ? undefined : new TlsAcceptor(tls);
    if (sharing === "first") Deno.listen({ hostname, port }).close();
    this.#listener = Deno.listen({ hostname, port, reusePort: sharing !== undefined });
    this.address = this.#listener.addr as Deno.NetAddr;
    this.#acceptAll();
  }

  get isSecure(): boolean {
    return this.#tls !== undefined;
  }

  /** Stops accepting connections, and closes those in the TLS handshake. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
    this.#tls?.close();
    for (const client of this.#handshakes) client.close();
  }

  /** Resolves when closed connections have delivered their pending bytes. */
  async flushed(): Promise<void> {
    if (this.#secure.size > 0) await new Promise<void>((resolve) => this.#onFlushed = resolve);
  }

  async #acceptAll(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#open(await this.#listener.accept());
      } catch (error) {
        if (!this.#isClosed) await this.#recover(error);
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    // The client left before it was accepted.
    if (error instanceof Deno.errors.ConnectionAborted) return;
    if (!isOutOfDescriptors(error)) return await delay(ACCEPT_PAUSE);
    if (this.options.connections.releaseSpared()) return await delay(EVICTION_PAUSE);
    const now = performance.now();
    if (this.#warnedAt + WARNING_INTERVAL < now) {
      this.#warnedAt = now;
      this.options.onExhausted();
    }
    await delay(this.options.connections.evict() ? EVICTION_PAUSE : ACCEPT_PAUSE);
  }

  /** Starts to serve a connection. */
  #open(plain: Deno.TcpConn): void {
    configure(plain);
    const { remoteAddr } = plain;
    const transport = this.#tls === undefined ? plain : this.#secureWith(this.#tls, plain);
    this.#serve(transport, remoteAddr).catch(this.options.onError);
  }

  #secureWith(tls: TlsAcceptor, plain: Deno.TcpConn): TlsTransport {
    const { connections, group } = this.options;
    // The relay uses two more descriptors.
    connections.addSocket(group);
    connections.addSocket(group);
    const secure = tls.secure(plain);
    this.#secure.add(secure);
    secure.onClose = () => {
      connections.removeSocket(group);
      connections.removeSocket(group);
      this.#secure.delete(secure);
      if (this.#secure.size === 0) this.#onFlushed?.();
    };
    return secure;
  }

  async #serve(transport: Deno.TcpConn | TlsTransport, address: Deno.NetAddr): Promise<void> {
    const { connections, group, serve, onError } = this.options;
    const client = new ClientConnection(transport, address, this.options);
    try {
      if (!connections.add(client, address.hostname, group)) return await this.#reject(client);
      if ("handshake" in transport) await this.#shakeHands(client, transport);
      client.awaitRequest();
      await serve(client);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) onError(error);
    } finally {
      client.close();
      connections.remove(client);
    }
  }

  /** Completes the TLS handshake. A failure is usually the client's, and the following read reports it. */
  async #shakeHands(client: ClientConnection, transport: TlsTransport): Promise<void> {
    this.#handshakes.add(client);
    try {
      await transport.handshake();
    } catch (error) {
      if (isOutOfDescriptors(error)) await this.#recover(error);
    }
    this.#handshakes.delete(client);
    // It was accepted just before the listener was closed.
    if (this.#isClosed) client.close();
  }

  async #reject(client: ClientConnection): Promise<void> {
    if (this.#rejected >= MAX_REJECTED) return;
    this.#rejected++;
    const timer = setInterval(() => client.check(performance.now()), REJECT_CHECK_INTERVAL);
    try {
      await this.options.reject(client);
    } finally {
      clearInterval(timer);
      this.#rejected--;
    }
  }
}

/** Sends small responses without delay, and detects clients whose machine is gone. */
function configure(connection: Deno.TcpConn): void {
  try {
    connection.setNoDelay(true);
    connection.setKeepAlive(true);
  } catch {
    // The client has left already, which the first read reports.
  }
}
