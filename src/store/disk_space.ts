import { statfs } from "node:fs";
import { promisify } from "node:util";
import { DISK_BYTES_PER_BYTE, DISK_CHECK_INTERVAL } from "../drive/limits.ts";
import type { Ballast } from "./ballast.ts";
import { StoreFull } from "./errors.ts";

/** Deno 2.5 has it in this form alone. */
const askVolume = promisify(statfs);

/** A disk, in bytes. */
export interface Volume {
  total: number;
  free: number;
}

/** The disk that the store is on as it is now; `undefined` where that cannot be found out. */
export type AskVolume = () => Promise<Volume | undefined>;

/** The free bytes of it. */
export type FreeBytes = () => Promise<number | undefined>;

export function freeBytesOf(folder: string): FreeBytes {
  const ask = volumeOf(folder);
  return async () => (await ask())?.free;
}

/** Asks the system about the disk that a folder is on. */
export function volumeOf(folder: string): AskVolume {
  return async () => {
    try {
      const { bavail, blocks, bsize } = await askVolume(folder);
      return { total: blocks * bsize, free: bavail * bsize };
    } catch (error) {
      // Without the permission nothing is known, and the disk itself is the limit.
      if (error instanceof Deno.errors.NotCapable) return undefined;
      throw error;
    }
  };
}

/** Of a store on another machine. */
export function unknownVolume(): Promise<undefined> {
  return Promise.resolve(undefined);
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
  async demand(size: number): Promise<Disposable> {
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
  return (size + UPLOAD_OVERHEAD) * DISK_BYTES_PER_BYTE;
}
