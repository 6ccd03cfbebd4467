import { statfs } from "node:fs";
import { promisify } from "node:util";
import { DISK_BYTES_PER_BYTE, DISK_CHECK_INTERVAL } from "../drive/limits.ts";
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

/**
 * Keeps a reserve of the disk free of uploads. On a full disk the store could not even delete.
 */
export class DiskSpace {
  readonly #freeBytes: FreeBytes;
  readonly #reserve: number;
  /** What is left for uploads, as far as is known: what was free when asked, less what was promised since. */
  #left = 0;
  /** What uploads that are on their way may still take. */
  #promised = 0;
  #askedAt = -Infinity;

  constructor(freeBytes: FreeBytes, reserve: number) {
    this.#freeBytes = freeBytes;
    this.#reserve = reserve;
  }

  /**
   * Promises room for an upload of so many bytes, until what it gives is disposed of.
   *
   * @throws {StoreFull} where the reserve would be touched.
   */
  async demand(size: number): Promise<Disposable> {
    const needed = size * DISK_BYTES_PER_BYTE;
    if (this.#isOld || this.#left < needed) await this.#ask();
    if (this.#left < needed) throw new StoreFull("The disk has no room but its reserve");
    this.#left -= needed;
    this.#promised += needed;
    return { [Symbol.dispose]: () => void (this.#promised -= needed) };
  }

  /** Whether there is no room for an upload of the largest size, so that space is wanted back soon. */
  async isShort(size: number): Promise<boolean> {
    await this.#ask();
    return this.#left < size * DISK_BYTES_PER_BYTE;
  }

  get #isOld(): boolean {
    return performance.now() - this.#askedAt > DISK_CHECK_INTERVAL;
  }

  async #ask(): Promise<void> {
    const free = await this.#freeBytes();
    this.#left = free === undefined ? Infinity : free - this.#reserve - this.#promised;
    this.#askedAt = performance.now();
  }
}
