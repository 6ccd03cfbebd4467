import { type CheckReport, checkRepository } from "../../../repository/check.ts";
import { prune } from "../../../repository/prune.ts";
import { KEYS } from "../../../repository/keys.ts";
import { FOLDERS, Repository } from "../../../repository/repository.ts";
import { hasRule } from "../../../repository/retention.ts";
import { isoSeconds } from "../../../rules/dates.ts";
import { formatBytes } from "../../../rules/units.ts";
import { RateLimiter } from "../../../rules/concurrency.ts";
import { filesOfDamage } from "../../../store/snapshots/restore/damaged_files.ts";
import { retentionOf } from "../../options/configuration.ts";
import { BANDWIDTH, COUNT } from "../../options/value_types.ts";
import { CommandError, printNotice } from "../../terminal/output.ts";
import { TaskProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import { type CommandCall, sizeCell } from "../command_call.ts";
import { settingsOf, summaryJson } from "./repository.ts";

/** Files that are listed in one sentence about damage. */
const SHOWN = 20;

export async function listSnapshots(call: CommandCall): Promise<void> {
  const repository = await Repository.open(await settingsOf(call));
  const snapshots = await repository.snapshots(({ message }) => printNotice(message));
  for (const { id, damaged } of snapshots) {
    if (damaged.length > 0) printNotice(`The snapshot ${id} is that of a damaged store`);
  }
  call.printTable(
    snapshots.map((one) => ({
      ...summaryJson(one),
      ...(one.damaged.length > 0 && { damaged: one.damaged.length }),
    })),
    ["ID", "TIME", "FILES", "BYTES", "ADDED"],
    snapshots.map(({ id, time, files, bytes, added }) => [
      id,
      isoSeconds(time),
      files,
      sizeCell(bytes),
      sizeCell(added),
    ]),
    `The repository ${repository.place} has no snapshots.`,
  );
}

export async function checkSnapshots(call: CommandCall): Promise<void> {
  const repository = await Repository.open(await settingsOf(call));
  const bandwidth = call.parsed("bandwidth", BANDWIDTH);
  const limiter = bandwidth === undefined ? undefined : new RateLimiter(bandwidth);
  const readAll = call.has("read-all");
  using progress = new TaskProgress(call.env, () => {});
  const report = await checkRepository(repository, {
    readAll,
    ...(limiter && { pace: (bytes) => limiter.take(bytes) }),
    onRead: (done, total) => progress.show("Check", done, total),
  });
  const { snapshots, objects, bytes, problems } = report;
  const damage = problems.size === 0 ? [] : await filesOfDamage(repository, report);
  progress.clear();
  const json = {
    to: repository.place,
    snapshots: snapshots.length,
    objects,
    bytes,
    read: readAll,
    problems: [...problems].map(([object, message]) => ({ object, message })),
    damaged: damage.map(({ snapshot: { id, time, object }, files, records }) => ({
      snapshot: id,
      time: isoSeconds(time),
      manifest: pathOf(object),
      files,
      records,
    })),
  };
  const what = readAll ? "objects were read" : "objects exist";
  call.print(json, [
    ...[...problems.values()].map((message) => `${message}.`),
    ...damageLines(damage),
    ...(problems.size > 0 ? [] : [
      `No problems found: ${plural(snapshots.length, "snapshot")}, ${objects} ${what}, ` +
      `${bytes} bytes.`,
    ]),
  ]);
  if (problems.size > 0) throw new CommandError(summaryOf(report, repository.place));
}

function damageLines(damage: Awaited<ReturnType<typeof filesOfDamage>>): string[] {
  return damage.flatMap(({ snapshot: { id, time, object }, files, records }) => {
    const places = files.slice(0, SHOWN).map((file) => `Damaged in the snapshot ${id}: ${file}.`);
    const more = files.length - SHOWN;
    return [
      `The snapshot ${id} of ${isoSeconds(time)} is damaged. Its manifest is ${pathOf(object)}.`,
      ...places,
      ...(more > 0 ? [`And ${more} more files of this snapshot.`] : []),
      ...records.slice(0, SHOWN).map((range) => `Lost in the snapshot ${id}: ${range}.`),
    ];
  });
}

function pathOf(manifest: string): string {
  return `${FOLDERS.snapshot}/${manifest}`;
}

/** What cures damage, by the folder of the object. */
const CURES = {
  [KEYS]: "Remove the key with kvdrive backup key remove, and add its passphrase again",
  [FOLDERS.data]: "Remove wrong objects of data: the next snapshot sends again what the store has",
  [FOLDERS.index]: "The next snapshot sends nodes of its index again",
  [FOLDERS.snapshot]: "Restore a manifest from a copy of the repository, or remove it",
};

function summaryOf({ problems }: CheckReport, place: string): string {
  const count = problems.size === 1 ? "1 object is" : `${problems.size} objects are`;
  const cures = Object.entries(CURES)
    .filter(([folder]) => problems.keys().some((object) => object.startsWith(`${folder}/`)))
    .map(([_, cure]) => cure);
  return [`The repository ${place} is damaged: ${count} missing or wrong`, ...cures].join(". ");
}

export async function pruneSnapshots(call: CommandCall): Promise<void> {
  const retention = retentionOf((name) => call.parsed(name, COUNT));
  const isDryRun = call.has("dry-run");
  const repository = await Repository.open(await settingsOf(call));
  const report = await prune(repository, {
    retention,
    isDryRun,
    bandwidth: call.parsed("bandwidth", BANDWIDTH),
    onNotice: printNotice,
  });
  const { kept, removed, objects, bytes } = report;
  const json = {
    to: repository.place,
    kept: kept.map(({ id }) => id),
    removed: removed.map(({ id }) => id),
    objects,
    bytes,
    dry_run: isDryRun,
  };
  const would = isDryRun ? "Would remove" : "Removed";
  const lines = hasRule(retention)
    ? [
      ...removed.map(({ id, time }) => `${would} the snapshot ${id} of ${isoSeconds(time)}.`),
      `${would} ${plural(removed.length, "snapshot")} and ${plural(objects, "object")} of ` +
      `${formatBytes(Math.max(0, bytes))}. The repository keeps ${
        plural(kept.length, "snapshot")
      }.`,
    ]
    : [`Nothing was removed: give a rule such as --keep-daily 7.`];
  call.print(json, lines);
}
