/** How often deadlines are checked, in milliseconds. A timeout fires late by at most twice as much. */
const CLOCK_TICK = 250;

/** Clients connected at the same time, on all ports together. Each uses up to 300 KB while bodies flow both ways. */
const MAX_CONNECTIONS = 2000;

/** Connections from one network: a hundred people with browsers, and an eighth of all connections. */
const MAX_NETWORK_CONNECTIONS = 256;

/** The part of each limit that connections of the gate can take. The rest is for the API, S3 and the dashboard. */
const GATE_SHARE = 3 / 4;

/** File descriptors reserved for the store, backups and DNS lookups. */
export const RESERVED_DESCRIPTORS = 96;

/** How long failures for want of descriptors may be reported after some were released, in milliseconds. */
const SPARED_TIME = 100;

/** How long an idle connection is kept if a stalled one can be closed, in milliseconds: time for its first request. */
const FRESH_TIME = 1000;

/** What tells connections apart that become idle within one tick, in milliseconds. */
const IDLE_STEP = 0.001;

/** Sockets that are always allowed, even if descriptors are scarce. */
const MIN_SOCKETS = 16;

/** The time of the last tick, in milliseconds. Reading the system clock at every step of a request would cost more. */
export class Clock {
  now: number = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #listeners: ((now: number) => void)[] = [];

