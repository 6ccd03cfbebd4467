import { DEFAULT_DISK_RESERVE } from "../drive/limits.ts";
import { failureReason } from "../drive/reason.ts";
import { removeDatabase } from "../store/durable_file.ts";
import { CannotRestore } from "../store/errors.ts";
import { restore } from "../store/restore.ts";
import { verifyStore } from "../store/verify/verify.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { printError } from "./output.ts";
import { visible } from "./visible.ts";
import type { Workshop } from "./workshop.ts";

export const restoreCommands: readonly StoreCommand[] = [
  {
    name: "restore",
    operands: ["FILE"],
    options: [
      { name: "force", help: "replace the store that is there, which is kept beside the new one" },
      { name: "damaged", help: "restore what is whole of a backup that is not" },
    ],
    summary: "check a backup and make it the store; no server may run",
    run: bringBack,
  },
];

/** Problems of a backup that are shown. */
const SHOWN = 20;

async function bringBack(call: Call): Promise<void> {
  call.demandFolder();
  const file = call.demand("FILE");
  let temporary: string | undefined;
  using workshop = call.workshop(() => {
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
  workshop.done();
  call.answer({ file, data: call.data, replaced: replaced ?? null }, [
    `${file} is the store in ${call.data} now.`,
    ...(replaced === undefined ? [] : [`The earlier one is ${replaced}.`]),
  ]);
}

/** @throws {CannotRestore} where the copy is no store, or not a whole one. */
async function check(path: string, call: Call, workshop: Workshop): Promise<void> {
  const file = call.demand("FILE");
  const { problems } = await verifyStore(path, {
    isOurs: true,
    onBytes: (done, total) => workshop.show("Verify", done, total),
  }).catch((error: unknown) => {
    const reason = failureReason(error);
    throw new CannotRestore(`${file} is no backup of a store: ${reason}`, { cause: error });
  });
  if (problems.length === 0) return;
  workshop.done();
  for (const { message } of problems.slice(0, SHOWN)) printError(`${visible(message)}.\n`);
  const isBroken = problems.some(({ kind }) => kind === "database");
  if (!isBroken && call.has("damaged")) return;
  const advice = isBroken ? "" : "; --damaged restores it nonetheless";
  throw new CannotRestore(
    `The backup ${file} is not whole: it has ${problems.length} problems${advice}`,
  );
}
