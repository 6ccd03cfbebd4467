import { ClientError } from "./errors.ts";
import { DRIVES_FOLDER, type IndexEntry } from "./export_index.ts";
import type { Source } from "./source.ts";

/** A file of an export. */
export interface ImportFile {
  /** From the folder of the index on, with slashes. */
  path: string;
  /** Bytes. */
  size: number;
  source: Source;
  /** Milliseconds since 1970, where that is known. */
  modified?: number;
}

/** What cannot be a file of a drive, or could not be looked at. */
export interface ImportProblem {
  path: string;
  problem: string;
  hasFailed?: true;
}

/** An export: a folder or an archive. */
export interface ImportSource {
  /** Bytes of all files. */
  readonly bytes: number;
  /** What its index says of files, by their paths. */
  readonly index: ReadonlyMap<string, IndexEntry>;
  files(): AsyncIterable<ImportFile | ImportProblem>;
}

/**
 * What is told of a place in which there are no drives, or several that could be meant.
 *
 * @param found The folders in it that have drives.
 */
export function noDrives(place: string, found: readonly string[]): ClientError {
  return new ClientError(
    found.length > 1
      ? `${place} has several exports, ${found.toSorted().join(", ")}: import one after the other`
      : `There is no folder ${DRIVES_FOLDER} in ${place}: an export has its files as ${DRIVES_FOLDER}/DRIVE/FILE`,
  );
}
