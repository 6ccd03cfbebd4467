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
  const modified = Date.now();
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
