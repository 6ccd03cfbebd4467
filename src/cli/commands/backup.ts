import { dirname, resolve } from "@std/path";
import { failureReason } from "../../rules/system_error.ts";
import { Backup, temporaryNameOf } from "../../store/backup/backup.ts";
import { restore } from "../../store/backup/restore.ts";
import { removeDatabase } from "../../store/disk/durable_file.ts";
import { databasePath } from "../../store/engine/database_file.ts";
import { CannotRestore } from "../../store/engine/errors.ts";
import { verifyStore } from "../../store/verify/verify.ts";
import { DEFAULT_DISK_RESERVE } from "../options/serve_options.ts";
import { CommandError } from "../terminal/errors.ts";
import { printError } from "../terminal/output.ts";
import type { TaskProgress } from "../terminal/task_progress.ts";
import { printable } from "../terminal/text.ts";
import type { StoreCall, StoreCommand } from "./store_command.ts";

const FORCE = { name: "force" } as const;

export const backupCommands: readonly StoreCommand[] = [
  {
    name: "backup",
    operands: ["FILE"],
    options: [{ ...FORCE, help: "replace FILE if it is there" }],
    summary: "copy the store into a file while servers work on it",
    run: backUp,
  },
];

async function backUp(call: StoreCall): Promise<void> {
  const target = call.required("FILE");
  await call.requireStore();
  const source = databasePath(call.data);
  if (resolve(target) === resolve(source)) {
    throw new CommandError(`${target} is the store itself: name another file`);
  }
  await requireFolder(target);
  let isMine = false;
  using workshop = call.taskProgress(() => {
    if (isMine) removeDatabase(temporaryNameOf(target));
  });
  const backup = new Backup({
    source,
    target,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    // From here on nobody else works under the temporary name.
    isWanted: () => Promise.resolve(isMine = true),
    onPages: (done, total) => workshop.show("Backup", done * PAGE_SIZE, total * PAGE_SIZE),
  });
  const size = await backup.run();
  isMine = false;
  workshop.clear();
  call.print({ file: target, size: size ?? null }, [`The backup ${target} has ${size} bytes.`]);
}

/** @throws {CommandError} where the folder of a file is not there. */
async function requireFolder(target: string): Promise<void> {
  const folder = dirname(target);
  let problem = `${folder} is no folder; name a file in another one`;
  try {
    if ((await Deno.stat(folder)).isDirectory) return;
  } catch (error) {
    problem = error instanceof Deno.errors.NotFound
      ? `there is no folder ${folder}; make it, or name a file in another one`
      : failureReason(error);
  }
  throw new CommandError(`Cannot make the backup ${target}: ${problem}`);
}

/** The bytes of a page, for the bar. */
const PAGE_SIZE = 4096;

export const restoreCommands: readonly StoreCommand[] = [
  {
    name: "restore",
    operands: ["FILE"],
    options: [
      { name: "force", help: "replace the store that is there, which is kept beside the new one" },
      { name: "damaged", help: "restore what is whole of a backup that is not" },
    ],
    summary: "check a backup and make it the store; no server may run",
    run: replaceStore,
  },
];

/** Problems of a backup that are shown. */
const SHOWN = 20;

async function replaceStore(call: StoreCall): Promise<void> {
  call.requireFolder();
  const file = call.required("FILE");
  let temporary: string | undefined;
  using workshop = call.taskProgress(() => {
    if (temporary !== undefined) removeDatabase(temporary);
  });
  const replaced = await restore({
    file,
    folder: call.data,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    onCopied: (done, total) => workshop.show("Copy", done, total),
    onClaimed: (path) => temporary = path,
    check: (path) => check(path, call, workshop),
  });
  workshop.clear();
  call.print({ file, data: call.data, replaced: replaced ?? null }, [
    `${file} is the store in ${call.data} now.`,
    ...(replaced === undefined ? [] : [`The earlier one is ${replaced}.`]),
  ]);
}

/** @throws {CannotRestore} where the copy is no store, or not a whole one. */
async function check(path: string, call: StoreCall, workshop: TaskProgress): Promise<void> {
  const file = call.required("FILE");
  const { problems } = await verifyStore(path, {
    isOurs: true,
    onBytes: (done, total) => workshop.show("Verify", done, total),
  }).catch((error: unknown) => {
    const reason = failureReason(error);
    throw new CannotRestore(`${file} is no backup of a store: ${reason}`, { cause: error });
  });
  if (problems.length === 0) return;
  workshop.clear();
  for (const { message } of problems.slice(0, SHOWN)) printError(`${printable(message)}.\n`);
  const isBroken = problems.some(({ kind }) => kind === "database");
  if (!isBroken && call.has("damaged")) return;
  const advice = isBroken ? "" : "; --damaged restores it nonetheless";
  throw new CannotRestore(
    `The backup ${file} is not whole: it has ${problems.length} problems${advice}`,
  );
}
