/** How often deadlines are checked, in milliseconds. A timeout fires late by at most twice as much. */
const CLOCK_TICK = 250;

/** Clients connected at the same time, on all ports together. Each uses up to 300 KB while bodies flow both ways. */
const MAX_CONNECTIONS = 2000;

/** Connections from one network: a hundred people with browsers, and an eighth of all connections. */
const MAX_NETWORK_CONNECTIONS = 256;

/** File descriptors reserved for the store, backups and DNS lookups. */
export const RESERVED_DESCRIPTORS = 96;

/** How long failures for want of descriptors may be reported after some were released, in milliseconds. */
const SPARED_TIME = 100;

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

/** A connection as the table sees it. */
export interface TrackedConnection {
  /** The `Clock.now` since which the client has made no required progress, or `undefined` if none is required. */
  readonly stalledSince: number | undefined;
  /** The table's own: when the connection became idle, as a number that increases; `undefined` during a request. */
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
}

/**
 * The client connections of all ports. At a limit, the table closes the connection that has been idle longest (those of
 * trusted proxies last), then the one that has been stalled longest. It never closes a request that makes progress.
 */
export class ConnectionTable {
  readonly clock: Clock;
  readonly #limits: ConnectionLimits;
  readonly #max: number;
  readonly #maxPerNetwork: number;
  readonly #connections = new Map<TrackedConnection, string | undefined>();
  readonly #networks = new Map<string, number>();
  /** Numbers the times at which connections became idle. Every request sets one, and only `evict` compares them. */
  #idleCount = 0;
  #maxSockets = Infinity;
  #otherSockets = 0;
  #releaseSpared: () => boolean = () => false;
  #sparedAt = -Infinity;

  constructor(limits: ConnectionLimits) {
    const { max = MAX_CONNECTIONS, maxPerNetwork = MAX_NETWORK_CONNECTIONS } = limits;
    this.clock = limits.clock;
    this.#limits = limits;
    this.#max = max;
    this.#maxPerNetwork = maxPerNetwork;
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
    const descriptors = free + this.size + this.#otherSockets;
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
  add(connection: TrackedConnection, address: string): boolean {
    const network = this.#limits.networkOf(address);
    const isNetworkFull = network !== undefined &&
      (this.#networks.get(network) ?? 0) >= this.#maxPerNetwork;
    if (isNetworkFull && !this.evict(network)) return false;
    if (this.#isFull() && !this.evict()) return false;
    this.#connections.set(connection, network);
    this.setIdle(connection);
    if (network !== undefined) this.#networks.set(network, (this.#networks.get(network) ?? 0) + 1);
    return true;
  }

  /** Removes a connection, which must be closed already. */
  remove(connection: TrackedConnection): void {
    if (!this.#connections.has(connection)) return;
    const network = this.#connections.get(connection);
    this.#connections.delete(connection);
    if (network === undefined) return;
    const count = (this.#networks.get(network) ?? 0) - 1;
    if (count > 0) this.#networks.set(network, count);
    else this.#networks.delete(network);
  }

  /** Marks a connection as waiting for a request. */
  setIdle(connection: TrackedConnection): void {
    connection.idleSince = this.#idleCount++;
  }

  /** Marks a connection as processing a request. */
  setBusy(connection: TrackedConnection): void {
    connection.idleSince = undefined;
  }

  /** Counts a socket that is not a client's, such as one to an application. Closes a connection at the limit. */
  addSocket(): void {
    if (this.size + this.#otherSockets >= this.#maxSockets) this.evict();
    this.#otherSockets++;
  }

  removeSocket(): void {
    this.#otherSockets--;
  }

  /** Closes the least useful connection, of one network if given. Returns `false` if all are in use. */
  evict(network?: string): boolean {
    const victim = this.#longestIdle(network) ?? this.#longestStalled(network);
    if (victim === undefined) return false;
    this.remove(victim);
    victim.close();
    return true;
  }

  #isFull(): boolean {
    return this.size >= this.#max || this.size + this.#otherSockets >= this.#maxSockets;
  }

  /**
   * Connections without a network come last: a proxy may be sending a request over a connection that is idle here, and
   * its client would get an error.
   */
  #longestIdle(network: string | undefined): TrackedConnection | undefined {
    let found: TrackedConnection | undefined;
    let shared: TrackedConnection | undefined;
    for (const [connection, itsNetwork] of this.#connections) {
      if (connection.idleSince === undefined) continue;
      if (itsNetwork === undefined && network === undefined) shared = earlier(shared, connection);
      else if (network === undefined || itsNetwork === network) found = earlier(found, connection);
    }
    return found ?? shared;
  }

  #longestStalled(network: string | undefined): TrackedConnection | undefined {
    let found: TrackedConnection | undefined;
    let since = this.clock.now - this.#limits.stallTime;
    for (const [connection, itsNetwork] of this.#connections) {
      if (network !== undefined && itsNetwork !== network) continue;
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
