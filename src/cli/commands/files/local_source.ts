import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { ClientError, fileError } from "../../../client/errors.ts";
import { localTree } from "../../../client/sync/local_tree.ts";
import type { NameFilter } from "../../../rules/transfer/globs.ts";
import { fileNameProblem, folderNameProblem } from "../../../rules/names.ts";
import { UsageError } from "../../terminal/output.ts";
import { type DrivePath, isFolder } from "../drive_path.ts";

/** The operand that stands for standard input. */
export const PIPE = "-";

/** A file to send or a folder to keep, or the reason why it is not sent. */
export interface Candidate {
  kind: "file" | "folder";
  /** The local path. */
  path: string;
  /** The folder that was given, if the file was found in one. */
  root?: string;
  /** In the drive; that of a folder ends with a slash. */
  name: string;
  problem?: string;
  /** Whether the problem counts as a failure; else the file is skipped. */
  hasFailed?: boolean;
}

/**
 * Lists files with their names in the drive, and folders that are empty. A folder keeps its name, unless its path ends with
 * "/" or ".".
 */
export async function* localCandidates(
  sources: readonly string[],
  target: DrivePath,
  filter: NameFilter,
): AsyncGenerator<Candidate> {
  const names = sources.length > 1 ? new Set<string>() : undefined;
  for (const path of sources) {
    for await (const found of ofSource(path, target, filter)) {
      const problem = found.problem ?? nameProblem(found);
      const isTaken = found.kind === "file" && names?.has(found.name) === true;
      names?.add(found.name);
      if (isTaken) yield { ...found, problem: "Another source has this name", hasFailed: true };
      else yield problem === undefined ? found : { ...found, problem };
    }
  }
}

async function* ofSource(
  path: string,
  target: DrivePath,
  filter: NameFilter,
): AsyncGenerator<Candidate> {
  const own = basename(resolve(path));
  const name = isFolder(target) ? target.name + own : target.name;
  const kind = path === PIPE ? "file" : await kindOf(path);
  if (typeof kind === "object") yield { kind: "file", path, name, ...kind };
  else if (kind === "file") {
    if (path === PIPE || filter.passes(own)) yield { kind, path, name };
  } else if (!isFolder(target)) {
    throw new UsageError(
      "A folder needs a folder as the target: end the command with DRIVE:FOLDER/ or DRIVE:",
    );
  } else {
    const prefix = namesContents(path) ? target.name : `${target.name}${own}/`;
    yield* inFolder(path, prefix, filter);
  }
}

/** Reports whether a folder's path stands for what is in it, without its own name. */
export function namesContents(path: string): boolean {
  return /(^|[\\/])\.?$/.test(path);
}

async function* inFolder(
  folder: string,
  prefix: string,
  filter: NameFilter,
): AsyncGenerator<Candidate> {
  let isEmpty = true;
  try {
    for await (const found of localTree(folder, { filter })) {
      isEmpty = false;
      const path = join(folder, found.name);
      const name = prefix + found.name;
      if (found.kind !== "problem") {
        if (found.kind === "file" || found.isEmpty) {
          yield { kind: found.kind, path, root: folder, name };
        }
        continue;
      }
      const { reason: problem, effect } = found;
      yield { kind: "file", path, name, problem, hasFailed: effect === "unreadable" };
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const problem = error.message;
    return yield { kind: "file", path: folder, name: prefix, problem, hasFailed: true };
  }
  if (isEmpty && prefix !== "") yield { kind: "folder", path: folder, root: folder, name: prefix };
}

async function kindOf(
  path: string,
): Promise<"file" | "folder" | { problem: string; hasFailed: true }> {
  try {
    const { isDirectory } = await Deno.stat(path);
    return isDirectory ? "folder" : "file";
  } catch (error) {
    return { problem: fileError("read", path, error).message, hasFailed: true };
  }
}

function nameProblem({ kind, name }: Candidate): string | undefined {
  const problem = kind === "file" ? fileNameProblem(name) : folderNameProblem(name);
  return problem && `The ${kind} name ${problem}`;
}
