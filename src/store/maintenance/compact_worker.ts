/**
 * Gives free pages of the store's file back to the disk, in a thread of its own. It takes the store's lock for short
 * slices, so that writers wait little.
 *
 * @module
 */
import { serveTask, unlessLocked, withSqlite } from "../disk/sqlite.ts";
import { logSize, LONG_LOG } from "../disk/write_ahead_log.ts";
import { type CompactTask, freePages } from "./compactor.ts";

/** Pages that are freed while the store is locked, some milliseconds, and the pause behind them. */
const COMPACT_SLICE_PAGES = 200;

const COMPACT_PAUSE = 20;

serveTask(compact);

function compact({ path, left, stop }: CompactTask): void {
  withSqlite(path, (sqlite) => {
    // What it frees need not survive a crash at once: that would only have to be freed again.
    sqlite.exec("PRAGMA busy_timeout = 100; PRAGMA synchronous = NORMAL");
    while (freePages(sqlite) > left) {
      // While a reader needs the log, moving a page takes space instead of giving some back.
      if (logSize(path) > LONG_LOG) return;
      // A writer that holds the lock goes first; the next slice comes soon. `exec` would free a single page.
      unlessLocked(() => {
        sqlite.prepare(`PRAGMA incremental_vacuum(${COMPACT_SLICE_PAGES})`).all();
      });
      if (Atomics.wait(stop, 0, 0, COMPACT_PAUSE) !== "timed-out") return;
    }
    unlessLocked(() => sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
  });
}
