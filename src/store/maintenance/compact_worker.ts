/**
 * Returns free pages of the store's file to the disk, in a thread of its own. It holds the store's lock for some
 * milliseconds at a time, so that writers wait little.
 *
 * @module
 */
import { serveTask, unlessLocked, withSqlite } from "../disk/sqlite.ts";
import { hasLongLog } from "../disk/write_ahead_log.ts";
import { type CompactTask, freePages } from "./compactor.ts";

/** Pages that are freed while a file is locked: some milliseconds. */
const SLICE_PAGES = 200;

/** The pause after each slice, in milliseconds. */
const PAUSE = 20;

serveTask(compact);

function compact({ path, left, stop }: CompactTask): void {
  withSqlite(path, (sqlite) => {
    // A crash may undo a slice: it is freed again later.
    sqlite.exec("PRAGMA busy_timeout = 100; PRAGMA synchronous = NORMAL");
    while (freePages(sqlite) > left) {
      // While a reader needs the log, every page that is moved makes the log longer.
      if (hasLongLog(path, sqlite)) return;
      // If a writer holds the lock, the next slice comes soon.
      unlessLocked(() => {
        // `exec` would run a single step of this statement and free one page.
        sqlite.prepare(`PRAGMA incremental_vacuum(${SLICE_PAGES})`).all();
      });
      if (Atomics.wait(stop, 0, 0, PAUSE) !== "timed-out") return;
    }
    unlessLocked(() => sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
  });
}
