import type { Validators } from "../rules/preconditions.ts";
import type { FileRecord, FolderRecord } from "../store/engine/records.ts";
import { validators } from "../store/files/file_record.ts";

/**
 * Returns the entity tag of an object, without quotes: the MD5 that S3 clients expect, if it is known. Otherwise it is the
 * version of the file with a suffix after a dash, which tells clients that it is no MD5.
 */
export function entityTag({ md5Tag, version }: Pick<FileRecord, "md5Tag" | "version">): string {
  return md5Tag ?? opaque(version);
}

/** Returns what the conditions of S3 requests are compared with. */
export function objectValidators(record: FileRecord): Validators {
  return asObject(validators(record));
}

/** Returns the validators of a file with the entity tag of its object. */
export function asObject(file: Validators): Validators {
  return { ...file, etag: file.tag ?? opaque(file.etag) };
}

/** Returns the validators of a folder's marker, which is an empty object. */
export function markerValidators({ created }: FolderRecord): Validators {
  return { etag: EMPTY_TAG, tag: EMPTY_TAG, modified: created, dateIsStrong: false };
}

function opaque(version: string): string {
  return `${version}-0`;
}

/** Returns the number of parts of an object; `undefined` if it was not sent in parts. */
export function partCount({ md5Tag, layout }: FileRecord): number | undefined {
  if (layout.kind === "manifest") return layout.parts;
  return md5Tag?.endsWith("-1") === true ? 1 : undefined;
}

/** The entity tag of an empty object: the MD5 of no bytes. */
export const EMPTY_TAG = "d41d8cd98f00b204e9800998ecf8427e";
