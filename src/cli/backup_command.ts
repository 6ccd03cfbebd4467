import { dirname, resolve } from "@std/path";
import { DEFAULT_DISK_RESERVE } from "../drive/limits.ts";
import { failureReason } from "../drive/reason.ts";
import { Backup, temporaryNameOf } from "../store/backup.ts";
import { databasePath } from "../store/database.ts";
import { removeDatabase } from "../store/durable_file.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { CommandError } from "./usage_error.ts";

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

async function backUp(call: Call): Promise<void> {
  const target = call.demand("FILE");
  await call.demandStore();
  const source = databasePath(call.data);
  if (resolve(target) === resolve(source)) {
    throw new CommandError(`${target} is the store itself: name another file`);
  }
  await requireFolder(target);
  let isMine = false;
  using workshop = call.workshop(() => {
    if (isMine) removeDatabase(temporaryNameOf(target));
  });
  const backup = new Backup({
    source,
    target,
    overwrites: call.has("force"),
    reserve: DEFAULT_DISK_RESERVE,
    // From here on nobody else works under the temporary name.
    isWanted: () => Promise.resolve(isMine = true),
    onPages: (done, total) => workshop.show("Backup", done * PAGE, total * PAGE),
  });
  const size = await backup.run();
  isMine = false;
  workshop.done();
  call.answer({ file: target, size: size ?? null }, [`The backup ${target} has ${size} bytes.`]);
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
const PAGE = 4096;
