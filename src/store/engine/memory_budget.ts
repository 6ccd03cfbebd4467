import { MemoryExhausted } from "./errors.ts";

const MIB = 2 ** 20;

/** Bytes of the smallest budget: an eighth of it, the part for JSON, holds the largest JSON body. */
export const MIN_MEMORY_BUDGET = 64 * MIB;

/** Bytes of the largest budget that is chosen by default: more of it did not make transfers faster. */
export const MAX_DEFAULT_MEMORY_BUDGET = 512 * MIB;

/** The share of the machine's memory that is the default. The rest is for the runtime, the database and others. */
const DEFAULT_SHARE = 1 / 4;

/** How the budget is divided. The shares add up to 1. */
const SHARES = { uploads: 3 / 8, downloads: 3 / 8, caches: 1 / 8, json: 1 / 8 } as const;

/** Requests that wait for memory of one part; each holds little more than its headers while it waits. */
const MAX_WAITING = 1000;

export type MemoryPartName = keyof typeof SHARES;

/** What a part of the budget is used for, as the metrics show it. */
export interface MemoryUse {
  part: MemoryPartName;
  /** Bytes. */
  budget: number;
  used: number;
  /** Requests that were refused because the part was used up. */
  refused: number;
}

/** A cache's part of the budget: it keeps itself within `limit` and says in `used` how much of it it has. In bytes. */
export interface CacheMemory {
  readonly limit: number;
  used: number;
}

export interface MemoryBudgetOptions {
  /** How long a request waits for memory before it is refused, in milliseconds. */
  patience?: number;
}

/**
 * The bytes of files and messages that the process may have in memory, divided between what they are for. It bounds what
 * grows with the number and the behaviour of callers; the runtime's own memory comes on top of it.
 */
export class MemoryBudget {
  readonly uploads: MemoryPart;
  readonly downloads: MemoryPart;
  /** Bodies of requests in JSON, and large answers in JSON. */
  readonly json: MemoryPart;
  readonly caches: CacheMemory;

  /** @param bytes At least `MIN_MEMORY_BUDGET`. */
  constructor(bytes: number, { patience = 0 }: MemoryBudgetOptions = {}) {
    if (bytes < MIN_MEMORY_BUDGET) throw new RangeError(`Memory budget of ${bytes} bytes`);
    const part = (name: MemoryPartName) =>
      new MemoryPart(name, Math.floor(bytes * SHARES[name]), patience);
    this.uploads = part("uploads");
    this.downloads = part("downloads");
    this.json = part("json");
    this.caches = { limit: Math.floor(bytes * SHARES.caches), used: 0 };
  }

  /** What each part may hold and holds. */
  uses(): MemoryUse[] {
    const parts = [this.uploads, this.downloads, this.json].map((part) => ({
      part: part.name,
      budget: part.limit,
      used: part.used,
      refused: part.refused,
    }));
    const { limit, used } = this.caches;
    return [...parts, { part: "caches", budget: limit, used, refused: 0 }];
  }
}

/** The budget of a machine with so many bytes of memory. */
export function defaultMemoryBudget(memory: number): number {
  const share = Math.floor(memory * DEFAULT_SHARE);
  return Math.min(MAX_DEFAULT_MEMORY_BUDGET, Math.max(MIN_MEMORY_BUDGET, share));
}

interface Waiting {
  bytes: number;
  grant: () => void;
}

/**
 * Bytes that requests of all projects share. A project that holds some already gets more only while as much as it then
 * holds is left for the others, so one project alone gets a half. A request for more than that counts as a half. Requests that have to wait are served in turns: one of
 * each project, the oldest first; a request that does not fit yet lets smaller ones pass.
 */
