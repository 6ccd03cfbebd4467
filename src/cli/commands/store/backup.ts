import { Backup } from "../../../store/backup/backup.ts";
import { restore } from "../../../store/backup/restore.ts";
import { removeDatabase } from "../../../store/disk/durable_file.ts";
import { databasePath } from "../../../store/disk/store_files.ts";
import { openDatabase } from "../../../store/engine/database_file.ts";
import { CannotOpenStore } from "../../../store/engine/errors.ts";
import { converter } from "../../../store/upgrade/upgrade.ts";
import { byteFileOf } from "../../../store/backup/join_files.ts";
import { countS3Keys, type VerifyReport } from "../../../store/verify/verify.ts";
import { DEFAULT_DISK_RESERVE } from "../../options/serve_options.ts";
import { plural } from "../../terminal/text.ts";
import { TaskProgress } from "../../terminal/task_progress.ts";
import type { CommandCall } from "../command_call.ts";
import { checkS3Keys, checkStore } from "./check_store.ts";

/** Bytes of a database page. */
const PAGE_SIZE = 4096;

/** Copies the store to a file. */
export async function backUp(call: CommandCall): Promise<void> {
  const target = call.required("FILE");
  await call.requireStore();
  const source = databasePath(call.data);
  const { name } = await call.s3SecretKey();
  let temporary: string | undefined;
  using progress = new TaskProgress(call.env, () => {
    if (temporary !== undefined) removeDatabase(temporary);
  });
  const backup = new Backup({
    source,
    target,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    onTemporary: (path) => temporary = path,
    onPages: (done, total) => progress.show("Backup", done * PAGE_SIZE, total * PAGE_SIZE),
  });
  const size = await backup.run();
  const s3Keys = await countS3Keys(source);
  progress.clear();
  const json = { file: target, size: size ?? null, ...(s3Keys > 0 && { s3_keys: s3Keys }) };
  call.print(json, [
    `The backup ${target} has ${size} bytes.`,
    ...(s3Keys === 0 ? [] : [
      `It has ${plural(s3Keys, "S3 key")} with encrypted secrets, but not ${name}, ` +
      "without which they cannot be used: keep a copy of that in another place.",
    ]),
  ]);
}

/** Makes a backup in a file the store. */
export async function replaceStore(call: CommandCall): Promise<void> {
  const file = call.required("FILE");
  call.requireFolder();
  const s3SecretKey = await call.s3SecretKey();
  let temporary: string | undefined;
  let report: VerifyReport | undefined;
  using progress = new TaskProgress(call.env, () => {
    if (temporary !== undefined) removeDatabase(temporary);
  });
  const replaced = await restore({
    file,
    folder: call.data,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    onCopied: (done, total) => progress.show("Copy", done, total),
    onTemporary: (path) => temporary = path,
    check: async (path) => {
      report = (await checkStore(path, call, progress, `backup ${file}`)).report;
    },
  });
  // A store of an older format stays as it is: its version may be what it is restored for.
  const problem = report?.olderFormat === undefined ? await separate(call.data) : undefined;
  const found = await checkS3Keys(report?.s3Keys ?? [], s3SecretKey);
  progress.clear();
  const bytes = replaced === undefined ? undefined : byteFileOf(replaced);
  const keys = found.total > 0 && { s3_keys: found };
  const kept = {
    replaced: replaced ?? null,
    ...(bytes !== undefined && { replaced_bytes: bytes }),
  };
  call.print({ file, data: call.data, ...kept, ...keys }, [
    `Restored ${file} to ${call.data}.`,
    ...(replaced === undefined
      ? []
      : [`The previous store was kept as ${[replaced, bytes ?? []].flat().join(" and ")}.`]),
    ...(problem === undefined ? [] : [`${problem}.`]),
    ...(found.problem === null ? [] : [`${found.problem}.`]),
  ]);
}

/**
 * Gives the bytes of files their own file, which a server would do at its start.
 *
 * @returns Why that failed: the store is restored in any case.
 */
async function separate(folder: string): Promise<string | undefined> {
  const convert = converter({ onNotice: () => {}, reserve: DEFAULT_DISK_RESERVE });
  try {
    await (await openDatabase(folder, "direct", convert)).close();
    return undefined;
  } catch (error) {
    if (!(error instanceof CannotOpenStore)) throw error;
    return error.message;
  }
}
