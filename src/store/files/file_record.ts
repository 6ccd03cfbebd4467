/**
 * The record of a file's new version, and its times.
 *
 * @module
 */
import type { Validators } from "../../rules/preconditions.ts";
import { DAY, SECOND } from "../../rules/units.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type ObjectChecksum,
  type ObjectMetadata,
  type Place,
} from "../engine/records.ts";
import { StoreDamaged } from "../engine/errors.ts";
import type { SharedCheck } from "../engine/operation.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import { newVersion } from "../bytes/versions.ts";

/** The content of a new version, before it is published. */
export type Draft = Pick<
  FileRecord,
  | "size"
  | "type"
  | "mtime"
  | "layout"
  | "bytes"
  | "sha256"
  | "md5Tag"
  | "checksum"
  | "object"
  | "properties"
>;

/** What S3 callers compare the bytes of a file with. */
export type FileTags = Pick<FileRecord, "md5Tag" | "checksum">;

/**
 * Returns whether a file exists at a time, in milliseconds since 1970. From its deadline on an expired file is absent,
 * even if its record was not removed yet. Every reader of records has to ask this.
 */
export function isPresent({ expires }: Pick<FileRecord, "expires">, now: number): boolean {
  return expires === undefined || now < expires;
}

/** Returns a record unless its deadline has passed. */
export function present(record: FileRecord | null): FileRecord | undefined {
  return record !== null && isPresent(record, Date.now()) ? record : undefined;
}

/** Stands in counters for a record that cannot be read: it was a file of unknown size. */
export const LOST_RECORD: FileRecord = {
  version: "",
  size: 0,
  type: "",
  created: 0,
  modified: 0,
  layout: { kind: "inline" },
};

/** Returns what the counters have of an entry that is replaced or deleted; `null` if there is none. */
export function countedRecord(entry: Deno.KvEntryMaybe<FileRecord>): FileRecord | null {
  return isUnreadable(entry) ? LOST_RECORD : entry.value;
}

/** @throws {StoreDamaged} if the record of a file cannot be read. */
export function requireReadable(place: Place, entry: Deno.KvEntryMaybe<FileRecord>): void {
  if (isUnreadable(entry)) throw new StoreDamaged(fileText(place), UNREADABLE_RECORD);
}

/** The damage of a record that cannot be read, as the end of a sentence. */
export const UNREADABLE_RECORD = "its record cannot be read";

/** Returns whether a write may replace the current version; `undefined` stands for no file. */
export type WriteCondition = (current: Validators | undefined) => boolean;

/**
 * Called before each attempt to commit a write. Returns what must be unchanged when it is committed.
 *
 * @throws what refuses the write.
 */
export type WriteGuard = () => Promise<readonly SharedCheck[]>;

/** The guard of a write that nothing else refuses. */
export const unguarded: WriteGuard = (): Promise<[]> => Promise.resolve([]);

/** Returns what conditional requests compare. */
export function validators(record: FileRecord): Validators {
  const { version, modified, sameSecond, md5Tag } = record;
  return { etag: version, tag: md5Tag, modified, dateIsStrong: sameSecond === undefined };
}

/**
 * Returns the record of a new version. A name that is deleted and written again within a second may keep its date, but a
 * client "MUST NOT" use a date that it received within the second after it (RFC 9110, 13.1.5 and 8.8.2.2).
 *
 * @param current The record that it replaces.
 * @param lifetime How long the file exists, in milliseconds; for ever unless given.
 */
export function newRecord(
  draft: Draft,
  current: FileRecord | null,
  lifetime?: number,
): FileRecord {
  const modified = modifiedAfter(current);
  const sameSecond = current !== null && secondOf(current.modified) === secondOf(modified);
  return {
    version: newVersion(),
    ...draft,
    created: current?.created ?? modified,
    modified,
    ...(lifetime === undefined ? {} : { expires: Date.now() + lifetime }),
    ...(sameSecond ? { sameSecond } : {}),
  };
}

export interface FileDescription {
  type: string;
  object?: ObjectMetadata | undefined;
  /** A checksum in place of the one that the file has. */
  checksum?: ObjectChecksum | undefined;
}

/** Returns the record of a version with the same bytes and another description. */
export function redescribedRecord(
  record: FileRecord,
  { type, object, checksum }: FileDescription,
): FileRecord {
  const { sameSecond: _, object: _replaced, ...kept } = record;
  const modified = modifiedAfter(record);
  const sameSecond = secondOf(record.modified) === secondOf(modified);
  return {
    ...kept,
    version: newVersion(),
    type,
    modified,
    bytes: bytesVersion(record),
    ...(object === undefined ? {} : { object }),
    ...(checksum === undefined ? {} : { checksum }),
    ...(sameSecond ? { sameSecond } : {}),
  };
}

/**
 * Returns the record of a copy, which does not expire. It is created now, also in place of a file.
 *
 * @param replace Its description, unless it keeps that of its source.
 */
export function copiedRecord(
  { version: _, created: _c, modified: _m, expires: _e, sameSecond: _s, ...kept }: FileRecord,
  replaced: FileRecord | null,
  replace?: FileDescription,
): FileRecord {
  const { shared, ...draft } = kept;
  const { type, object, checksum } = replace ?? draft;
  delete draft.object;
  const described = {
    ...draft,
    type,
    ...(object === undefined ? {} : { object }),
    ...(checksum === undefined ? {} : { checksum }),
  };
  const record = newRecord(described, replaced);
  return {
    ...record,
    created: record.modified,
    ...(shared === undefined ? {} : { shared }),
  };
}

/**
 * Returns the record of a file under another name, or under its own name again. It keeps its version and its times. Its
 * date may be that of another version that had the name, so it identifies no version.
 */
export function movedRecord(record: FileRecord): FileRecord {
  return { ...record, sameSecond: true };
}

/**
 * A modification date further in the future than this, in milliseconds, was written by a wrong clock and is ignored.
 */
const MAX_CLOCK_LEAD = DAY;

/**
 * Returns the modification time of a new version, in milliseconds since 1970: never before that of the version it
 * replaces. If the system clock was set back, it is one second after that, so that `If-Unmodified-Since` and
 * `If-Modified-Since` with the earlier version's date detect the change.
 */
function modifiedAfter(current: FileRecord | null): number {
  const now = Date.now();
  const lead = current === null ? 0 : current.modified - now;
  if (current === null || lead <= 0 || lead > MAX_CLOCK_LEAD) return now;
  return current.modified + (secondOf(now) === secondOf(current.modified) ? 0 : SECOND);
}

function secondOf(time: number): number {
  return Math.floor(time / SECOND);
}
