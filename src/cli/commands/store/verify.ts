import { isoSeconds } from "../../../rules/dates.ts";
import { BackupFolder } from "../../../store/backup/backup_folder.ts";
import {
  isTooOld,
  noBackupSentence,
  overdueSentence,
} from "../../../store/backup/backup_health.ts";
import { databasePath } from "../../../store/disk/store_files.ts";
import { openDatabase } from "../../../store/engine/database_file.ts";
import { type Problem, repair, REPAIR_ROUNDS } from "../../../store/verify/problem.ts";
import { type VerifyReport, verifyStore } from "../../../store/verify/verify.ts";
import { DEFAULT_BACKUP_EVERY } from "../../options/serve_options.ts";
import { BACKUP_INTERVAL } from "../../options/value_types.ts";
import { CommandError, printError } from "../../terminal/output.ts";
import { TaskProgress } from "../../terminal/task_progress.ts";
import { plural, printable } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { checkS3Keys } from "./check_store.ts";

export async function verify(call: CommandCall): Promise<void> {
  await call.requireStore();
  const backups = await checkBackups(call);
  using progress = new TaskProgress(call.env, () => {});
  const repaired: Problem[] = [];
  let report = await runVerify(call, progress);
  for (let round = 0; call.has("repair") && round < REPAIR_ROUNDS; round++) {
    const { problems } = report;
    if (!problems.some(({ repair }) => repair !== undefined)) break;
    repaired.push(...await repairStore(call, problems));
    report = await runVerify(call, progress);
  }
  const s3Keys = await checkS3Keys(report.s3Keys, await call.s3SecretKey());
  progress.clear();
  const { files, bytes, unchecked, problems } = report;
  const lines = [
    ...repaired.map(({ message, repair }) => `${message}. ${repair?.done}.`),
    ...problems.map(({ message }) => `${message}.`),
    ...(report.more ? ["There are more problems: only the first are listed."] : []),
    ...(problems.length === 0 ? [`No problems found: ${files} files, ${bytes} bytes.`] : []),
    ...(unchecked === 0 ? [] : [
      `Not checked: ${unchecked} files have no digest of their bytes; ` +
      "the server's scrub adds it.",
    ]),
    ...(report.olderFormat === undefined ? [] : [
      `The store has the older format ${report.olderFormat}, so only the bytes of files were ` +
      "checked: start the server, which converts the store.",
    ]),
    ...(s3Keys.problem === null ? [] : [`${s3Keys.problem}.`]),
  ];
  const json = {
    files,
    bytes,
    unchecked,
    problems: problems.map(jsonOf),
    repaired: repaired.map(jsonOf),
    more: report.more,
    ...(report.olderFormat !== undefined && { older_format: report.olderFormat }),
    ...(s3Keys.total > 0 && { s3_keys: s3Keys }),
    ...(backups && { backups }),
  };
  call.print(json, lines);
  if (problems.length > 0) throw new CommandError(summaryOf(report, call.has("repair")));
}

/** Checks the age of the newest backup, if a folder is given. A problem is a warning. */
async function checkBackups(call: CommandCall): Promise<BackupsFound | undefined> {
  const folder = call.values.text("backup-dir");
  const every = call.values.optional("every", BACKUP_INTERVAL) ?? DEFAULT_BACKUP_EVERY;
  if (folder === undefined) return undefined;
  const now = Date.now();
  const newest = await new BackupFolder(folder).newest(now).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot read the backups in ${folder}: ${reason}`, { cause: error });
  });
  const problem = ageProblem(folder, newest, every, now);
  if (problem !== undefined) printError(`Warning: ${printable(problem)}.\n`);
  return {
    newest: newest === undefined ? null : isoSeconds(newest),
    problem: problem ?? null,
  };
}

/** The backups in the JSON of the result. */
interface BackupsFound {
  newest: string | null;
  problem: string | null;
}

function ageProblem(
  folder: string,
  newest: number | undefined,
  every: number,
  now: number,
): string | undefined {
  if (newest === undefined) return noBackupSentence(folder);
  return isTooOld(now - newest, every) ? overdueSentence(folder, newest, every) : undefined;
}

async function runVerify(call: CommandCall, progress: TaskProgress): Promise<VerifyReport> {
  const path = databasePath(call.data);
  try {
    return await verifyStore(path, {
      onBytes: (done, total) => progress.show("Verify", done, total),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot read the store in ${call.data}: ${reason}`, { cause: error });
  }
}

async function repairStore(call: CommandCall, problems: readonly Problem[]): Promise<Problem[]> {
  const database = await openDatabase(call.data);
  try {
    return await repair(database, problems);
  } finally {
    await database.close();
  }
}

function jsonOf({ repair, ...problem }: Problem): Record<string, unknown> {
  return { ...problem, repairable: repair !== undefined };
}

function summaryOf({ problems, more }: VerifyReport, isRepaired: boolean): string {
  const count = more ? `${problems.length} or more problems` : plural(problems.length, "problem");
  const repairable = problems.filter(({ repair }) => repair !== undefined).length;
  return repairable > 0 && !isRepaired
    ? `The store has ${count}: kvdrive verify --repair corrects ${repairable}`
    : `The store has ${count} that --repair cannot correct`;
}
