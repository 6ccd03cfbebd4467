import { ClientConnection, isGone } from "./client_connection.ts";
import { type ConnectionTable, isOutOfDescriptors } from "./connection_table.ts";
import { TlsAcceptor, type TlsConnection } from "./tls.ts";

/** Where to listen. */
export interface ListenAddress {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  tls: { cert: string; key: string } | undefined;
}

export interface ListenerOptions {
  connections: ConnectionTable;
  /** How long a client may take for 64 KiB of an answer, in milliseconds. */
  patience: number;
  /** Answers the requests of a connection, until it ends. */
  serve: (client: ClientConnection) => Promise<void>;
  /** Sends away a client for which there is no room. */
  refuse: (client: ClientConnection) => Promise<void>;
  onError: (error: unknown) => void;
  /** Told at most once a minute that there are no descriptors left. */
  onExhausted: () => void;
}

/** The pause after a connection that could not be accepted, in milliseconds, and after one when descriptors ran out. */
const ACCEPT_PAUSE = 100;
const EXHAUSTED_PAUSE = 10;

/** The time between two warnings that there are no descriptors left, in milliseconds. */
const WARNING_INTERVAL = 60_000;

/** Clients that are told so at once when there is no room for them. Further ones are told nothing. */
const MAX_REFUSED = 32;

/** Accepts connections on one port until it is closed, and goes on when that fails. */
export class Listener {
  readonly address: Deno.NetAddr;
  readonly #listener: Deno.TcpListener;
  readonly #tls: TlsAcceptor | undefined;
  readonly #options: ListenerOptions;
  /** Connections under TLS, up to the end of what they have to send. */
  readonly #secure = new Set<TlsConnection>();
  /** Those whose handshake is under way. */
  readonly #handshakes = new Set<ClientConnection>();
  #onFlushed: (() => void) | undefined;
  #isClosed = false;
  #refused = 0;
  #warnedAt = -Infinity;

  /** Listens from now on. @throws where the port cannot be listened on. */
  constructor({ hostname, port, tls }: ListenAddress, options: ListenerOptions) {
    this.#tls = tls === undefined ? undefined : new TlsAcceptor(tls);
    this.#listener = Deno.listen({ hostname, port });
    this.address = this.#listener.addr as Deno.NetAddr;
    this.#options = options;
    this.#acceptAll();
  }

  get isSecure(): boolean {
    return this.#tls !== undefined;
  }

  /** Accepts no more connections, and closes those that have sent no request because their handshake is under way. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
    this.#tls?.close();
    for (const client of this.#handshakes) client.close();
  }

  /** Ends when connections that were closed have sent what was written to them. */
  async flushed(): Promise<void> {
    if (this.#secure.size > 0) await new Promise<void>((resolve) => this.#onFlushed = resolve);
  }

  async #acceptAll(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#take(await this.#listener.accept());
      } catch (error) {
        if (!this.#isClosed) await this.#recover(error);
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    // The client has left again.
    if (error instanceof Deno.errors.ConnectionAborted) return;
    if (!isOutOfDescriptors(error)) return await pause(ACCEPT_PAUSE);
    const now = performance.now();
    if (this.#warnedAt + WARNING_INTERVAL < now) {
      this.#warnedAt = now;
      this.#options.onExhausted();
    }
    await pause(this.#options.connections.makeRoom() ? EXHAUSTED_PAUSE : ACCEPT_PAUSE);
  }

  /** Begins to serve a connection. Under TLS the next one waits meanwhile, as its descriptors must be free by then. */
  async #take(plain: Deno.TcpConn): Promise<void> {
    tune(plain);
    const { remoteAddr } = plain;
    const connection = this.#tls === undefined ? plain : await this.#secureWith(this.#tls, plain);
    this.#serve(connection, remoteAddr).catch(this.#options.onError);
  }

  async #secureWith(tls: TlsAcceptor, plain: Deno.TcpConn): Promise<TlsConnection> {
    const { connections } = this.#options;
    // It takes two descriptors more.
    connections.addOther();
    connections.addOther();
    const release = () => {
      connections.removeOther();
      connections.removeOther();
    };
    try {
      const secure = await tls.secure(plain);
      this.#secure.add(secure);
      secure.onClose = () => {
        release();
        this.#secure.delete(secure);
        if (this.#secure.size === 0) this.#onFlushed?.();
      };
      return secure;
    } catch (error) {
      release();
      plain.close();
      throw error;
    }
  }

  async #serve(connection: Deno.TcpConn | TlsConnection, address: Deno.NetAddr): Promise<void> {
    const { connections, serve, onError } = this.#options;
    const client = new ClientConnection(connection, address, this.#options);
    try {
      if (!connections.add(client, address.hostname)) return await this.#turnAway(client);
      if ("handshake" in connection) await this.#shakeHands(client, connection);
      client.awaitRequest();
      await serve(client);
    } catch (error) {
      if (!isGone(error)) onError(error);
    } finally {
      client.close();
      connections.remove(client);
    }
  }

  /** What goes wrong in a handshake is the client's affair, and reading will show it. */
  async #shakeHands(client: ClientConnection, connection: TlsConnection): Promise<void> {
    this.#handshakes.add(client);
    await connection.handshake().catch(() => {});
    this.#handshakes.delete(client);
    // It was accepted just before the listener was closed.
    if (this.#isClosed) client.close();
  }

  async #turnAway(client: ClientConnection): Promise<void> {
    if (this.#refused >= MAX_REFUSED) return;
    this.#refused++;
    const timer = setInterval(() => client.check(performance.now()), ACCEPT_PAUSE);
    try {
      await this.#options.refuse(client);
    } finally {
      clearInterval(timer);
      this.#refused--;
    }
  }
}

/** Small answers go at once, and a client whose machine is gone is noticed. */
function tune(connection: Deno.TcpConn): void {
  try {
    connection.setNoDelay(true);
    connection.setKeepAlive(true);
  } catch {
    // The client has left already: reading will show it.
  }
}

function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}
