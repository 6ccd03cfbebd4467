import { isoSeconds } from "../../rules/dates.ts";
import { BackupFolder } from "../../store/backup/backup_folder.ts";
import { isTooOld, noBackupSentence, overdueSentence } from "../../store/backup/backup_health.ts";
import { databasePath, openDatabase } from "../../store/engine/database_file.ts";
import { type Problem, repair, REPAIR_ROUNDS } from "../../store/verify/problem.ts";
import { type VerifyReport, verifyStore } from "../../store/verify/verify.ts";
import { DEFAULT_BACKUP_EVERY } from "../options/serve_options.ts";
import { BACKUP_TIME } from "../options/value_types.ts";
import { CommandError } from "../terminal/errors.ts";
import { printError } from "../terminal/output.ts";
import type { TaskProgress } from "../terminal/task_progress.ts";
import { printable } from "../terminal/text.ts";
import type { StoreCall, StoreCommand } from "./store_command.ts";

export const verifyCommands: readonly StoreCommand[] = [
  {
    name: "verify",
    options: [
      { name: "repair", help: "remove what nobody needs, put counters and lists right" },
      {
        name: "backup-dir",
        value: "DIR",
        help: "warn if the newest backup there is too old (KVDRIVE_BACKUP_DIR)",
      },
      { name: "every", value: "TIME", help: "time between two backups (KVDRIVE_EVERY, else 24h)" },
    ],
    summary: "look whether all that the store has is whole and right",
    run: verify,
  },
];

async function verify(call: StoreCall): Promise<void> {
  await call.requireStore();
  const backups = await checkBackups(call);
  using workshop = call.taskProgress(() => {});
  const solved: Problem[] = [];
  let verdict = await runVerify(call, workshop);
  for (let round = 0; call.has("repair") && round < REPAIR_ROUNDS; round++) {
    const { problems } = verdict;
    if (!problems.some(({ repair }) => repair !== undefined)) break;
    solved.push(...await repairStore(call, problems));
    verdict = await runVerify(call, workshop);
  }
  workshop.clear();
  const { files, bytes, unchecked, problems } = verdict;
  const lines = [
    ...solved.map(({ message, repair }) => `${message}. ${repair?.done}.`),
    ...problems.map(({ message }) => `${message}.`),
    ...(verdict.more ? ["There is more: this is the beginning."] : []),
    ...(problems.length === 0 ? [`All is well: ${files} files, ${bytes} bytes.`] : []),
    ...(unchecked === 0 ? [] : [
      `Not yet checked: ${unchecked} files have no digest of their bytes; ` +
      "the scrub of a server adds it.",
    ]),
  ];
  const json = {
    files,
    bytes,
    unchecked,
    problems: problems.map(jsonOf),
    repaired: solved.map(jsonOf),
    more: verdict.more,
    ...(backups && { backups }),
  };
  call.print(json, lines);
  if (problems.length > 0) throw new CommandError(summaryOf(verdict, call.has("repair")));
}

/** How the backups in the folder are that the command was told of, if any. A problem with them is a warning. */
async function checkBackups(call: StoreCall): Promise<BackupsFound | undefined> {
  const folder = call.setting("backup-dir", undefined, {
    parse: (text) => text,
    expected: "a folder",
  });
  const every = call.setting("every", DEFAULT_BACKUP_EVERY, BACKUP_TIME);
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

async function runVerify(call: StoreCall, workshop: TaskProgress): Promise<VerifyReport> {
  const path = databasePath(call.data);
  try {
    return await verifyStore(path, {
      onBytes: (done, total) => workshop.show("Verify", done, total),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot read the store in ${call.data}: ${reason}`, { cause: error });
  }
}

async function repairStore(call: StoreCall, problems: readonly Problem[]): Promise<Problem[]> {
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
  const count = `${problems.length}${more ? " or more" : ""}`;
  const repairable = problems.filter(({ repair }) => repair !== undefined).length;
  const advice = repairable > 0 && !isRepaired
    ? `kvdrive verify --repair puts ${repairable} of them right`
    : "a person has to decide about them";
  return `The store has ${count} problems: ${advice}`;
}
