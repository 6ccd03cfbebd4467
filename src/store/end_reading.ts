import { DatabaseSync } from "node:sqlite";
import { LOCKED_RETRY_TIME, LOG_CUT_TIME, LOG_ROUNDS, LOG_SHORT_PAGES } from "../drive/limits.ts";

/**
 * Ends a read transaction that was long, and takes into the store what came into its log meanwhile. The next writer to
 * commit would do that, for seconds: so this connection does it, and begins while nobody can commit. Writers go on
 * beside it.
 *
 * @param source The store's file.
 */
export function endReading(source: string, reader: DatabaseSync): void {
  const writer = new DatabaseSync(source);
  try {
    writer.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}`);
    holdWriters(writer, () => reader.exec("COMMIT"));
    unlessFull(() => {
      for (let round = 0; round < LOG_ROUNDS; round++) {
        const found = reader.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
        // What came while it worked is left; the last of it is small enough for any writer.
        if (Number(found?.["log"]) - Number(found?.["checkpointed"]) < LOG_SHORT_PAGES) break;
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
  sqlite.exec(`PRAGMA busy_timeout = ${LOG_CUT_TIME}`);
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
