import { SECOND } from "../../rules/units.ts";
import type { Ballast } from "./ballast.ts";
import { FreeBytes } from "./volume.ts";

/** How long the free space of the disk is believed, less what was written meanwhile. */
const DISK_CHECK_INTERVAL = SECOND;

/** What a byte takes on the disk at the most: once in the write-ahead log, once in the database. */
const DISK_BYTES_PER_STORED_BYTE = 2;

/** The store's disk has no room for what was to be written. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
}

/** What the free space of a disk is needed for beside uploads, each in bytes. */
export interface DiskNeeds {
  /** By how much the store's file will grow when its log is checkpointed. */
  growth?: () => number;
  /** What of the ballast is missing: it is taken back before there are uploads again. */
  ballast?: Pick<Ballast, "missing" | "growthHeld">;
}

/**
 * Bytes that an upload may take beside its content, counted twice below: pages of indexes, records and counters that each
 * of its commits writes into the log (measured: up to 70 KB for a file of 100 KB among 64 at once).
 */
const UPLOAD_OVERHEAD = 65_536;

/**
 * Keeps a reserve of the disk free of uploads. On a full disk the store could not even delete. What the log's next
 * checkpoint needs stays free as well: without it the log could never be given back.
 */
export class DiskSpace {
  readonly #freeBytes: FreeBytes;
  readonly #reserve: number;
  readonly #needs: DiskNeeds;
  /** What is left for uploads, as far as is known: what was free when asked, less what was promised since. */
  #left = 0;
  /** What uploads that are on their way may still take. */
  #promised = 0;
  #askedAt = -Infinity;

  constructor(freeBytes: FreeBytes, reserve: number, needs: DiskNeeds = {}) {
    this.#freeBytes = freeBytes;
    this.#reserve = reserve;
    this.#needs = needs;
  }

  /**
   * Promises room for an upload of so many bytes, until what it gives is disposed of.
   *
   * @throws {StoreFull} where the reserve would be touched.
   */
  async reserve(size: number): Promise<Disposable> {
    const needed = neededFor(size);
    if (this.#isOld || this.#left < needed) await this.#ask();
    if (this.#left < needed) throw new StoreFull("The disk has no room but its reserve");
    this.#left -= needed;
    this.#promised += needed;
    return { [Symbol.dispose]: () => void (this.#promised -= needed) };
  }

  /** Whether there is no room for an upload of the largest size, so that space is wanted back soon. */
  async isShort(size: number): Promise<boolean> {
    await this.#ask();
    return this.#left < neededFor(size);
  }

  get #isOld(): boolean {
    return performance.now() - this.#askedAt > DISK_CHECK_INTERVAL;
  }

  async #ask(): Promise<void> {
    const [free, ballast = 0, held = 0] = await Promise.all([
      this.#freeBytes(),
      this.#needs.ballast?.missing(),
      this.#needs.ballast?.growthHeld(),
    ]);
    const growth = Math.max(0, (this.#needs.growth?.() ?? 0) - held);
    this.#left = free === undefined
      ? Infinity
      : free - this.#reserve - growth - ballast - this.#promised;
    this.#askedAt = performance.now();
  }
}

function neededFor(size: number): number {
  return (size + UPLOAD_OVERHEAD) * DISK_BYTES_PER_STORED_BYTE;
}
