/**
 * Where a repository lies: a place that keeps objects by name. A target knows nothing of their content.
 *
 * @module
 */
import { MIB } from "../../rules/units.ts";
import type { Bytes } from "../bytes.ts";

/** Returns whether a target, as the command line names it, is one of S3. */
export function isS3(target: string): boolean {
  return /^s3:/i.test(target);
}

/** The most bytes of an object, also when it is unpacked, and of a page of a list. */
export const MAX_OBJECT = 64 * MIB;

export interface ListedObject {
  name: string;
  /** Bytes. */
  size: number;
}

/** Objects by name. Names are one or two words of a-z, 0-9 and dashes with a slash in between, such as `data/1f3c`. */
export interface Target {
  /** What messages call it. */
  readonly place: string;

  /** Makes a missing folder. A bucket is never made. */
  prepare(): Promise<void>;

  /** Returns the first parts of the names in it: the first thousand. Temporary files do not count. */
  topNames(): Promise<string[]>;

  /**
   * Returns an object, or its last `limit` bytes; `undefined` if there is none. Of one that is larger than `MAX_OBJECT` it
   * returns only the end, or throws.
   *
   * @throws {RepositoryError}
   */
  get(name: string, limit?: number): Promise<Bytes | undefined>;

  /**
   * Stores an object so that it survives a power loss. It appears complete or not at all.
   *
   * @param isNew Whether an existing object of this name stays.
   * @returns Whether the object was stored.
   * @throws {RepositoryError}
   */
  put(name: string, bytes: Bytes, isNew?: boolean): Promise<boolean>;

  /** Yields the objects below a folder such as `data`. @throws {RepositoryError} */
  list(folder: string): AsyncIterable<ListedObject>;

  /** Removes an object, if it exists. @throws {RepositoryError} */
  remove(name: string): Promise<void>;
}
