import { Repository, type RepositorySettings } from "../../../repository/repository.ts";
import { isoSeconds } from "../../../rules/dates.ts";
import type { SnapshotSummary } from "../../../store/snapshots/take_snapshot.ts";
import { passphraseOf, repositorySettings } from "../../serve/backups/repository_settings.ts";
import type { CommandCall } from "../command_call.ts";
import { isKey, KEYS, readKeys, removeKey } from "../../../repository/keys.ts";
import { CommandError, printNotice, UsageError } from "../../terminal/output.ts";

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

async function openEncrypted(call: CommandCall): Promise<Repository & { key: { id: string } }> {
  const repository = await Repository.open(await settingsOf(call));
  const { key } = repository;
  if (key === undefined) throw repository.notEncrypted();
  return Object.assign(repository, { key });
}

export async function showKeys(call: CommandCall): Promise<void> {
  const { target, key } = await openEncrypted(call);
  const { keys, damaged } = await readKeys(target);
  for (const { message } of damaged) printNotice(message);
  const shown = keys.map(({ id, created }) => ({
    id,
    created: isoSeconds(created),
    current: id === key.id,
  }));
  call.printTable(
    shown,
    ["ID", "CREATED", "THIS PASSPHRASE"],
    shown.map(({ id, created, current }) => [id, created, current ? "yes" : ""]),
    "There are no keys.",
  );
}

export async function addPassphrase(call: CommandCall): Promise<void> {
  const repository = await openEncrypted(call);
  const file = call.get("new-passphrase-file");
  const passphrase = await passphraseOf(file, call.env["KVDRIVE_BACKUP_NEW_PASSPHRASE"]);
  if (passphrase === undefined) {
    throw new UsageError(
      "Give the further passphrase with --new-passphrase-file or KVDRIVE_BACKUP_NEW_PASSPHRASE",
    );
  }
  const id = await repository.addKey(passphrase);
  call.print({ id }, [`Added the key ${id}: its passphrase opens the repository, too.`]);
}

export async function removePassphrase(call: CommandCall): Promise<void> {
  const { target, place, key } = await openEncrypted(call);
  const id = call.required("ID");
  // A damaged key can be removed as well.
  const path = `${KEYS}/${id}`;
  if (!isKey(path) || await target.get(path) === undefined) {
    throw new CommandError(`There is no key ${id} in ${place}: see kvdrive backup key list`);
  }
  if (id === key.id) {
    throw new CommandError(
      `The key ${id} is that of the passphrase in use: give another passphrase to remove it`,
    );
  }
  const current = await removeKey(target, key.id, id);
  call.print({ removed: id }, [`Removed the key ${id}: its passphrase opens nothing.`]);
  if (current === key.id) return;
  printNotice(
    `Another command removed the key ${key.id} meanwhile: its passphrase has the key ${current} now`,
  );
}
