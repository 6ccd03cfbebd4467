import { errors } from "../http/http_error.ts";
import { targetOf, type UpstreamRules } from "../http/network/upstream_rules.ts";
import { Connection, ConnectionLost } from "../http1/connection.ts";
import { type ConnectionTable, isOutOfDescriptors } from "../http1/connection_table.ts";
import { secureClient } from "../http1/tls/tls.ts";

/** Idle connections kept per application. */
const MAX_IDLE_CONNECTIONS = 256;

/** How long an idle connection is kept, in milliseconds: less than the 5 s after which Node.js closes it. */
const IDLE_TIMEOUT = 4000;

/** Applications whose idle connections are kept. */
const MAX_UPSTREAMS = 1000;

/** The table that counts the process's descriptors, of which every upstream connection uses one. */
type Descriptors = Pick<
  ConnectionTable,
  "makeSocketRoom" | "addSocket" | "removeSocket" | "evict"
>;

const UNCOUNTED: Descriptors = {
  makeSocketRoom: () => true,
  addSocket() {},
  removeSocket() {},
  evict: () => false,
};

/** The gate does not connect to the address of an application. */
export class UpstreamForbidden extends Error {
  override readonly name = "UpstreamForbidden";
}

/** The address of an application, with the idle connections to it. */
export interface Upstream {
  address: string;
  /** The value of Host. */
  authority: string;
  hostname: string;
  port: number;
  isSecure: boolean;
  idle: IdleConnection[];
}

interface IdleConnection {
  connection: Connection;
  since: number;
  /** Whether it was neither reused nor closed yet. */
  isIdle: boolean;
}

/** The connections to applications, kept for reuse. */
export class Upstreams {
  readonly #known = new Map<string, Upstream>();

  constructor(
    private readonly rules: UpstreamRules,
    private readonly descriptors: Descriptors = UNCOUNTED,
  ) {}

  /** Returns the upstream with an address such as `http://127.0.0.1:3000`. */
  get(address: string): Upstream {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const upstream = parseUpstream(address);
    if (this.#known.size >= MAX_UPSTREAMS) this.close();
    this.#known.set(address, upstream);
    return upstream;
  }

  /** Takes the connection that became idle last, unless that was before `since`. */
  take({ idle }: Upstream, since: number): Connection | undefined {
    const last = idle.at(-1);
    if (last === undefined || last.since < since) return undefined;
    idle.pop();
    last.isIdle = false;
    return last.connection;
  }

  /** Keeps a connection for the next request. The response must have been read completely. */
  release(upstream: Upstream, connection: Connection, now: number): void {
    const { idle } = upstream;
    const isKnown = this.#known.get(upstream.address) === upstream;
    if (!isKnown || idle.length >= MAX_IDLE_CONNECTIONS) return connection.close();
    const entry: IdleConnection = { connection, since: now, isIdle: true };
    idle.push(entry);
    connection.reader.shrink();
    // An end, or bytes without a request, make the connection unusable.
    connection.reader.fill().then(() => {
      if (!entry.isIdle) return;
      idle.splice(idle.indexOf(entry), 1);
      discard(entry);
    });
  }

  /**
   * Opens a connection to an application.
   *
   * @throws {HttpError} 503 if the gate may open no further socket.
   * @throws {UpstreamForbidden}
   * @throws {ConnectionLost} if the connection fails, or the signal is aborted.
   */
  async connect(upstream: Upstream, signal: AbortSignal): Promise<Connection> {
    if (!this.descriptors.makeSocketRoom("gate")) throw errors.serverFull();
    this.descriptors.addSocket("gate");
    const onClose = () => this.descriptors.removeSocket("gate");
    const options = { rules: this.rules, signal, onClose };
    try {
      return await connectTo(upstream, options);
    } catch (error) {
      if (!isOutOfDescriptors((error as Error).cause) || !this.descriptors.evict()) {
        onClose();
        throw error;
      }
    }
    try {
      return await connectTo(upstream, options);
    } catch (error) {
      onClose();
      throw error;
    }
  }

  /** Closes connections that have been idle for too long. */
  tick(now: number): void {
    for (const { idle } of this.#known.values()) {
      // The longest idle connection comes first.
      while (idle[0] !== undefined && idle[0].since + IDLE_TIMEOUT < now) {
        const oldest = idle.shift();
        if (oldest !== undefined) discard(oldest);
      }
    }
  }

  /** Closes all idle connections and forgets all upstreams. */
  close(): void {
    for (const { idle } of this.#known.values()) idle.splice(0).forEach(discard);
    this.#known.clear();
  }
}

function discard(entry: IdleConnection): void {
  entry.isIdle = false;
  entry.connection.close();
}

function parseUpstream(address: string): Upstream {
  const { protocol, host } = new URL(address);
  const isSecure = protocol === "https:";
  return { address, authority: host, ...targetOf(address), isSecure, idle: [] };
}

/** @param onClose Called when a connection that was opened is closed. */
async function connectTo(
  upstream: Upstream,
  { rules, signal, onClose }: { rules: UpstreamRules; signal: AbortSignal; onClose: () => void },
): Promise<Connection> {
  const { hostname, port, isSecure } = upstream;
  if (rules.problemOf(upstream.address) !== undefined) {
    throw new UpstreamForbidden(upstream.address);
  }
  try {
    const transport = await Deno.connect({ hostname, port, signal });
    if (!rules.allows(upstream, transport)) {
      transport.close();
      throw new UpstreamForbidden(upstream.address);
    }
    transport.setNoDelay(true);
    transport.setKeepAlive(true);
    return new Connection(
      isSecure ? await secureClient(transport, hostname, signal) : transport,
      onClose,
    );
  } catch (cause) {
    if (cause instanceof UpstreamForbidden) throw cause;
    throw new ConnectionLost("Cannot connect to the application", { cause });
  }
}
