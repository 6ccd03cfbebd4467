import type { Validators } from "../../rules/preconditions.ts";

import type { FileRecord } from "../engine/records.ts";
import { newVersion } from "./versions.ts";

/** Writes of names that turned out to be new before the next one is taken for new without asking the store. */
export const NEW_NAMES_IN_A_ROW = 256;

/** What a version of a file is made of, before it is one. */
export type Draft = Pick<FileRecord, "size" | "type" | "layout" | "sha256">;

/** What conditional requests compare. */
export function validators(record: FileRecord): Validators {
  const { version, modified, sameSecond } = record;
  return { etag: version, modified, dateIsStrong: sameSecond === undefined };
}

/** A date that is later than now by more than this, in milliseconds, comes from a clock that was wrong, and counts for nothing. */
const BELIEVABLE_LEAD = 24 * 60 * 60_000;

/**
 * When a new version counts as modified, in milliseconds since 1970: never before the version that it replaces. If the
 * system's clock was set back, it counts as modified one second after that one, so that `If-Unmodified-Since` and
 * `If-Modified-Since` with the date of the earlier version notice the change.
 */
function modifiedAfter(current: FileRecord | null): number {
  const now = Date.now();
  const lead = current === null ? 0 : current.modified - now;
  if (current === null || lead <= 0 || lead > BELIEVABLE_LEAD) return now;
  const isSameSecond = Math.floor(now / 1000) === Math.floor(current.modified / 1000);
  return current.modified + (isSameSecond ? 0 : 1000);
}

/**
 * The record of a new version.
 *
 * @param justDeleted Whether a file of that name was deleted within this second.
 */
export function newRecord(
  draft: Draft,
  current: FileRecord | null,
  justDeleted: boolean,
): FileRecord {
  const modified = modifiedAfter(current);
  const sameSecond = current === null
    ? justDeleted
    : Math.floor(current.modified / 1000) === Math.floor(modified / 1000);
  return {
    version: newVersion(),
    ...draft,
    created: current?.created ?? modified,
    modified,
    ...(sameSecond ? { sameSecond } : {}),
  };
}

/**
 * The names that were deleted within the current second. A file that is made anew under one of them may have the time of
 * its predecessor, so that its time alone does not tell the two apart (RFC 9110, 8.8.2.2).
 */
export class RecentDeletions {
  #second = 0;
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#turn();
    this.#names.add(name);
  }

  has(name: string): boolean {
    this.#turn();
    return this.#names.has(name);
  }

  #turn(): void {
    const second = Math.floor(Date.now() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#names.clear();
  }
}

/**
 * Guesses whether the next name that is written is a new one, from those before: to ask the store costs a read. A guess
 * that was wrong costs a commit that is refused and made again, so one file that was there after all ends the guessing
 * until many new names in a row have come.
 */
export class NewNames {
  #newInARow = NEW_NAMES_IN_A_ROW;

  /** Whether it is worth a try to take a name for new. */
  get areLikely(): boolean {
    return this.#newInARow >= NEW_NAMES_IN_A_ROW;
  }

  /** To be told of each name that was written: whether it was there before. */
  note(wasThere: boolean): void {
    this.#newInARow = wasThere ? 0 : this.#newInARow + 1;
  }
}
