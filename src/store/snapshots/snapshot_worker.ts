/**
 * The thread that takes a snapshot, as SQLite and hashing would block a server.
 *
 * @module
 */
import { serveTask } from "../disk/sqlite.ts";
import { DONE, SENT, type SnapshotTask, TOTAL } from "./snapshot_task.ts";
import { takeSnapshot } from "./take_snapshot.ts";

serveTask(({ options, state }: SnapshotTask, onNotice) =>
  takeSnapshot(options, {
    onNotice,
    onProgress(done, total, sent) {
      state[DONE] = done;
      state[TOTAL] = total;
      state[SENT] = sent;
    },
  })
);
