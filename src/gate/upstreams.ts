import { targetOf, type UpstreamRules } from "../http/network/upstream_rules.ts";
import { Connection, ConnectionLost } from "../http1/connection.ts";
import { type ConnectionTable, isOutOfDescriptors } from "../http1/connection_table.ts";
import { SECOND } from "../rules/units.ts";

/** How long an unused connection is taken for a request that must not be sent twice. */
export const UPSTREAM_FRESH_TIME = SECOND;

/** Unused connections to one application, and how long one is kept: Node.js ends them after 5 s. */
const MAX_IDLE_UPSTREAMS = 256;

const UPSTREAM_IDLE_TIME = 4 * SECOND;

/** Applications whose unused connections are kept. */
const MAX_UPSTREAMS = 1000;

/** The descriptors of the process, of which each connection to an application takes one. */
type Descriptors = Pick<ConnectionTable, "addOther" | "removeOther" | "makeRoom">;

const UNCOUNTED: Descriptors = { addOther() {}, removeOther() {}, makeRoom: () => false };

/** An application is at an address that the gate does not connect to. */
export class RefusedUpstream extends Error {
  override readonly name = "RefusedUpstream";
}

/** Where an application is. */
export interface Upstream {
  address: string;
  /** As the Host header has it. */
  authority: string;
  hostname: string;
  port: number;
  isSecure: boolean;
  idle: IdleWire[];
}

interface IdleWire {
  wire: Connection;
  since: number;
  /** Whether it is still unused. */
  isIdle: boolean;
}

/** The applications that were called, and the connections to them that are free to be used again. */
export class Upstreams {
  readonly #known = new Map<string, Upstream>();
  readonly #rules: UpstreamRules;
  readonly #descriptors: Descriptors;

  constructor(rules: UpstreamRules, descriptors: Descriptors = UNCOUNTED) {
    this.#rules = rules;
    this.#descriptors = descriptors;
  }

  /** What is known of the application at an address like `http://127.0.0.1:3000`. */
  at(address: string): Upstream {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const upstream = parseUpstream(address);
    if (this.#known.size >= MAX_UPSTREAMS) this.close();
    this.#known.set(address, upstream);
    return upstream;
  }

  /** A connection that was used before and has been free since that moment or later, if there is one. */
  take({ idle }: Upstream, since: number): Connection | undefined {
    const last = idle.at(-1);
    if (last === undefined || last.since < since) return undefined;
    idle.pop();
    last.isIdle = false;
    return last.wire;
  }

  /** Keeps a connection, on which everything was read, for the next request. */
  release(upstream: Upstream, wire: Connection, now: number): void {
    const { idle } = upstream;
    const isKnown = this.#known.get(upstream.address) === upstream;
    if (!isKnown || idle.length >= MAX_IDLE_UPSTREAMS) return wire.close();
    const entry: IdleWire = { wire, since: now, isIdle: true };
    idle.push(entry);
    // Whatever comes while nobody has asked, the end or bytes, makes it useless.
    wire.reader.fill().then(() => {
      if (!entry.isIdle) return;
      idle.splice(idle.indexOf(entry), 1);
      discard(entry);
    });
  }

  /**
   * Opens a connection to an application.
   *
   * @throws {RefusedUpstream} where the gate does not connect to its address.
   * @throws {ConnectionLost} where that fails, or when the signal says so.
   */
  async connect(upstream: Upstream, signal: AbortSignal): Promise<Connection> {
    this.#descriptors.addOther();
    const free = () => this.#descriptors.removeOther();
    const options = { rules: this.#rules, signal, onClose: free };
    try {
      return await connectTo(upstream, options);
    } catch (error) {
      if (!isOutOfDescriptors((error as Error).cause) || !this.#descriptors.makeRoom()) {
        free();
        throw error;
      }
    }
    try {
      return await connectTo(upstream, options);
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Closes what has been free for too long. */
  tick(now: number): void {
    for (const { idle } of this.#known.values()) {
      // The oldest lies first.
      while (idle[0] !== undefined && idle[0].since + UPSTREAM_IDLE_TIME < now) {
        const oldest = idle.shift();
        if (oldest !== undefined) discard(oldest);
      }
    }
  }

  /** Forgets everything and closes the connections that are free. */
  close(): void {
    for (const { idle } of this.#known.values()) idle.splice(0).forEach(discard);
    this.#known.clear();
  }
}

function discard(entry: IdleWire): void {
  entry.isIdle = false;
  entry.wire.close();
}

/**
 * Opens a connection to an application.
 *
 * @param onClose Called when the connection is closed, if it was opened.
 * @throws {RefusedUpstream} where the gate does not connect to its address. Nothing has been sent.
 * @throws {ConnectionLost} where that fails, or when the signal says so.
 */
async function connectTo(
  upstream: Upstream,
  { rules, signal, onClose }: { rules: UpstreamRules; signal: AbortSignal; onClose: () => void },
): Promise<Connection> {
  const { hostname, port, isSecure } = upstream;
  if (rules.problemOf(upstream.address) !== undefined) throw new RefusedUpstream(upstream.address);
  try {
    const connection = await Deno.connect({ hostname, port, signal });
    if (!rules.allows(upstream, connection)) {
      connection.close();
      throw new RefusedUpstream(upstream.address);
    }
    connection.setNoDelay(true);
    connection.setKeepAlive(true);
    if (isSecure) return await secure(connection, hostname, signal, onClose);
    return new Connection(connection, onClose);
  } catch (cause) {
    if (cause instanceof RefusedUpstream) throw cause;
    throw new ConnectionLost("The application cannot be connected to", { cause });
  }
}

async function secure(
  plain: Deno.TcpConn,
  name: string,
  signal: AbortSignal,
  onClose: () => void,
): Promise<Connection> {
  const hostname = name.replace(/^\[|\]$/g, "");
  const connection = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
  const abort = () => closeQuietly(connection);
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    await connection.handshake();
    signal.throwIfAborted();
    return new Connection(connection, onClose);
  } catch (error) {
    closeQuietly(connection);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}

function parseUpstream(address: string): Upstream {
  const { protocol, host } = new URL(address);
  const isSecure = protocol === "https:";
  return { address, authority: host, ...targetOf(address), isSecure, idle: [] };
}
