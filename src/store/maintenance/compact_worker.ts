/**
 * Gives free pages of the store's file back to the disk, in a thread of its own. It takes the store's lock for short
 * slices, so that writers wait little.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { logSize, LONG_LOG } from "../disk/write_ahead_log.ts";
import { CompactTask, freePages } from "./compactor.ts";

/** Pages that are freed while the store is locked, some milliseconds, and the pause behind them. */
const COMPACT_SLICE_PAGES = 200;

const COMPACT_PAUSE = 20;

interface WorkerScope {
  onmessage: (event: { data: CompactTask }) => void;
  postMessage(message: { error?: string }): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = ({ data }) => {
  try {
    compact(data);
    scope.postMessage({});
  } catch (error) {
    scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};

function compact({ path, left, stop }: CompactTask): void {
  const sqlite = new DatabaseSync(path);
  try {
    // What it frees need not survive a crash at once: that would only have to be freed again.
    sqlite.exec("PRAGMA busy_timeout = 100; PRAGMA synchronous = NORMAL");
    while (freePages(sqlite) > left) {
      // While a reader needs the log, moving a page takes space instead of giving some back.
      if (logSize(path) > LONG_LOG) return;
      unlessLocked(() => {
        // `exec` would free a single page.
        sqlite.prepare(`PRAGMA incremental_vacuum(${COMPACT_SLICE_PAGES})`).all();
      });
      if (Atomics.wait(stop, 0, 0, COMPACT_PAUSE) !== "timed-out") return;
    }
    unlessLocked(() => sqlite.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
  } finally {
    sqlite.close();
  }
}

/** A writer that holds the lock goes first; the next slice comes soon. */
function unlessLocked(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("locked"))) throw error;
  }
}
