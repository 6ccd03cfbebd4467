import { DatabaseSync } from "node:sqlite";
import { SECOND } from "../../rules/units.ts";
import { runInWorker } from "../disk/sqlite.ts";

/** The interval between two calls of `Compactor.run`, in milliseconds. */
export const COMPACT_INTERVAL = 10 * SECOND;

/**
 * The share of free pages from which on the file is made smaller. Fewer are soon used again, and returning them means to
 * move other pages.
 */
const MIN_FREE_SHARE = 0.1;

/** Free pages of 4 KiB from which on the file is made smaller, and how many of them are left. */
const MIN_FREE_PAGES = 2048;
const LEFT_PAGES = 256;

/** Consecutive calls at which pages must be free. Pages that uploads use again within a minute are kept. */
const LOOKS = 6;

/** The task of the thread that makes the file smaller. */
export interface CompactTask {
  /** The store's file. */
  path: string;
  /** How many free pages are left. */
  left: number;
  /** One element that is 0 until the thread must stop. */
  stop: Int32Array<SharedArrayBuffer>;
}

/** Makes the store's file smaller when much of it stays free. */
export class Compactor {
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** How many pages were free at the last calls. */
  #looks: number[] = [];

  /** @param path The store's file. */
  constructor(private readonly path: string) {}

  /**
   * Returns pages that stay free to the disk, if it is worthwhile. To be called every `COMPACT_INTERVAL`.
   *
   * @param isShort Whether the disk is short of space: then all free pages are returned at once.
   */
  async run({ isShort }: { isShort: boolean }): Promise<void> {
    if (Atomics.load(this.#stop, 0) !== 0) return;
    const { free, total } = this.#look();
    this.#looks = [...this.#looks, free].slice(-LOOKS);
    if (isShort) return await this.#compact(0, free);
    const lasting = this.#looks.length < LOOKS ? 0 : Math.min(...this.#looks);
    if (lasting >= MIN_FREE_SHARE * total) await this.#compact(free - lasting, lasting);
  }

  /** Stops a run after its current slice, and lets no other begin. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
  }

  /** Returns pages to the disk until only `left` are free. */
  async #compact(left: number, pages: number): Promise<void> {
    if (pages < MIN_FREE_PAGES) return;
    // Pages beyond these that were free at the earlier calls still count.
    this.#looks = this.#looks.map((free) => Math.max(0, free - pages));
    const task: CompactTask = {
      path: this.path,
      left: Math.max(left, LEFT_PAGES),
      stop: this.#stop,
    };
    const url = new URL("./compact_worker.ts", import.meta.url);
    try {
      await runInWorker(new Worker(url, { type: "module" }), task);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Cannot compact the store: ${reason}`, { cause: error });
    }
  }

  #look(): { free: number; total: number } {
    const sqlite = new DatabaseSync(this.path, { readOnly: true });
    try {
      return { free: freePages(sqlite), total: pageCount(sqlite) };
    } finally {
      sqlite.close();
    }
  }
}

/** Returns how many pages of the store's file are free. */
export function freePages(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA freelist_count").get()?.["freelist_count"] ?? 0);
}

/** Returns how many pages the store's file has. */
export function pageCount(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0);
}
