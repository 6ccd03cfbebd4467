import { DatabaseSync, type StatementSync } from "node:sqlite";

/**
 * Bytes from which on a log counts as long. SQLite checkpoints it at 4 MB and then writes it from its beginning again: it
 * gets longer only while readers need its content.
 */
export const LONG_LOG = 16 * 2 ** 20;

/** Bytes of the log's file, which keeps its size after a checkpoint. */
export function logSize(path: string): number {
  return statOrZero(`${path}-wal`).size;
}

/**
 * The write-ahead log of the store's file, as far as it concerns the disk. It asks SQLite and the system, which takes some
 * ten microseconds, and reads no data.
 */
export class StoreLog implements Disposable {
  readonly #path: string;
  readonly #sqlite: DatabaseSync;
  readonly #pageCount: StatementSync;
  readonly #pageSize: number;

  /** @param path The store's file, which is open. */
  constructor(path: string) {
    this.#path = path;
    this.#sqlite = new DatabaseSync(path, { readOnly: true });
    this.#pageCount = this.#sqlite.prepare("PRAGMA page_count");
    this.#pageSize = Number(this.#sqlite.prepare("PRAGMA page_size").all()[0]?.["page_size"]);
  }

  /** Bytes of its file. */
  get size(): number {
    return logSize(this.#path);
  }

  /**
   * Bytes by which the store's file will grow at the next checkpoint, at most. While a long read transaction keeps the log
   * from being checkpointed, that is what uploads have added.
   */
  growth(): number {
    // `all` runs the statement to its end, where its own read transaction ends.
    const pages = Number(this.#pageCount.all()[0]?.["page_count"]);
    const allocated = statOrZero(this.#path).allocated;
    return Math.min(this.size, Math.max(0, pages * this.#pageSize - allocated));
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}

/** A page that is free when it is checkpointed leaves a hole in the file, which is filled later. */
function statOrZero(path: string): { size: number; allocated: number } {
  try {
    const { size, blocks } = Deno.statSync(path);
    // "blocks: in units of 512 bytes" on every system that has them.
    return { size, allocated: blocks === null ? size : Math.min(size, blocks * 512) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { size: 0, allocated: 0 };
    throw error;
  }
}