export class MemoryPart {
  readonly #patience: number;
  readonly #held = new Map<string, number>();
  /** The project whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>();
  #used = 0;
  #waiting = 0;
  #refused = 0;

  /**
   * @param limit Bytes.
   * @param patience How long a request waits, in milliseconds.
   */
  constructor(readonly name: MemoryPartName, readonly limit: number, patience: number) {
    this.#patience = patience;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** How many requests were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Bytes for one request, which it gives back by disposing of them. More than half of the part counts as a half.
   *
   * @throws {MemoryExhausted} where there is not enough for too long, or too many wait already.
   */
  async reserve(project: string, bytes: number): Promise<MemoryShare> {
    const share = new MemoryShare(this, project);
    await share.extend(bytes);
    return share;
  }

  /** What a request of so many bytes counts as. */
  countOf(bytes: number): number {
    return Math.min(bytes, Math.floor(this.limit / 2));
  }

  /** Waits until it could take so many bytes, as they count, and gives how many. @throws {MemoryExhausted} */
  async acquire(project: string, bytes: number): Promise<number> {
    const wanted = this.countOf(bytes);
    if (this.#queues.has(project) || !this.take(project, wanted)) await this.#wait(project, wanted);
    return wanted;
  }

  /** Takes bytes if they are to be had at once. @returns Whether they were. */
  take(project: string, bytes: number): boolean {
    if (!this.#fits(project, bytes)) return false;
    this.#used += bytes;
    this.#held.set(project, (this.#held.get(project) ?? 0) + bytes);
    return true;
  }

  /** Bytes that a project could take at once. Those that wait for the same project come first. */
  available(project: string): number {
    if (this.#queues.has(project)) return 0;
    const free = this.limit - this.#used;
    const held = this.#held.get(project) ?? 0;
    return held === 0 ? free : Math.max(0, Math.floor((free - held) / 2));
  }

  /** Gives bytes back that were taken. */
  give(project: string, bytes: number): void {
    if (bytes === 0) return;
    this.#used -= bytes;
    const left = (this.#held.get(project) ?? 0) - bytes;
    if (left > 0) this.#held.set(project, left);
    else this.#held.delete(project);
    if (this.#waiting > 0) this.#serveQueues();
  }

  #fits(project: string, bytes: number): boolean {
    const left = this.limit - this.#used - bytes;
    const held = this.#held.get(project) ?? 0;
    return left >= 0 && (held === 0 || held + bytes <= left);
  }

  async #wait(project: string, bytes: number): Promise<void> {
    const queue = this.#queues.get(project) ?? [];
    // Of the places that are left a project gets a half as well.
    if (this.#patience === 0 || queue.length >= MAX_WAITING - this.#waiting) throw this.#refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { bytes, grant: resolve };
    const timer = setTimeout(() => {
      this.#leaveQueue(project, waiting);
      reject(this.#refuse());
    }, this.#patience);
    queue.push(waiting);
    this.#queues.set(project, queue);
    this.#waiting++;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #refuse(): MemoryExhausted {
    this.#refused++;
    return new MemoryExhausted(this.name);
  }

  #leaveQueue(project: string, waiting: Waiting): void {
    const queue = this.#queues.get(project) ?? [];
    queue.splice(queue.indexOf(waiting), 1);
    if (queue.length === 0) this.#queues.delete(project);
    this.#waiting--;
  }

  #serveQueues(): void {
    let served = true;
    while (served) {
      served = false;
      for (const [project, [first]] of [...this.#queues]) {
        if (first === undefined || !this.take(project, first.bytes)) continue;
        served = true;
        this.#leaveQueue(project, first);
        // Its next turn comes after that of the others.
        const rest = this.#queues.get(project);
        if (this.#queues.delete(project) && rest !== undefined) this.#queues.set(project, rest);
        first.grant();
      }
    }
  }
}

/** Bytes that one request holds. */
export class MemoryShare implements Disposable {
  readonly #part: MemoryPart;
  readonly #project: string;
  #bytes = 0;
  #isClosed = false;

  constructor(part: MemoryPart, project: string) {
    this.#part = part;
    this.#project = project;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Waits for more bytes. @throws {MemoryExhausted} where there is not enough for too long. */
  async extend(bytes: number): Promise<void> {
    this.#bytes += await this.#part.acquire(this.#project, bytes);
    // It may have been given up while bytes were waited for.
    if (this.#isClosed) this.shrink(this.#bytes);
  }

  /** Takes up to `count` units of so many bytes, as many as are to be had at once; gives how many. */
  grow(count: number, unit: number): number {
    if (this.#isClosed) return 0;
    const available = Math.floor(this.#part.available(this.#project) / unit);
    const granted = Math.min(count, available);
    if (granted <= 0 || !this.#part.take(this.#project, granted * unit)) return 0;
    this.#bytes += granted * unit;
    return granted;
  }

  /** Gives some bytes back. */
  shrink(bytes: number): void {
    const given = Math.min(bytes, this.#bytes);
    this.#bytes -= given;
    this.#part.give(this.#project, given);
  }

  /** Gives all bytes back; it gets no more afterwards. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.shrink(this.#bytes);
  }
}
