import type { RepositorySettings } from "../../../repository/repository.ts";
import { isoSeconds } from "../../../rules/dates.ts";
import type { SnapshotSummary } from "../../../store/snapshots/take_snapshot.ts";
import { repositorySettings } from "../../serve/backups/repository_settings.ts";
import type { CommandCall } from "../command_call.ts";

/** Returns what opens the repository that a command names. @param option The option of its target. */
export async function settingsOf(call: CommandCall, option = "to"): Promise<RepositorySettings> {
  return await repositorySettings({
    target: call.required(option),
    s3Endpoint: call.get("s3-endpoint"),
    passphraseFile: call.get("passphrase-file"),
    isUnencryptedAllowed: call.has("unencrypted"),
  }, call.env);
}

export function summaryJson(
  { id, time, files, bytes, added }: SnapshotSummary,
): Record<string, unknown> {
  return { id, time: isoSeconds(time), files, bytes, added };
}
