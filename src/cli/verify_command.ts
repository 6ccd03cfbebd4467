import { DEFAULT_BACKUP_EVERY } from "../drive/limits.ts";
import { isoSeconds } from "../drive/iso_time.ts";
import { BackupFolder } from "../store/backup_folder.ts";
import { isTooOld, noBackupSentence, overdueSentence } from "../store/backup_health.ts";
import { databasePath, openDatabase } from "../store/database.ts";
import type { Problem } from "../store/verify/problem.ts";
import { repair, REPAIR_ROUNDS } from "../store/verify/repair.ts";
import { type Verdict, verifyStore } from "../store/verify/verify.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { printError } from "./output.ts";
import { CommandError } from "./usage_error.ts";
import { BACKUP_TIME } from "./value_forms.ts";
import { visible } from "./visible.ts";
import type { Workshop } from "./workshop.ts";

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

async function verify(call: Call): Promise<void> {
  await call.demandStore();
  const backups = await lookAtBackups(call);
  using workshop = call.workshop(() => {});
  const solved: Problem[] = [];
  let verdict = await look(call, workshop);
  for (let round = 0; call.has("repair") && round < REPAIR_ROUNDS; round++) {
    const { problems } = verdict;
    if (!problems.some(({ repair }) => repair !== undefined)) break;
    solved.push(...await putRight(call, problems));
    verdict = await look(call, workshop);
  }
  workshop.done();
  const { files, bytes, unchecked, problems } = verdict;
  const lines = [
    ...solved.map(({ message, repair }) => `${message}. ${repair?.done}.`),
    ...problems.map(({ message }) => `${message}.`),
    ...(verdict.more ? ["There is more: this is the beginning."] : []),
    ...(problems.length === 0 ? [`All is well: ${files} files, ${bytes} bytes.`] : []),
    ...(unchecked === 0 ? [] : [
      `Not yet checked: ${unchecked} files of an older store have no checksums or no digest; ` +
      "the scrub of a server adds them.",
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
  call.answer(json, lines);
  if (problems.length > 0) throw new CommandError(summaryOf(verdict, call.has("repair")));
}

/** How the backups in the folder are that the command was told of, if any. A problem with them is a warning. */
async function lookAtBackups(call: Call): Promise<BackupsFound | undefined> {
  const folder = call.setting("backup-dir", undefined, {
    parse: (text) => text,
    wanted: "a folder",
  });
  const every = call.setting("every", DEFAULT_BACKUP_EVERY, BACKUP_TIME);
  if (folder === undefined) return undefined;
  const now = Date.now();
  const newest = await new BackupFolder(folder).newest(now).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot read the backups in ${folder}: ${reason}`, { cause: error });
  });
  const problem = ageProblem(folder, newest, every, now);
  if (problem !== undefined) printError(`Warning: ${visible(problem)}.\n`);
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

async function look(call: Call, workshop: Workshop): Promise<Verdict> {
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

async function putRight(call: Call, problems: readonly Problem[]): Promise<Problem[]> {
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

function summaryOf({ problems, more }: Verdict, isRepaired: boolean): string {
  const count = `${problems.length}${more ? " or more" : ""}`;
  const repairable = problems.filter(({ repair }) => repair !== undefined).length;
  const advice = repairable > 0 && !isRepaired
    ? `kvdrive verify --repair puts ${repairable} of them right`
    : "a person has to decide about them";
  return `The store has ${count} problems: ${advice}`;
}
