/**
 * Returns free pages of the store's file to the disk, in a thread of its own. It holds the store's lock for some
 * milliseconds at a time, so that writers wait little.
 *
 * @module
 */
import { KIB } from "../../rules/units.ts";
import { pageSizeOf, serveTask, unlessLocked, withSqlite } from "../disk/sqlite.ts";
import { checkpointAndTruncate, hasLongLog } from "../disk/write_ahead_log.ts";
import { type CompactTask, freePages } from "./compactor.ts";

/** Bytes of the pages that are freed while a file is locked: some milliseconds. */
const SLICE_BYTES = 800 * KIB;

/** The pause after each slice, in milliseconds. */
const PAUSE = 20;

serveTask(compact);

function compact(task: CompactTask): void {
  // A checkpoint that truncates holds the lock until its end: another one comes before, beside writers.
  if (freeSlices(task)) checkpointAndTruncate(task.path);
}

/** Returns whether all pages were freed. */
function freeSlices({ path, left, stop }: CompactTask): boolean {
  return withSqlite(path, (sqlite) => {
    // A crash may undo a slice: it is freed again later.
    sqlite.exec("PRAGMA busy_timeout = 100; PRAGMA synchronous = NORMAL");
    const slice = SLICE_BYTES / pageSizeOf(sqlite);
    while (freePages(sqlite) > left) {
      // While a reader needs the log, every page that is moved makes the log longer.
      if (hasLongLog(path, sqlite)) return false;
      // If a writer holds the lock, the next slice comes soon.
      unlessLocked(() => {
        // `exec` would run a single step of this statement and free one page.
        sqlite.prepare(`PRAGMA incremental_vacuum(${slice})`).all();
      });
      if (Atomics.wait(stop, 0, 0, PAUSE) !== "timed-out") return false;
    }
    return true;
  });
}
