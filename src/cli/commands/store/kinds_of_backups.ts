/**
 * The commands that work on a file or on a repository. Only what the call needs is loaded, which keeps snapshots small in
 * memory.
 *
 * @module
 */
import { UsageError } from "../../terminal/output.ts";
import type { CommandCall } from "../command_call.ts";

/** Backs the store up to a file or to a repository. */
export async function backUpToEither(call: CommandCall): Promise<void> {
  if (fileOr(call, "to") === undefined) {
    return await (await import("./add_snapshot.ts")).addSnapshot(call);
  }
  await (await import("./backup.ts")).backUp(call);
}

/** Restores from a file or from a repository. */
export async function restoreFromEither(call: CommandCall): Promise<void> {
  if (fileOr(call, "from") === undefined) {
    return await (await import("./restore.ts")).restoreFrom(call);
  }
  await (await import("./backup.ts")).replaceStore(call);
}

/** Returns the operand FILE; `undefined` if an option names a repository in place of it. @throws {UsageError} */
function fileOr(call: CommandCall, option: "to" | "from"): string | undefined {
  const file = call.get("FILE");
  if ((file === undefined) === (call.get(option) !== undefined)) {
    requireNoStrayOptions(call, file === undefined ? FILE_ONLY[option] : REPOSITORY_ONLY);
    return file;
  }
  throw new UsageError(
    file === undefined
      ? `FILE is missing: give one, or a repository with --${option}: usage: ${call.args.usage}`
      : `FILE and --${option} exclude each other: see kvdrive help ${call.args.name}`,
  );
}

/** Options that have no meaning with a repository, or without one. */
const FILE_ONLY = { to: ["force"], from: [] } as const;
const REPOSITORY_ONLY = [
  "s3-endpoint",
  "passphrase-file",
  "unencrypted",
  "bandwidth",
  "at",
  "snapshot",
  "drive",
  "file",
  "project",
  "output",
] as const;

function requireNoStrayOptions(call: CommandCall, options: readonly string[]): void {
  const stray = options.find((name) => call.has(name));
  if (stray === undefined) return;
  throw new UsageError(
    `The option --${stray} does not fit here: see kvdrive help ${call.args.name}`,
  );
}
