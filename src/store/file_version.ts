import type { Validators } from "../drive/preconditions.ts";
import { keys } from "./keys.ts";
import type { Operation } from "./operation.ts";
import { newVersion } from "./receive.ts";
import type { FileRecord, Place } from "./records.ts";

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

/** Keeps the counters of the drive right, and makes the drive exist; gives by how many bytes it grows. */
export function account(
  operation: Operation,
  { project, drive }: Place,
  before: FileRecord | null,
  after: FileRecord | null,
): number {
  const files = Number(after !== null) - Number(before !== null);
  const bytes = (after?.size ?? 0) - (before?.size ?? 0);
  if (files !== 0) operation.sum(keys.usage(project, drive, "files"), files);
  if (bytes !== 0) operation.sum(keys.usage(project, drive, "bytes"), bytes);
  return bytes;
}
