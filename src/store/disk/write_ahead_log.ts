/**
 * The write-ahead log of one of the store's files: its size on the disk, and checkpoints beside those of Deno KV. A
 * checkpoint copies the log's pages into the file (sqlite.org/wal.html).
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LOCKED_RETRY_TIME, pageSizeOf, unlessLocked, withSqlite } from "./sqlite.ts";

/**
 * Pages from which on a log counts as long. SQLite checkpoints it at 1000 pages and then overwrites it from its start: it
 * grows further only while a read transaction needs its content.
 */
const LONG_LOG_PAGES = 4000;

/** Passive checkpoints after a long read transaction, at most, and the rest in pages that any writer may checkpoint. */
const CHECKPOINT_ROUNDS = 8;
const SHORT_LOG_PAGES = 256;

/** How long a checkpoint that truncates the log may hold up writers, in milliseconds. */
const TRUNCATE_TIMEOUT = 20;

/** Returns whether the log of an open file is long. */
export function hasLongLog(path: string, sqlite: DatabaseSync): boolean {
  return logSize(path) > LONG_LOG_PAGES * pageSizeOf(sqlite);
}

/** Returns the bytes of the log's file, which keeps its size after a checkpoint. */
function logSize(path: string): number {
  return statOrZero(`${path}-wal`).size;
}

/** The size of the log. It asks SQLite and the system, which takes some ten microseconds, and reads no data. */
export class WriteAheadLog implements Disposable {
  readonly #sqlite: DatabaseSync;
  readonly #pageCount: StatementSync;
  readonly #pageSize: number;

  /** @param path The file, which is open. */
  constructor(readonly path: string) {
    this.#sqlite = new DatabaseSync(path, { readOnly: true });
    this.#pageCount = this.#sqlite.prepare("PRAGMA page_count");
    this.#pageSize = pageSizeOf(this.#sqlite);
  }

  get size(): number {
    return logSize(this.path);
  }

  /** The bytes from which on it counts as long. */
  get long(): number {
    return LONG_LOG_PAGES * this.#pageSize;
  }

  /**
   * Returns the bytes by which the next checkpoint will enlarge the store's file, at most. While a long read
   * transaction blocks checkpoints, uploads add to it.
   */
  growth(): number {
    // `all` runs the statement to its end, and so ends its read transaction; `get` would leave it open.
    const pages = Number(this.#pageCount.all()[0]?.["page_count"]);
    const allocated = statOrZero(this.path).allocated;
    return Math.min(this.size, Math.max(0, pages * this.#pageSize - allocated));
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}

/**
 * A page that is free when it is checkpointed leaves a hole in the file: the allocated bytes are less than the size.
 */
function statOrZero(path: string): { size: number; allocated: number } {
  try {
    const { size, blocks } = Deno.statSync(path);
    // `blocks` counts units of 512 bytes on every system that has it.
    return { size, allocated: blocks === null ? size : Math.min(size, blocks * 512) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { size: 0, allocated: 0 };
    throw error;
  }
}

/**
 * Ends a long read transaction and checkpoints the log that grew during it, beside writers. Otherwise the next commit
 * would do that, for seconds.
 *
 * @param path The store's file.
 * @param reader The connection with the read transaction.
 */
export function checkpointAfterRead(
  path: string,
  reader: Pick<DatabaseSync, "exec" | "prepare">,
): void {
  withSqlite(path, (writer) => {
    writer.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}`);
    // A writer that commits first would checkpoint the log itself, so writers have to wait for the lock.
    const isHeld = unlessLocked(() => writer.exec("BEGIN IMMEDIATE"));
    reader.exec("COMMIT");
    if (isHeld) writer.exec("ROLLBACK");
    unlessFull(() => {
      for (let round = 0; round < CHECKPOINT_ROUNDS; round++) {
        const found = reader.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
        // What was written during the checkpoint is left over.
        if (Number(found?.["log"]) - Number(found?.["checkpointed"]) >= SHORT_LOG_PAGES) continue;
        reader.exec(`PRAGMA busy_timeout = ${TRUNCATE_TIMEOUT}`);
        unlessLocked(() => truncate(reader));
        return;
      }
      // Truncating would copy the rest while writers wait, for seconds on a slow disk. The log keeps its size: the next
      // backup, or the server's end, truncates it.
    });
  });
}

/**
 * Checkpoints the log of a store's file, and truncates it if no read transaction needs it. Blocks this thread for
 * seconds.
 */
export function checkpointAndTruncate(path: string): void {
  withSqlite(path, (sqlite) => {
    sqlite.exec(`PRAGMA busy_timeout = ${TRUNCATE_TIMEOUT}`);
    const found = sqlite.prepare("PRAGMA wal_checkpoint(PASSIVE)").all()[0];
    // While a reader needs the log, truncating it would only hold up writers.
    const isUnused = found?.["busy"] === 0 && found["log"] === found["checkpointed"];
    if (isUnused) truncate(sqlite);
  });
}

function truncate(sqlite: Pick<DatabaseSync, "prepare">): void {
  sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
}

/** Ignores a full disk: the log then stays as long as it is, and the server makes room for it. */
function unlessFull(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("disk is full"))) throw error;
  }
}
