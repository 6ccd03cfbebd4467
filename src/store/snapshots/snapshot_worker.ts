/**
 * The thread of a server that takes a snapshot and prunes afterwards, as SQLite and hashing would block the server.
 *
 * @module
 */
import { prune } from "../../repository/prune.ts";
import { Repository } from "../../repository/repository.ts";
import { hasRule } from "../../repository/retention.ts";
import { MINUTE } from "../../rules/units.ts";
import { serveTask } from "../disk/sqlite.ts";
import { DONE, SENT, type SnapshotResult, type SnapshotTask, TOTAL } from "./snapshot_task.ts";
import { takeSnapshot, yieldToRequests } from "./take_snapshot.ts";

/** How long a prune rewrites objects: meanwhile snapshots of other servers wait. */
const REPACK_PATIENCE = MINUTE;

serveTask(async (task: SnapshotTask, onNotice): Promise<SnapshotResult> => {
  yieldToRequests();
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
    const repository = await Repository.open(options.repository);
    await prune(repository, {
      retention,
      bandwidth: options.bandwidth,
      patience: REPACK_PATIENCE,
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