  constructor() {
    this.#timer = setInterval(() => {
      this.now = performance.now();
      for (const listener of this.#listeners) listener(this.now);
    }, CLOCK_TICK);
  }

  /** Calls the listener on every tick until the clock is stopped. */
  onTick(listener: (now: number) => void): void {
    this.#listeners.push(listener);
  }

  /** Returns a time at which at least `time` milliseconds have passed. */
  in(time: number): number {
    return this.now + time + CLOCK_TICK;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Whose clients a connection or a socket serves: those of applications, or those of all other ports. */
export type PortGroup = "server" | "gate";

type Counts = Record<PortGroup, number>;

/** A connection as the table sees it. */
export interface TrackedConnection {
  /** The `Clock.now` since which the client has made no required progress, or `undefined` if none is required. */
  readonly stalledSince: number | undefined;
  /** The table's own: the `Clock.now` since which the connection is idle, as a number that increases; `undefined` during a request. */
  idleSince: number | undefined;
  /** Enforces the connection's deadlines. */
  check(now: number): void;
  /** Closes both directions. */
  close(): void;
}

export interface ConnectionLimits {
  clock: Clock;
  /** Returns the network that an address counts towards, or `undefined` for an address shared by many clients. */
  networkOf: (address: string) => string | undefined;
  /** Milliseconds without progress after which a request may be closed in favor of a new connection. */
  stallTime: number;
  max?: number;
  maxPerNetwork?: number;
  /** The processes that share the limits. */
  processes?: number;
}

/**
 * The client connections of all ports. At a limit, the table closes the connection that has been idle longest (those of
 * trusted proxies last), then the one that has been stalled longest. This one comes first if the idle ones are fresh, so
 * that clients which arrive together do not close each other. A request that makes progress is never closed.
 * Connections of the gate make room for each other before they take more than `GATE_SHARE` of a limit.
 */
export class ConnectionTable {
  readonly clock: Clock;
  readonly #max: number;
  readonly #maxPerNetwork: number;
  readonly #connections = new Map<TrackedConnection, { network?: string; group: PortGroup }>();
  readonly #networks = new Map<string, Counts>();
  readonly #counts: Counts = { server: 0, gate: 0 };
  /** The connections, and sockets that are not a client's. */
  readonly #sockets: Counts = { server: 0, gate: 0 };
  /** When a connection last became idle. */
  #lastIdle = 0;
  #maxSockets = Infinity;
  #releaseSpared: () => boolean = () => false;
  #sparedAt = -Infinity;

  constructor(private readonly limits: ConnectionLimits) {
    const { max = MAX_CONNECTIONS, maxPerNetwork = MAX_NETWORK_CONNECTIONS, processes = 1 } =
      limits;
    this.clock = limits.clock;
    this.#max = Math.floor(max / processes);
    this.#maxPerNetwork = Math.floor(maxPerNetwork / processes);
    this.clock.onTick((now) => {
      for (const connection of this.#connections.keys()) connection.check(now);
    });
  }

  get size(): number {
    return this.#connections.size;
  }

  /**
   * Limits sockets to the descriptors that are left after `RESERVED_DESCRIPTORS`.
   *
   * @param free Descriptors that are free besides those of the sockets that are open now.
   */
  limitDescriptors(free: number): void {
    const descriptors = free + this.#sockets.server + this.#sockets.gate;
    this.#maxSockets = Math.max(descriptors - RESERVED_DESCRIPTORS, MIN_SOCKETS);
  }

  /** Sets what releases descriptors that can be spared, and returns whether there were any. */
  spareDescriptors(release: () => boolean): void {
    this.#releaseSpared = release;
  }

  /**
   * Releases descriptors that can be spared. Returns whether that happens now, or happened so recently that a failure
   * which is reported now may be older.
   */
  releaseSpared(): boolean {
    const now = performance.now();
    if (this.#releaseSpared()) this.#sparedAt = now;
    return now - this.#sparedAt < SPARED_TIME;
  }

  /**
   * Adds an idle connection, and closes another one if a limit is reached. Returns `false` if all others are in use.
   */
  add(connection: TrackedConnection, address: string, group: PortGroup): boolean {
    const network = this.limits.networkOf(address);
    if (network !== undefined) {
      const used = this.#networks.get(network) ?? { server: 0, gate: 0 };
      if (!this.#makeRoom(used, this.#maxPerNetwork, group, network)) return false;
    }
    if (!this.#makeRoom(this.#counts, this.#max, group)) return false;
    if (!this.makeSocketRoom(group)) return false;
    this.#connections.set(connection, network === undefined ? { group } : { network, group });
    this.setIdle(connection);
    this.#counts[group]++;
    this.#sockets[group]++;
    if (network !== undefined) this.#countIn(network, group, 1);
    return true;
  }

  /** Removes a connection, which must be closed already. */
  remove(connection: TrackedConnection): void {
    const found = this.#connections.get(connection);
    if (found === undefined) return;
    const { network, group } = found;
    this.#connections.delete(connection);
    this.#counts[group]--;
    this.#sockets[group]--;
    if (network !== undefined) this.#countIn(network, group, -1);
  }

  /** Marks a connection as waiting for a request. */
  setIdle(connection: TrackedConnection): void {
    this.#lastIdle = Math.max(this.clock.now, this.#lastIdle + IDLE_STEP);
    connection.idleSince = this.#lastIdle;
  }

  /** Marks a connection as processing a request. */
  setBusy(connection: TrackedConnection): void {
    connection.idleSince = undefined;
  }

  /** Closes a connection if sockets are at their limit. Returns `false` if no further socket may be opened. */
  makeSocketRoom(group: PortGroup): boolean {
    return this.#makeRoom(this.#sockets, this.#maxSockets, group);
  }

  /** Counts a socket that is not a client's, such as one to an application. */
  addSocket(group: PortGroup): void {
    this.#sockets[group]++;
  }

  removeSocket(group: PortGroup): void {
    this.#sockets[group]--;
  }

  /**
   * Closes the least useful connection, of one network and one group if they are given. Returns `false` if all are in
   * use.
   */
  evict(network?: string, group?: PortGroup): boolean {
    const idle = this.#longestIdle(network, group);
    const isFresh = (idle?.idleSince ?? Infinity) > this.clock.now - FRESH_TIME;
    const victim = isFresh ? this.#longestStalled(network, group) ?? idle : idle;
    if (victim === undefined) return false;
    this.remove(victim);
    victim.close();
    return true;
  }

  /** Closes a connection if a limit is reached. Returns `false` if nothing more may be added. */
  #makeRoom(used: Counts, max: number, group: PortGroup, network?: string): boolean {
    if (group === "gate" && used.gate >= max * GATE_SHARE) return this.evict(network, group);
    return used.server + used.gate < max || this.evict(network);
  }

  #countIn(network: string, group: PortGroup, change: 1 | -1): void {
    const counts = this.#networks.get(network) ?? { server: 0, gate: 0 };
    counts[group] += change;
    if (counts.server + counts.gate > 0) this.#networks.set(network, counts);
    else this.#networks.delete(network);
  }

  /**
   * Connections without a network come last: a proxy may be sending a request over a connection that is idle here, and
   * its client would get an error.
   */
  #longestIdle(network?: string, group?: PortGroup): TrackedConnection | undefined {
    let found: TrackedConnection | undefined;
    let shared: TrackedConnection | undefined;
    for (const [connection, one] of this.#connections) {
      if (connection.idleSince === undefined) continue;
      if (group !== undefined && one.group !== group) continue;
      if (network !== undefined && one.network !== network) continue;
      if (one.network === undefined) shared = earlier(shared, connection);
      else found = earlier(found, connection);
    }
    return found ?? shared;
  }

  #longestStalled(network?: string, group?: PortGroup): TrackedConnection | undefined {
    let found: TrackedConnection | undefined;
    let since = this.clock.now - this.limits.stallTime;
    for (const [connection, one] of this.#connections) {
      if (group !== undefined && one.group !== group) continue;
      if (network !== undefined && one.network !== network) continue;
      if (connection.stalledSince === undefined || connection.stalledSince >= since) continue;
      found = connection;
      since = connection.stalledSince;
    }
    return found;
  }
}

/** Returns the connection that became idle first. */
function earlier(
  found: TrackedConnection | undefined,
  other: TrackedConnection,
): TrackedConnection {
  if (found?.idleSince === undefined || other.idleSince === undefined) return other;
  return found.idleSince < other.idleSince ? found : other;
}

/** Whether an error means that the process, or the system, has no file descriptors left. */
export function isOutOfDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "EMFILE" || code === "ENFILE" || /os error (23|24)\)/.test(error.message);
}
