/**
 * What calls say about a file besides its bytes, and what answers show of it.
 *
 * @module
 */
import { isoDeadline } from "../../rules/dates.ts";
import { MAX_EXPIRES_IN, SECOND } from "../../rules/units.ts";
import type { UploadSession } from "../../store/engine/records.ts";
import type { ListedFile } from "../../store/listing/listing.ts";
import type { FileAttributes } from "../../store/uploads/upload_store.ts";
import type { DriveCall } from "../drive_call.ts";

/** The properties that a call gives its file. @throws {HttpError} 400 if one is malformed. */
export function attributesOf({ query }: DriveCall): FileAttributes {
  const seconds = query.wholeNumber("expires_in", MAX_EXPIRES_IN, "a whole number of seconds");
  const mtime = query.utcTime("mtime");
  return {
    ...(seconds === undefined ? {} : { lifetime: seconds * SECOND }),
    ...(mtime === undefined ? {} : { mtime }),
  };
}

/** The properties that an open upload will give its file, as JSON. */
export function attributesJson(
  { lifetime, mtime }: Pick<UploadSession, "lifetime" | "mtime">,
): { expires_in?: number; mtime?: string } {
  return {
    ...(lifetime === undefined ? {} : { expires_in: lifetime / SECOND }),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
  };
}

/** `"expires"`, if there is a deadline. */
export function deadlineJson(expires: number | undefined): { expires?: string } {
  return expires === undefined ? {} : { expires: isoDeadline(expires) };
}

export function fileJson(name: string, record: ListedFile): Record<string, unknown> {
  const { size, type, version, created, modified, expires, mtime, thumbnail, properties } = record;
  return {
    name,
    size,
    content_type: type,
    etag: version,
    created: new Date(created).toISOString(),
    modified: new Date(modified).toISOString(),
    ...deadlineJson(expires),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
    ...(thumbnail === undefined ? {} : { thumbnail: true }),
    ...(properties === undefined ? {} : { properties }),
  };
}
