import { KIB, MIB, SECOND } from "../../rules/units.ts";
import type { Ballast } from "./ballast.ts";
import type { FreeBytesQuery } from "./volume.ts";

/** How long a measurement of the free space is used, less what was promised since, in milliseconds. */
const DISK_CHECK_INTERVAL = SECOND;

/**
 * Bytes that a stored byte takes on the disk, at most: one in the database, and up to two in the write-ahead log, because
 * each commit writes whole pages of 16 KiB. (Measured: 1.04 and 1.5 with 8 uploads of 10 MiB at once.)
 */
const DISK_BYTES_PER_STORED_BYTE = 3;

/**
 * Bytes that an upload may store beside its content: pages of indexes, records and counters that each of its commits
 * writes (measured: up to 70 KB on the disk for a file of 100 KB among 64 at once).
 */
const UPLOAD_OVERHEAD = 64 * KIB;

/**
 * The most bytes of a body for which space is reserved in advance: more than the largest body of the drive API. A larger
 * body gets space for the rest as it arrives, so that announced bytes alone take no space from others.
 */
const WINDOW = 16 * MIB;

/** How long a refused upload counts as waiting for space, in milliseconds: its sender will try again. */
const WANTED_FOR = 60 * SECOND;

/** The store's disk has no room for what was to be written. */
export class StoreFull extends Error {
  override readonly name = "StoreFull";
}

/** Space for an upload, until it is disposed of. */
export interface DiskReservation extends Disposable {
  /**
   * Returns the bytes of a body as they arrive, and reserves space for those after `WINDOW`.
   *
   * @throws {StoreFull} while they are iterated, if less than the reserve would stay free.
   */
  track(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** What must stay free beside the reserve, in bytes. */
export interface DiskNeeds {
  /** How much the next checkpoint will enlarge the store's file. */
  growth?: () => number;
  /** What is missing of the ballast: it is refilled before uploads get space again. */
  ballast?: Pick<Ballast, "missing" | "growthHeld">;
  /** Gives the space of long logs back, before an upload is refused. */
  truncateLogs?: () => Promise<void>;
}

/**
 * Admits uploads only while the disk keeps a reserve, because on a full disk the store could not even delete. What the
 * next checkpoint needs stays free as well: without it the log could never be truncated.
 */
export class DiskSpace {
  /** Bytes left for uploads: those free at the last measurement, less those promised since. */
  #left = 0;
  /** Bytes that running uploads may still take. */
  #promised = 0;
  #measuredAt = -Infinity;
  /** The most space that was refused lately, in bytes, and when. */
  #wanted = 0;
  #wantedAt = -Infinity;
  #measuring: Promise<void> | undefined;

  /** @param minFree The reserve, in bytes. */
  constructor(
    private readonly freeBytes: FreeBytesQuery,
    private readonly minFree: number,
    private readonly needs: DiskNeeds = {},
  ) {}

  /**
   * Reserves space for an upload until the result is disposed of: at most for `WINDOW` bytes, see `track`.
   *
   * @param size Bytes of its content, all of which must have room now.
   * @throws {StoreFull} if less than the reserve would stay free.
   */
  async reserve(size: number): Promise<DiskReservation> {
    let promised = spaceFor(Math.min(size, WINDOW));
    await this.#take(spaceFor(size), promised);
    this.#promised += promised;
    const takeMore = async (bytes: number) => {
      const more = bytes * DISK_BYTES_PER_STORED_BYTE;
      await this.#take(more, more);
    };
    return {
      track: async function* (body) {
        let granted = WINDOW;
        let received = 0;
        for await (const piece of body) {
          received += piece.byteLength;
          // The earlier bytes are written by now: their reservation is for the next ones.
          for (; granted < Math.min(received, size); granted += WINDOW) {
            await takeMore(Math.min(WINDOW, size - granted));
          }
          yield piece;
        }
      },
      [Symbol.dispose]: () => {
        this.#promised -= promised;
        promised = 0;
      },
    };
  }

  /** Takes space if enough is free. It may take less than what must be free. @throws {StoreFull} */
  async #take(needed: number, taken: number): Promise<void> {
    // Uploads that arrive during a measurement share it. Each measurement looks at ten files.
    if (this.#isOld) {
      await (this.#measuring ??= this.#measure().finally(() => this.#measuring = undefined));
    }
    if (this.#left < needed) await this.#measure();
    if (this.#left < needed && this.needs.truncateLogs !== undefined) {
      await this.needs.truncateLogs();
      await this.#measure();
    }
    if (this.#left >= needed) {
      // In the same turn of the event loop as the comparison, so that no other upload takes the same space.
      this.#left -= taken;
      return;
    }
    this.#wanted = Math.max(needed, this.#lately);
    this.#wantedAt = performance.now();
    throw new StoreFull("The disk has no room but its reserve");
  }

  /**
   * Returns whether there is no room for an upload of `size` bytes, or for one that was refused lately, so that free pages
   * should be returned to the disk soon.
   */
  async isShort(size: number): Promise<boolean> {
    await this.#measure();
    return this.#left < Math.max(spaceFor(size), this.#lately);
  }

  get #lately(): number {
    return performance.now() - this.#wantedAt < WANTED_FOR ? this.#wanted : 0;
  }

  get #isOld(): boolean {
    return performance.now() - this.#measuredAt > DISK_CHECK_INTERVAL;
  }

  async #measure(): Promise<void> {
    const [free, ballast = 0, held = 0] = await Promise.all([
      this.freeBytes(),
      this.needs.ballast?.missing(),
      this.needs.ballast?.growthHeld(),
    ]);
    const growth = Math.max(0, (this.needs.growth?.() ?? 0) - held);
    this.#left = free === undefined
      ? Infinity
      : free - this.minFree - growth - ballast - this.#promised;
    this.#measuredAt = performance.now();
  }
}

/** Bytes of the disk that an upload of `size` bytes may take. */
function spaceFor(size: number): number {
  return (size + UPLOAD_OVERHEAD) * DISK_BYTES_PER_STORED_BYTE;
}
