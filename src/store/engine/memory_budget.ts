import { MIB } from "../../rules/units.ts";
import { MemoryExhausted } from "./errors.ts";

/** Smallest budget in bytes: an eighth of it, the part for JSON, holds the largest JSON body. */
export const MIN_MEMORY_BUDGET = 64 * MIB;

/** Largest default budget of a process in bytes: more of it did not make transfers faster. */
export const MAX_DEFAULT_MEMORY_BUDGET = 512 * MIB;

/** Default share of the machine's memory. The rest is for the runtime, the database and other programs. */
const DEFAULT_SHARE = 1 / 4;

/** Division of the budget. The shares add up to 1. */
const SHARES = { uploads: 3 / 8, downloads: 5 / 16, caches: 3 / 16, json: 1 / 8 } as const;

/** The share of the caches that is for chunks of large files. The rest is for small files. */
const CHUNKS_SHARE = 1 / 3;

/** Requests that may wait for memory of one part; each holds little more than its headers. */
const MAX_WAITING = 1000;

export type MemoryPartName = keyof typeof SHARES;

/** Use of one part of the budget, for the metrics. */
export interface MemoryUse {
  part: MemoryPartName;
  /** Size of the part in bytes. */
  budget: number;
  /** Bytes in use. */
  used: number;
  /** Requests refused because the part was used up. */
  refused: number;
}

/** A cache's part of the budget, in bytes. The cache stays within `limit` and updates `used` itself. */
export interface CacheMemory {
  readonly limit: number;
  used: number;
}

export interface MemoryBudgetOptions {
  /** Time that a request waits for memory before it is refused, in milliseconds. */
  maxWait?: number;
}

/**
 * The memory for bytes of files and messages, divided by purpose. It bounds everything that grows with the number and
 * the behaviour of callers; the memory of the runtime comes on top.
 */
export class MemoryBudget {
  readonly uploads: MemoryPart;
  readonly downloads: MemoryPart;
  /** JSON bodies of requests, and large JSON answers. */
  readonly json: MemoryPart;
  readonly smallFiles: CacheMemory;
  /** Chunks of large files. */
  readonly chunks: CacheMemory;

  /** @param bytes At least `MIN_MEMORY_BUDGET`. */
  constructor(bytes: number, { maxWait = 0 }: MemoryBudgetOptions = {}) {
    if (bytes < MIN_MEMORY_BUDGET) throw new RangeError(`Memory budget of ${bytes} bytes`);
    const part = (name: MemoryPartName) =>
      new MemoryPart(name, Math.floor(bytes * SHARES[name]), maxWait);
    this.uploads = part("uploads");
    this.downloads = part("downloads");
    this.json = part("json");
    const caches = Math.floor(bytes * SHARES.caches);
    const chunks = Math.floor(caches * CHUNKS_SHARE);
    this.smallFiles = { limit: caches - chunks, used: 0 };
    this.chunks = { limit: chunks, used: 0 };
  }

  /** Returns the use of each part. */
  uses(): MemoryUse[] {
    const parts = [this.uploads, this.downloads, this.json].map((part) => ({
      part: part.name,
      budget: part.limit,
      used: part.used,
      refused: part.refused,
    }));
    const { smallFiles, chunks } = this;
    const budget = smallFiles.limit + chunks.limit;
    const used = smallFiles.used + chunks.used;
    return [...parts, { part: "caches", budget, used, refused: 0 }];
  }
}

/** Returns the default budget of all processes, in bytes, for a machine with this many bytes of memory. */
export function defaultMemoryBudget(memory: number, processes: number = 1): number {
  const share = Math.floor(memory * DEFAULT_SHARE);
  const atLeast = Math.max(MIN_MEMORY_BUDGET * processes, share);
  return Math.min(MAX_DEFAULT_MEMORY_BUDGET * processes, atLeast);
}

interface Waiting {
  bytes: number;
  grant: () => void;
}

