import { dirname } from "@std/path/dirname";
import { isS3 } from "../../../repository/targets/target.ts";
import { databasePath } from "../../../store/disk/store_files.ts";
import {
  requireWhole,
  takeSnapshot,
  yieldToRequests,
} from "../../../store/snapshots/take_snapshot.ts";
import { storeIdOf } from "../../../store/snapshots/repository_backups.ts";
import { BANDWIDTH } from "../../options/value_types.ts";
import { UNENCRYPTED_WARNING } from "../../serve/backups/repository_settings.ts";
import { printNotice } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import { TaskProgress } from "../../terminal/task_progress.ts";
import type { CommandCall } from "../command_call.ts";
import { settingsOf, summaryJson } from "./repository.ts";

export async function addSnapshot(call: CommandCall): Promise<void> {
  await call.requireStore();
  yieldToRequests();
  const repository = await settingsOf(call);
  const { target, passphrase } = repository;
  if (isS3(target) && passphrase === undefined && call.has("unencrypted")) {
    printNotice(UNENCRYPTED_WARNING);
  }
  using progress = new TaskProgress(call.env, () => {});
  const source = databasePath(call.data);
  const bandwidth = call.parsed("bandwidth", BANDWIDTH);
  const store = await storeIdOf(dirname(source));
  const snapshot = await takeSnapshot({ source, store, repository, bandwidth }, {
    onProgress: (done, total) => progress.show("Snapshot", done, total),
    onNotice: printNotice,
  });
  progress.clear();
  const { id, files, bytes, added, damage } = snapshot;
  const damaged = damage.length > 0 ? { damaged: damage.length } : {};
  call.print({ to: target, ...summaryJson(snapshot), ...damaged }, [
    `The snapshot ${id} in ${target} has ${plural(files, "file")} of ${bytes} bytes. ` +
    `It added ${added} bytes.`,
  ]);
  requireWhole(snapshot, target);
}
