import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LOCKED_RETRY_TIME } from "./sqlite.ts";

/** How often the store's log is taken in after a long reading until it has few enough pages for any writer. */
const CHECKPOINT_ROUNDS = 8;

const SHORT_LOG_PAGES = 256;

/** How long writers may be held up for the log to be cut. */
export const TRUNCATE_TIMEOUT = 20;

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
export class WriteAheadLog implements Disposable {
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

/**
 * Ends a read transaction that was long, and takes into the store what came into its log meanwhile. The next writer to
 * commit would do that, for seconds: so this connection does it, and begins while nobody can commit. Writers go on
 * beside it.
 *
 * @param source The store's file.
 */
export function checkpointAfterRead(source: string, reader: DatabaseSync): void {
  const writer = new DatabaseSync(source);
  try {
    writer.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}`);
    holdWriters(writer, () => reader.exec("COMMIT"));
    unlessFull(() => {
      for (let round = 0; round < CHECKPOINT_ROUNDS; round++) {
        const found = reader.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
        // What came while it worked is left; the last of it is small enough for any writer.
        if (Number(found?.["log"]) - Number(found?.["checkpointed"]) < SHORT_LOG_PAGES) break;
      }
      shorten(reader);
    });
  } finally {
    writer.close();
  }
}

/** On a full disk the log stays as it is: what was read is whole, and the server makes room for the log. */
function unlessFull(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("disk is full"))) throw error;
  }
}

/** Gives the log's space back, unless others are at work with it: the next backup or the server's end does it then. */
function shorten(sqlite: DatabaseSync): void {
  sqlite.exec(`PRAGMA busy_timeout = ${TRUNCATE_TIMEOUT}`);
  unlessLocked(() => sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
}

/** Gives whether it was done. */
function unlessLocked(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("locked"))) throw error;
    return false;
  }
}

function holdWriters(writer: DatabaseSync, work: () => void): void {
  const isHeld = unlessLocked(() => writer.exec("BEGIN IMMEDIATE"));
  work();
  if (isHeld) writer.exec("ROLLBACK");
}
