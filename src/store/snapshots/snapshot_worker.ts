/**
 * The thread of a server that takes a snapshot and prunes afterwards, as SQLite and hashing would block the server.
 *
 * @module
 */
import { prune } from "../../repository/prune.ts";
import { Repository } from "../../repository/repository.ts";
import { hasRule } from "../../repository/retention.ts";
import { serveTask } from "../disk/sqlite.ts";
import { DONE, SENT, type SnapshotResult, type SnapshotTask, TOTAL } from "./snapshot_task.ts";
import { takeSnapshot } from "./take_snapshot.ts";

serveTask(async (task: SnapshotTask, onNotice): Promise<SnapshotResult> => {
  const { options, state } = task;
  const snapshot = await takeSnapshot(options, {
    onNotice,
    onProgress(done, total, sent) {
      state[DONE] = done;
      state[TOTAL] = total;
      state[SENT] = sent;
    },
  });
  // Snapshots of a damaged store must not replace those of the whole one.
  const isWhole = snapshot.damage.length === 0;
  return { snapshot, pruneProblem: isWhole ? await pruneAfter(task) : undefined };
});

/** Returns why the prune failed, which concerns the snapshot in no way; `undefined` if it did not. */
async function pruneAfter({ options, retention }: SnapshotTask): Promise<string | undefined> {
  if (!hasRule(retention)) return undefined;
  try {
    await prune(await Repository.open(options.repository), { retention });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
