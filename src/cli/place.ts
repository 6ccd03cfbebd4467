import { driveNameProblem, fileNameProblem } from "../drive/names.ts";
import { UsageError } from "./usage_error.ts";
import { quoted } from "./visible.ts";

/** A file or a folder of a drive as a command line names it. */
export interface NamedPlace {
  drive: string;
  /** A file's name; of a folder it ends with a slash, and is empty for the whole drive. */
  name: string;
}

/**
 * Reads `DRIVE:NAME`: the first colon ends the drive. Where the drive is named by `--drive`, all of it is the name.
 *
 * @throws {UsageError}
 */
export function parsePlace(text: string, drive: string | undefined): NamedPlace {
  const at = text.indexOf(":");
  if (drive === undefined && at === -1) {
    throw new UsageError(
      `${
        quoted(text)
      } names no place in a drive: write DRIVE:NAME, such as photos:cat.jpg, or DRIVE: for all of it`,
    );
  }
  const place = drive === undefined
    ? { drive: text.slice(0, at), name: text.slice(at + 1) }
    : { drive, name: text };
  demandDrive(place.drive);
  const isFolder = place.name === "" || place.name.endsWith("/");
  const problem = isFolder ? undefined : fileNameProblem(place.name);
  if (problem !== undefined) throw new UsageError(`The file name ${problem}`);
  return place;
}

/** @throws {UsageError} where there can be no such drive. */
export function demandDrive(drive: string): void {
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw new UsageError(`The drive name ${problem}`);
}

/** Whether a place is a folder of a drive, or all of it. */
export function isFolder({ name }: NamedPlace): boolean {
  return name === "" || name.endsWith("/");
}
