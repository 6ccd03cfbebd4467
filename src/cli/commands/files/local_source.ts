import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { ClientError, fileError } from "../../../client/errors.ts";
import { pipeSource, type Source } from "../../../client/local_files.ts";
import { localTree } from "../../../client/sync/tree.ts";
import type { NameFilter } from "../../../rules/globs.ts";
import { fileNameProblem, folderNameProblem } from "../../../rules/names.ts";
import { UsageError } from "../../terminal/output.ts";
import { type DrivePath, isFolder } from "../drive_path.ts";

/** The operand that stands for standard input, or output. */
export const PIPE = "-";

/** The devices of standard input. The runtime opens no device, but has the stream. */
const STANDARD_INPUT = new Set([PIPE, "/dev/stdin", "/dev/fd/0"]);

/** Reports whether an operand is standard input or a named pipe, such as `<(command)` of a shell. */
export async function isPipe(path: string): Promise<boolean> {
  if (STANDARD_INPUT.has(path)) return true;
  return (await Deno.stat(path).catch(() => undefined))?.isFifo === true;
}

/** Opens an operand that is a pipe. @throws {ClientError} if that fails. */
export async function openPipe(path: string): Promise<Source> {
  if (STANDARD_INPUT.has(path)) return pipeSource(Deno.stdin.readable);
  try {
    return pipeSource((await Deno.open(path)).readable);
  } catch (error) {
    throw fileError("read", path, error);
  }
}

/** A file or pipe to send or a folder to keep, or the reason why it is not sent. */
export interface Candidate {
  kind: "file" | "pipe" | "folder";
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
      const isTaken = found.kind !== "folder" && names?.has(found.name) === true;
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
  const kind = await isPipe(path) ? "pipe" : await kindOf(path);
  if (typeof kind === "object") yield { kind: "file", path, name, ...kind };
  else if (kind === "pipe") yield { kind, path, name };
  else if (kind === "file") {
    if (filter.passes(own)) yield { kind, path, name };
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
    const { isDirectory, isFile } = await Deno.stat(path);
    if (isDirectory || isFile) return isDirectory ? "folder" : "file";
    return { problem: "it is not a regular file", hasFailed: true };
  } catch (error) {
    return { problem: fileError("read", path, error).message, hasFailed: true };
  }
}

function nameProblem({ kind, name }: Candidate): string | undefined {
  const [noun, problem] = kind === "folder"
    ? ["folder", folderNameProblem(name)]
    : ["file", fileNameProblem(name)];
  return problem && `The ${noun} name ${problem}`;
}
