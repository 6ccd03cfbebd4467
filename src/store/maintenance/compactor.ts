import { DatabaseSync } from "node:sqlite";
import { runInWorker } from "../disk/sqlite.ts";

/** Free pages of 4 KiB of the store's file from which on it is made smaller, and down to which. */
const COMPACT_FROM_PAGES = 2048;

const COMPACT_TO_PAGES = 256;

/** What the thread is started with. */
export interface CompactTask {
  path: string;
  /** How many free pages stay. */
  left: number;
  /** One element that is 0 until the thread is to stop. */
  stop: Int32Array<SharedArrayBuffer>;
}

/** How many pages of the store's file hold nothing. */
export function freePages(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA freelist_count").get()?.["freelist_count"] ?? 0);
}

/** How many pages the store's file has. */
export function pageCount(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0);
}

/**
 * The share of free pages from which on the file is made smaller. Fewer are soon used again, and to give them back means
 * to move other pages.
 */
const COMPACT_FROM_SHARE = 0.1;

/** Milliseconds between two looks at the free pages. */
export const COMPACT_INTERVAL = 10_000;

/** Looks at the free pages that must agree: pages that uploads use again within a minute are not given back. */
const COMPACT_LOOKS = 6;

/** Makes the store's file smaller where much of it stays free. */
export class Compactor {
  readonly #path: string;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** How many pages were free at the last looks. */
  #looks: number[] = [];

  /** @param path The store's file. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * To be called every `COMPACT_INTERVAL`. Gives the pages back that stay free, if that is worthwhile; throws what kept it
   * from that.
   *
   * @param isShort Whether the disk is short of space: then all free pages are wanted back at once.
   */
  async run({ isShort }: { isShort: boolean }): Promise<void> {
    if (Atomics.load(this.#stop, 0) !== 0) return;
    const { free, total } = this.#look();
    this.#looks = [...this.#looks, free].slice(-COMPACT_LOOKS);
    if (isShort) return await this.#compact(0, free);
    const lasting = this.#looks.length < COMPACT_LOOKS ? 0 : Math.min(...this.#looks);
    if (lasting >= COMPACT_FROM_SHARE * total) await this.#compact(free - lasting, lasting);
  }

  /** Gives pages back until so many are left, or none if they are too few. */
  async #compact(left: number, pages: number): Promise<void> {
    if (pages < COMPACT_FROM_PAGES) return;
    // What was seen free for long beyond these pages still counts.
    this.#looks = this.#looks.map((free) => Math.max(0, free - pages));
    const task: CompactTask = {
      path: this.#path,
      left: Math.max(left, COMPACT_TO_PAGES),
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
    const sqlite = new DatabaseSync(this.#path, { readOnly: true });
    try {
      return { free: freePages(sqlite), total: pageCount(sqlite) };
    } finally {
      sqlite.close();
    }
  }

  /** Ends a run after the slice that it is at, and lets none begin any more. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
  }
}
