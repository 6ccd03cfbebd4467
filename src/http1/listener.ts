import { Client, isGone } from "./client.ts";
import type { Connections } from "./connections.ts";

/** Where to listen. */
export interface ListenAddress {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  tls: { cert: string; key: string } | undefined;
}

export interface ListenerOptions {
  connections: Connections;
  /** How long a client may take for 64 KiB of an answer, in milliseconds. */
  patience: number;
  /** Answers the requests of a connection, until it ends. */
  serve: (client: Client) => Promise<void>;
  /** Sends away a client for which there is no room. */
  refuse: (client: Client) => Promise<void>;
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
  readonly isSecure: boolean;
  readonly #listener: Deno.Listener<Deno.Conn<Deno.NetAddr>>;
  readonly #options: ListenerOptions;
  #isClosed = false;
  #refused = 0;
  #warnedAt = -Infinity;

  /** Listens from now on. @throws where the port cannot be listened on. */
  constructor({ hostname, port, tls }: ListenAddress, options: ListenerOptions) {
    this.#listener = tls === undefined
      ? Deno.listen({ hostname, port })
      : Deno.listenTls({ hostname, port, ...tls, alpnProtocols: ["http/1.1"] });
    this.isSecure = tls !== undefined;
    this.address = this.#listener.addr as Deno.NetAddr;
    this.#options = options;
    this.#acceptAll();
  }

  /** Accepts no more connections. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
  }

  async #acceptAll(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const connection = await this.#listener.accept();
        tune(connection);
        this.#take(connection);
      } catch (error) {
        if (!this.#isClosed) await this.#recover(error);
      }
    }
  }

  async #recover(error: unknown): Promise<void> {
    // The client has left again.
    if (error instanceof Deno.errors.ConnectionAborted) return;
    if (!isExhaustion(error)) return await pause(ACCEPT_PAUSE);
    const now = performance.now();
    if (this.#warnedAt + WARNING_INTERVAL < now) {
      this.#warnedAt = now;
      this.#options.onExhausted();
    }
    await pause(this.#options.connections.makeRoom() ? EXHAUSTED_PAUSE : ACCEPT_PAUSE);
  }

  async #take(connection: Deno.Conn<Deno.NetAddr>): Promise<void> {
    const { connections, serve, onError } = this.#options;
    const client = new Client(connection, connection.remoteAddr, this.#options);
    try {
      if (!connections.admit(client, client.address.hostname)) {
        await this.#turnAway(client, connection);
        return;
      }
      await shakeHands(connection);
      client.awaitRequest();
      await serve(client);
    } catch (error) {
      if (!isGone(error)) onError(error);
    } finally {
      client.close();
      connections.remove(client);
    }
  }

  async #turnAway(client: Client, connection: Deno.Conn): Promise<void> {
    if (this.#refused >= MAX_REFUSED) return;
    this.#refused++;
    const timer = setInterval(() => client.check(performance.now()), ACCEPT_PAUSE);
    try {
      await shakeHands(connection);
      await this.#options.refuse(client);
    } finally {
      clearInterval(timer);
      this.#refused--;
    }
  }
}

/** Whether an error says that the process, or the system, has no descriptors left. */
export function isExhaustion(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "EMFILE" || code === "ENFILE" || /os error (23|24)\)/.test(error.message);
}

/** Ends the handshake of TLS, if there is one. What goes wrong in it is the client's affair. */
async function shakeHands(connection: Deno.Conn): Promise<void> {
  if (!("handshake" in connection)) return;
  try {
    await (connection as Deno.TlsConn).handshake();
  } catch {
    // Reading will show it.
  }
}

/** Small answers go at once, and a client whose machine is gone is noticed. Connections of TLS have no such switches. */
function tune(connection: Deno.Conn): void {
  if (!("setNoDelay" in connection)) return;
  const plain = connection as Deno.TcpConn;
  try {
    plain.setNoDelay(true);
    plain.setKeepAlive(true);
  } catch {
    // The client has left already: reading will show it.
  }
}

function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}
