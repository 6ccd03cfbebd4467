import { driveNameProblem, fileNameProblem } from "../../rules/names.ts";
import { UsageError } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";

/** A file or a folder of a drive. */
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
  const problem = isFolder(path) ? undefined : fileNameProblem(path.name);
  if (problem !== undefined) throw new UsageError(`The file name ${problem}`);
  return path;
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
