import type { IndexEntry } from "./export_index.ts";
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
