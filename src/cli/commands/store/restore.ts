import { basename } from "@std/path/basename";
import { RepositoryError } from "../../../repository/errors.ts";
import type { Snapshot } from "../../../repository/manifest.ts";
import { Repository } from "../../../repository/repository.ts";
import { isoSeconds, parseUtcTime } from "../../../rules/dates.ts";
import { failureReason } from "../../../rules/system_error.ts";
import { plural } from "../../terminal/text.ts";
import { exists, TemporaryFile } from "../../../store/disk/durable_file.ts";
import { CannotRestore } from "../../../store/engine/errors.ts";
import { nameText } from "../../../store/snapshots/restore/damaged_files.ts";
import {
  findFile,
  readFile,
  type SnapshotFile,
} from "../../../store/snapshots/restore/read_file.ts";
import {
  type LostGroup,
  restoreSnapshot,
} from "../../../store/snapshots/restore/restore_snapshot.ts";
import { SnapshotReader } from "../../../store/snapshots/restore/snapshot_reader.ts";
import { byteFileOf } from "../../../store/backup/join_files.ts";
import { DEFAULT_DISK_RESERVE } from "../../options/serve_options.ts";
import { BANDWIDTH } from "../../options/value_types.ts";
import { CommandError, printNotice, UsageError, writeOut } from "../../terminal/output.ts";
import { TaskProgress } from "../../terminal/task_progress.ts";
import type { CommandCall } from "../command_call.ts";
import { checkS3Keys, checkStore, printProblems, type StoreCheck } from "./check_store.ts";
import { settingsOf } from "./repository.ts";

/** Standard output. */
const PIPE = "-";

/** Options of a single file. */
const FILE_OPTIONS = ["drive", "file", "project", "output"];

/** Restores from a repository: a store, or a single file. */
export async function restoreFrom(call: CommandCall): Promise<void> {
  const at = timeOf(call);
  const isFile = FILE_OPTIONS.some((name) => call.has(name));
  if (isFile && !(call.has("drive") && call.has("file"))) {
    throw new UsageError("A single file needs both --drive and --file");
  }
  if (!isFile) call.requireFolder();
  const repository = await Repository.open(await settingsOf(call, "from"));
  const snapshots = await repository.snapshots(({ message }) => printNotice(message));
  const snapshot = chooseSnapshot(repository, snapshots, { at, id: call.get("snapshot") });
  if (isFile) await restoreOne(call, new SnapshotReader(repository, snapshot));
  else await restoreStore(call, repository, snapshot);
}

/** Returns the time of `--at` in milliseconds since 1970. @throws {UsageError} */
function timeOf(call: CommandCall): number | undefined {
  const text = call.get("at");
  if (text === undefined) return undefined;
  if (call.get("snapshot") !== undefined) {
    throw new UsageError("The options --at and --snapshot exclude each other");
  }
  const [, day, time, fraction = "", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d{1,3})?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ??
      [];
  // A time is as exact as it is written: a day, a minute or a second lasts to its end. Programs add milliseconds of zero.
  const end = time === undefined
    ? "23:59:59.999"
    : time.length === 5
    ? `${time}:59.999`
    : `${time}${/[1-9]/.test(fraction) ? fraction : ".999"}`;
  const parsed = day === undefined ? NaN : Date.parse(`${day}T${end}${zone.toUpperCase()}`);
  if (!Number.isNaN(parsed) && parseUtcTime(`${day}T00:00:00Z`) !== undefined) return parsed;
  throw new UsageError(
    `Bad value "${text}" of --at: it must be a time like 2026-01-31T12:00:00Z, or a day`,
  );
}

/** @throws {CannotRestore} if there is no such snapshot. */
function chooseSnapshot(
  { place }: Repository,
  snapshots: readonly Snapshot[],
  { at, id }: { at: number | undefined; id: string | undefined },
): Snapshot {
  const advice = `see kvdrive backup list --to ${place}`;
  if (id !== undefined) {
    const found = snapshots.filter((one) => id.length >= 4 && one.id.startsWith(id));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    throw new CannotRestore(
      `There is ${
        found.length === 0 ? "no" : "more than one"
      } snapshot "${id}" in ${place}: ${advice}`,
    );
  }
  const snapshot = snapshots.findLast(({ time }) => at === undefined || time <= at);
  if (snapshot !== undefined) return snapshot;
  throw new CannotRestore(
    at === undefined
      ? `The repository ${place} has no snapshot: make one with kvdrive backup --to`
      : `The repository ${place} has no snapshot up to ${isoSeconds(at)}: ${advice}`,
  );
}

