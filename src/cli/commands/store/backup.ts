import { failureReason } from "../../../rules/system_error.ts";
import { Backup } from "../../../store/backup/backup.ts";
import { restore } from "../../../store/backup/restore.ts";
import { removeDatabase } from "../../../store/disk/durable_file.ts";
import { databasePath } from "../../../store/disk/store_files.ts";
import { openDatabase } from "../../../store/engine/database_file.ts";
import { CannotOpenStore, CannotRestore } from "../../../store/engine/errors.ts";
import { converter } from "../../../store/upgrade/upgrade.ts";
import { byteFileOf } from "../../../store/backup/join_files.ts";
import { countS3Keys, type VerifyReport, verifyStore } from "../../../store/verify/verify.ts";
import { DEFAULT_DISK_RESERVE } from "../../options/serve_options.ts";
import { printError } from "../../terminal/output.ts";
import type { TaskProgress } from "../../terminal/task_progress.ts";
import { plural, printable } from "../../terminal/text.ts";
import type { StoreCall } from "../store_call.ts";
import { checkS3Keys } from "./s3_keys.ts";

/** Bytes of a database page. */
const PAGE_SIZE = 4096;

export async function backUp(call: StoreCall): Promise<void> {
  const target = call.required("FILE");
  await call.requireStore();
  const source = databasePath(call.data);
  const { name } = call.s3SecretKey;
  let temporary: string | undefined;
  using progress = call.taskProgress(() => {
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

/** Problems of a backup that are listed. */
const SHOWN = 20;

export async function replaceStore(call: StoreCall): Promise<void> {
  call.requireFolder();
  const file = call.required("FILE");
  const { s3SecretKey } = call;
  let temporary: string | undefined;
  let report: VerifyReport | undefined;
  using progress = call.taskProgress(() => {
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
      report = await check(path, call, progress);
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

/** Verifies the copy of a backup. @throws {CannotRestore} if it is no store, or damaged. */
async function check(
  path: string,
  call: StoreCall,
  progress: TaskProgress,
): Promise<VerifyReport> {
  const file = call.required("FILE");
  const report = await verifyStore(path, {
    isPrivate: true,
    onBytes: (done, total) => progress.show("Verify", done, total),
  }).catch((error: unknown) => {
    const reason = failureReason(error);
    throw new CannotRestore(`${file} is not a backup of a store: ${reason}`, { cause: error });
  });
  const { problems } = report;
  if (problems.length === 0) return report;
  progress.clear();
  for (const { message } of problems.slice(0, SHOWN)) printError(`${printable(message)}.\n`);
  const isBroken = problems.some(({ kind }) => kind === "database");
  if (!isBroken && call.has("damaged")) return report;
  const advice = isBroken ? "" : ". To restore it without them, add --damaged";
  throw new CannotRestore(
    `The backup ${file} is damaged: it has ${plural(problems.length, "problem")}${advice}`,
  );
}
