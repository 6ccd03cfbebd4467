/** How often connections are checked for being late: what happens in time is late by as much. */
const CLOCK_TICK = 250;

/** Whether an error says that the process, or the system, has no descriptors left. */
export function isOutOfDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "EMFILE" || code === "ENFILE" || /os error (23|24)\)/.test(error.message);
}

/** Clients that are connected at once, on all ports together. Each may hold some 300 KB while bodies go both ways. */
export const MAX_CONNECTIONS = 2000;

/** Of them, from one network: a hundred people with browsers, and an eighth of all. */
export const MAX_NETWORK_CONNECTIONS = 256;

/** Descriptors that no connection takes: those of the store, of backups and of names that are looked up. */
export const RESERVED_DESCRIPTORS = 96;

/** The fewest sockets that are allowed, however few descriptors there are. */
const MIN_SOCKETS = 16;

/** What the table asks of a connection. */
export interface TrackedConnection {
  /** Since when the client owes bytes, or has to take some, as `Clock.now`. `undefined` while it owes nothing. */
  readonly stalledSince: number | undefined;
  /** Closes what is late. */
  check(now: number): void;
  /** Closes the connection for both directions. */
  close(): void;
}

export interface ConnectionLimits {
  clock: Clock;
  /** The network that an address is counted for; `undefined` for one that stands for many clients. */
  networkOf: (address: string) => string | undefined;
  /** After how many milliseconds without progress a request makes room for a new connection. */
  stallTime: number;
  max?: number;
  maxPerNetwork?: number;
}

/**
 * The connections of all ports. When there are too many, the one that has been idle for longest is closed (that of a
 * trusted proxy after all others), then the one whose client has been stalled for longest. A request that makes progress never makes room for a new connection.
 */
export class ConnectionTable {
  readonly clock: Clock;
  readonly #rules: ConnectionLimits;
  readonly #max: number;
  readonly #maxPerNetwork: number;
  readonly #members = new Map<TrackedConnection, string | undefined>();
  readonly #networks = new Map<string, number>();
  /** Those between requests, the one that has been idle for longest first. */
  readonly #idle = new Set<TrackedConnection>();
  #maxSockets = Infinity;
  #others = 0;

  constructor(rules: ConnectionLimits) {
    const { max = MAX_CONNECTIONS, maxPerNetwork = MAX_NETWORK_CONNECTIONS } = rules;
    this.clock = rules.clock;
    this.#rules = rules;
    this.#max = max;
    this.#maxPerNetwork = maxPerNetwork;
    this.clock.onTick((now) => {
      for (const member of this.#members.keys()) member.check(now);
    });
  }

  get size(): number {
    return this.#members.size;
  }

  /** Limits the sockets to what so many descriptors leave. */
  limitDescriptors(descriptors: number): void {
    this.#maxSockets = Math.max(descriptors - RESERVED_DESCRIPTORS, MIN_SOCKETS);
  }

  /** Takes a connection in as an idle one, and makes room for it. Gives `false` where there is none. */
  add(member: TrackedConnection, address: string): boolean {
    const network = this.#rules.networkOf(address);
    const isNetworkFull = network !== undefined &&
      (this.#networks.get(network) ?? 0) >= this.#maxPerNetwork;
    if (isNetworkFull && !this.#evict(network)) return false;
    if (this.#isFull() && !this.#evict()) return false;
    this.#members.set(member, network);
    this.#idle.add(member);
    if (network !== undefined) this.#networks.set(network, (this.#networks.get(network) ?? 0) + 1);
    return true;
  }

  /** Forgets a connection, which has to be closed already. */
  remove(member: TrackedConnection): void {
    if (!this.#members.has(member)) return;
    const network = this.#members.get(member);
    this.#members.delete(member);
    this.#idle.delete(member);
    if (network === undefined) return;
    const count = (this.#networks.get(network) ?? 0) - 1;
    if (count > 0) this.#networks.set(network, count);
    else this.#networks.delete(network);
  }

  /** The connection waits for a request from now on. */
  setIdle(member: TrackedConnection): void {
    if (!this.#members.has(member)) return;
    this.#idle.delete(member);
    this.#idle.add(member);
  }

  /** A request of the connection is being answered. */
  setBusy(member: TrackedConnection): void {
    this.#idle.delete(member);
  }

  /** Counts a socket that is not a client's, such as one to an application, and makes room for it where possible. */
  addOther(): void {
    if (this.size + this.#others >= this.#maxSockets) this.#evict();
    this.#others++;
  }

  removeOther(): void {
    this.#others--;
  }

  /** Closes one connection because there are no descriptors left. Gives `false` where all are in use. */
  makeRoom(): boolean {
    return this.#evict();
  }

  #isFull(): boolean {
    return this.size >= this.#max || this.size + this.#others >= this.#maxSockets;
  }

  /** Closes the connection, of the network if one is given, that is missed least. Gives `false` where all are in use. */
  #evict(network?: string): boolean {
    const victim = this.#longestIdle(network) ?? this.#longestStalled(network);
    if (victim === undefined) return false;
    this.remove(victim);
    victim.close();
    return true;
  }

  /**
   * Those that stand for many clients come last: a proxy may be sending a request over a connection that is idle here, and
   * its client would get an error.
   */
  #longestIdle(network: string | undefined): TrackedConnection | undefined {
    let shared: TrackedConnection | undefined;
    for (const member of this.#idle) {
      const itsNetwork = this.#members.get(member);
      if (itsNetwork === undefined && network === undefined) shared ??= member;
      else if (network === undefined || itsNetwork === network) return member;
    }
    return shared;
  }

  #longestStalled(network: string | undefined): TrackedConnection | undefined {
    let found: TrackedConnection | undefined;
    let since = this.clock.now - this.#rules.stallTime;
    for (const [member, itsNetwork] of this.#members) {
      if (network !== undefined && itsNetwork !== network) continue;
      if (member.stalledSince === undefined || member.stalledSince >= since) continue;
      found = member;
      since = member.stalledSince;
    }
    return found;
  }
}

/** The time in milliseconds as of the last tick. Asking the system at each step of each request would cost more. */
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

  /** Calls the function every `GATE_TICK`, until the clock is stopped. */
  onTick(listener: (now: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The moment when at least so many milliseconds have passed. */
  in(time: number): number {
    return this.now + time + CLOCK_TICK;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
