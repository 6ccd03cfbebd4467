import { driveNameProblem, fileNameProblem } from "../../rules/names.ts";
import { Glob, unescapeGlob } from "../../rules/globs.ts";
import { UsageError } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";

export interface DrivePath {
  drive: string;
  /** A file's name; that of a folder ends with a slash, and that of the whole drive is empty. */
  name: string;
}

/**
 * Parses `DRIVE:NAME`, which the first colon separates. With `drive`, as from `--drive`, all of the text is the name.
 *
 * @throws {UsageError} if a name is invalid.
 */
export function parseDrivePath(text: string, drive: string | undefined): DrivePath {
  const at = text.indexOf(":");
  if (drive === undefined && at === -1) {
    throw new UsageError(
      `Bad value ${
        quoteWord(text)
      }: write DRIVE:NAME, such as photos:cat.jpg, or DRIVE: for the whole drive`,
    );
  }
  const path = drive === undefined
    ? { drive: text.slice(0, at), name: text.slice(at + 1) }
    : { drive, name: text };
  requireDriveName(path.drive);
  requireName(path.name);
  return path;
}

/** Files of a drive: one, those that match a pattern, or those in a folder. */
export interface Selection {
  drive: string;
  glob: Glob;
  /** As it was typed. */
  text: string;
}

/**
 * Parses `DRIVE:NAME` in which the name may have wildcards.
 *
 * @throws {UsageError} if a name is invalid.
 */
export function parseSelection(text: string, drive: string | undefined): Selection {
  const path = parseDrivePath(text, drive);
  const glob = new Glob(path.name);
  if (glob.literal !== undefined) requireName(glob.literal);
  return { drive: path.drive, glob, text };
}

/**
 * Parses `DRIVE:NAME` for what is written. Wildcards stand for themselves, with or without a backslash.
 *
 * @throws {UsageError} if a name is invalid.
 */
export function parseTarget(text: string, drive: string | undefined): DrivePath {
  const path = parseDrivePath(text, drive);
  const name = unescapeGlob(path.name);
  requireName(name);
  return { drive: path.drive, name };
}

/** Reports whether an operand is `DRIVE:NAME`, not a path of this machine: a path with a colon begins with `./`. */
export function isRemote(text: string): boolean {
  const isWindowsPath = Deno.build.os === "windows" && /^[a-z]:([\\/]|$)/i.test(text);
  return /^[^/\\:]+:/.test(text) && !isWindowsPath;
}

function requireName(name: string): void {
  const problem = isFolder({ drive: "", name }) ? undefined : fileNameProblem(name);
  if (problem !== undefined) throw new UsageError(`The file name ${problem}`);
}

/** @throws {UsageError} if a drive's name is invalid. */
export function requireDriveName(drive: string): void {
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw new UsageError(`The drive name ${problem}`);
}

/** Reports whether a path is a folder, or the whole drive. */
export function isFolder({ name }: DrivePath): boolean {
  return name === "" || name.endsWith("/");
}
