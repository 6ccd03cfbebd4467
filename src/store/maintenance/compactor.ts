import { DatabaseSync } from "node:sqlite";
import { MIB, SECOND } from "../../rules/units.ts";
import { pageSizeOf, runInWorker } from "../disk/sqlite.ts";

/** The interval between two calls of `Compactor.run`, in milliseconds. */
export const COMPACT_INTERVAL = 10 * SECOND;

/**
 * The share of free pages from which on the file is made smaller. Fewer are soon used again, and returning them means to
 * move other pages.
 */
const MIN_FREE_SHARE = 0.1;

/** Free bytes from which on a file is made smaller, and how many of them are left. */
const MIN_FREE = 8 * MIB;
const LEFT_FREE = MIB;

/** Consecutive calls at which pages must be free. Pages that uploads use again within a minute are kept. */
const LOOKS = 6;

/** The task of the thread that makes the file smaller. */
export interface CompactTask {
  /** The store's file. */
  path: string;
  /** How many pages are left free. */
  left: number;
  /** One element that is 0 until the thread must stop. */
  stop: Int32Array<SharedArrayBuffer>;
}

/** The pages of a file, and the size of each in bytes. */
interface FilePages {
  free: number;
  total: number;
  pageSize: number;
}

/** Makes the store's files smaller when much of them stays free. */
export class Compactor {
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #files: FileCompactor[];

  /** @param paths The store's files. */
  constructor(paths: readonly string[]) {
    this.#files = paths.map((path) => new FileCompactor(path, this.#stop));
  }

  /**
   * Returns pages that stay free to the disk, if it is worthwhile. To be called every `COMPACT_INTERVAL`.
   *
   * @param isShort Whether the disk is short of space: then all free pages are returned at once.
   */
  async run({ isShort }: { isShort: boolean }): Promise<void> {
    for (const file of this.#files) {
      if (Atomics.load(this.#stop, 0) === 0) await file.run(isShort);
    }
  }

  /** Stops a run after its current slice, and lets no other begin. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1);
    Atomics.notify(this.#stop, 0);
  }
}

/** Makes one file smaller. */
class FileCompactor {
  /** How many pages were free at the last calls. */
  #looks: number[] = [];

  constructor(
    private readonly path: string,
    private readonly stop: Int32Array<SharedArrayBuffer>,
  ) {}

  async run(isShort: boolean): Promise<void> {
    const look = this.#look();
    const { free, total } = look;
    this.#looks = [...this.#looks, free].slice(-LOOKS);
    if (isShort) return await this.#compact(0, free, look);
    const lasting = this.#looks.length < LOOKS ? 0 : Math.min(...this.#looks);
    if (lasting >= MIN_FREE_SHARE * total) await this.#compact(free - lasting, lasting, look);
  }

  /** Returns pages to the disk until only `left` are free. */
  async #compact(left: number, pages: number, { pageSize }: FilePages): Promise<void> {
    if (pages * pageSize < MIN_FREE) return;
    // Pages beyond these that were free at the earlier calls still count.
    this.#looks = this.#looks.map((free) => Math.max(0, free - pages));
    const task: CompactTask = {
      path: this.path,
      left: Math.max(left, LEFT_FREE / pageSize),
      stop: this.stop,
    };
    const url = new URL("./compact_worker.ts", import.meta.url);
    try {
      await runInWorker(new Worker(url, { type: "module" }), task);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Cannot compact the store: ${reason}`, { cause: error });
    }
  }

  #look(): FilePages {
    const sqlite = new DatabaseSync(this.path, { readOnly: true });
    try {
      return { free: freePages(sqlite), total: pageCount(sqlite), pageSize: pageSizeOf(sqlite) };
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