async function restoreOne(call: CommandCall, reader: SnapshotReader): Promise<void> {
  const [drive, name] = [call.required("drive"), call.required("file")];
  const output = call.get("output") ?? basename(name);
  if (output !== PIPE && !call.has("force") && await exists(output)) {
    throw new CommandError(
      `${output} already exists: choose another name with --output, or add --force`,
    );
  }
  const file = await findFile(reader, { drive, name, project: call.get("project") });
  if (output === PIPE) {
    for await (const bytes of readFile(reader, file)) await writeOut(bytes);
    return;
  }
  await saveFile(call, reader, file, output);
  const { snapshot: { id, time } } = reader;
  const { size } = file.record;
  call.print({ snapshot: id, time: isoSeconds(time), drive, name, output, size }, [
    `Restored ${output} with ${size} bytes from the snapshot of ${isoSeconds(time)}.`,
  ]);
}

/** @throws {CommandError} if the file cannot be written. */
async function saveFile(
  call: CommandCall,
  reader: SnapshotReader,
  file: SnapshotFile,
  output: string,
): Promise<void> {
  using progress = new TaskProgress(call.env, () => {});
  const { place: { name }, record: { size } } = file;
  try {
    using temporary = await TemporaryFile.create(output);
    using target = await Deno.open(temporary.path, { write: true });
    let done = 0;
    for await (const bytes of readFile(reader, file)) {
      for (let at = 0; at < bytes.byteLength;) at += await target.write(bytes.subarray(at));
      progress.show(name, done += bytes.byteLength, size);
    }
    await target.sync();
    await temporary.rename(output, { replaces: call.has("force") });
  } catch (error) {
    if (error instanceof CannotRestore || error instanceof RepositoryError) throw error;
    throw new CommandError(`Cannot write ${output}: ${failureReason(error)}`, { cause: error });
  }
  progress.clear();
}

async function restoreStore(
  call: CommandCall,
  repository: Repository,
  snapshot: Snapshot,
): Promise<void> {
  using progress = new TaskProgress(call.env, () => {});
  let checked: StoreCheck | undefined;
  let damaged = 0;
  const replaced = await restoreSnapshot({
    repository,
    snapshot,
    folder: call.data,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    bandwidth: call.parsed("bandwidth", BANDWIDTH),
    onRead: (done, total) => progress.show("Read", done, total),
    check: async (path, lost) => {
      const place = `snapshot ${snapshot.id} in ${repository.place}`;
      checked = await checkRestored(path, lost, { call, place, progress });
      damaged = checked.problems + lost.length;
    },
  });
  const found = await checkS3Keys(checked?.report.s3Keys ?? [], await call.s3SecretKey());
  progress.clear();
  const bytes = replaced === undefined ? undefined : byteFileOf(replaced);
  const { id, time } = snapshot;
  const json = {
    from: repository.place,
    snapshot: id,
    time: isoSeconds(time),
    data: call.data,
    replaced: replaced ?? null,
    ...(bytes !== undefined && { replaced_bytes: bytes }),
    ...(found.total > 0 && { s3_keys: found }),
  };
  call.print(json, [
    `Restored the snapshot ${id} of ${isoSeconds(time)} to ${call.data}.`,
    ...(replaced === undefined
      ? []
      : [`The previous store was kept as ${[replaced, bytes ?? []].flat().join(" and ")}.`]),
    ...(found.problem === null ? [] : [`${found.problem}.`]),
  ]);
  if (damaged === 0) return;
  throw new CommandError(
    "The restored store lacks what is named above: kvdrive verify --repair corrects its counters",
  );
}

async function checkRestored(
  path: string,
  lost: readonly LostGroup[],
  { call, place, progress }: { call: CommandCall; place: string; progress: TaskProgress },
): Promise<StoreCheck> {
  const reasons = new Set(lost.map(({ reason }) => reason));
  const names = lost.map(({ key }) => nameText(key, "Lost are files from")).filter(Boolean);
  if (lost.length > 0) {
    progress.clear();
    printProblems([...reasons, ...names], call.has("damaged"));
  }
  const checked = await checkStore(path, call, progress, place);
  if (lost.length === 0 || call.has("damaged")) return checked;
  throw new CannotRestore(
    `The ${place} is damaged: it lacks ${plural(lost.length, "group")} of entries. To restore it ` +
      "without them, add --damaged",
  );
}