/**
 * Memory that the requests of all projects share.
 *
 * - A project that holds some already gets more only while at least as much as it then holds stays free. One project
 *   alone therefore gets half, and a request for more than half counts as half.
 * - Waiting requests are served in turns: one of each project, the oldest first. A request that does not fit yet lets
 *   smaller ones of other projects pass.
 */
export class MemoryPart {
  readonly #held = new Map<string, number>();
  /** Waiting requests by project. The project whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>();
  #used = 0;
  #waiting = 0;
  #refused = 0;

  /**
   * @param limit Size in bytes.
   * @param maxWait Time that a request waits, in milliseconds; 0 refuses it at once.
   */
  constructor(
    readonly name: MemoryPartName,
    readonly limit: number,
    private readonly maxWait: number,
  ) {}

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  /** Requests refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Reserves memory for one request, which disposes of the share when it ends. More than half of the part counts as
   * half.
   *
   * @throws {MemoryExhausted} after the maximum wait, or at once if too many requests wait already.
   */
  async reserve(project: string, bytes: number): Promise<MemoryShare> {
    const share = new MemoryShare(this, project);
    await share.extend(bytes);
    return share;
  }

  /** Returns the bytes that a request for this many counts as. */
  countOf(bytes: number): number {
    return Math.min(bytes, Math.floor(this.limit / 2));
  }

  /**
   * Waits until the project can take this many bytes. Returns how many it took, see `countOf`.
   *
   * @throws {MemoryExhausted}
   */
  async acquire(project: string, bytes: number): Promise<number> {
    const wanted = this.countOf(bytes);
    if (this.#queues.has(project) || !this.take(project, wanted)) await this.#wait(project, wanted);
    return wanted;
  }

  /** Takes bytes without waiting. Returns whether they were available. */
  take(project: string, bytes: number): boolean {
    if (!this.#fits(project, bytes)) return false;
    this.#used += bytes;
    this.#held.set(project, (this.#held.get(project) ?? 0) + bytes);
    return true;
  }

  /** Returns the bytes that a project could take at once: none while requests of the same project wait. */
  available(project: string): number {
    if (this.#queues.has(project)) return 0;
    const free = this.limit - this.#used;
    const held = this.#held.get(project) ?? 0;
    return held === 0 ? free : Math.max(0, Math.floor((free - held) / 2));
  }

  /** Returns bytes to the part. */
  release(project: string, bytes: number): void {
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
    // A project may take half of the places that are left, as with memory.
    if (this.maxWait === 0 || queue.length >= MAX_WAITING - this.#waiting) throw this.#refuse();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { bytes, grant: resolve };
    const timer = setTimeout(() => {
      this.#leaveQueue(project, waiting);
      reject(this.#refuse());
    }, this.maxWait);
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
        // Its next turn comes after those of the other projects.
        const rest = this.#queues.get(project);
        if (this.#queues.delete(project) && rest !== undefined) this.#queues.set(project, rest);
        first.grant();
      }
    }
  }
}

/** Memory that one request holds. */
export class MemoryShare implements Disposable {
  #bytes = 0;
  #isClosed = false;

  constructor(private readonly part: MemoryPart, private readonly project: string) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Waits for more bytes. @throws {MemoryExhausted} as `MemoryPart.reserve` does. */
  async extend(bytes: number): Promise<void> {
    this.#bytes += await this.part.acquire(this.project, bytes);
    // The share may have been disposed of during the wait.
    if (this.#isClosed) this.shrink(this.#bytes);
  }

  /** Takes up to `count` units of `unit` bytes without waiting. Returns how many units it got. */
  grow(count: number, unit: number): number {
    if (this.#isClosed) return 0;
    const available = Math.floor(this.part.available(this.project) / unit);
    const granted = Math.min(count, available);
    if (granted <= 0 || !this.part.take(this.project, granted * unit)) return 0;
    this.#bytes += granted * unit;
    return granted;
  }

  /** Releases some of the bytes, at most all. */
  shrink(bytes: number): void {
    const released = Math.min(bytes, this.#bytes);
    this.#bytes -= released;
    this.part.release(this.project, released);
  }

  /** Releases all bytes. The share gets none afterwards. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.shrink(this.#bytes);
  }
}
