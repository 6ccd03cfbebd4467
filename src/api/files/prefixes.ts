/**
 * Calls that change all files whose names begin with a prefix, such as those of a folder: a bounded number of them in each
 * call. A caller repeats the call with `last` until the answer has no `paging`.
 *
 * @module
 */
import { errors } from "../../http/http_error.ts";
import type { Fields } from "../../http/json_body.ts";
import { type Paging, pagingOf } from "../../http/responses/json_response.ts";
import { fileNameProblem, folderNameProblem, MAX_LIST, prefixProblem } from "../../rules/names.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import type { Place } from "../../store/engine/records.ts";
import type { CopyKind, CopyRequest } from "../../store/files/copies.ts";
import type { WriteGuard } from "../../store/files/file_record.ts";
import type { Store } from "../../store/store.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { ENTRY_MEMORY, withinPage } from "./list_files.ts";

/** The fields of a body that say which page of a prefix a call is about. */
export const PAGE_FIELDS = ["limit", "last"];

/** Their schemas. */
export const pageFields = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: MAX_LIST,
    description: `The most names that this call looks at; ${MAX_LIST} if absent.`,
  },
  last: {
    type: "string",
    description: "`paging.last` of the answer before: the call continues after this name.",
  },
} as const;

/** A part of the names that begin with a prefix. */
export interface PrefixPage {
  prefix: string;
  limit: number;
  last: string;
}

/** @throws {HttpError} 400 naming the field. */
export function pageIn(fields: Fields, prefix: string): PrefixPage {
  const last = fields.optionalText("last", prefixProblem) ?? "";
  return { prefix, last, limit: fields.wholeNumber("limit", 1, MAX_LIST) ?? MAX_LIST };
}

/**
 * Reads a prefix, which the key must be for. Such a call tells the names of files, so it needs `list` as well.
 *
 * @throws {HttpError} 400 if it is not a valid one.
 * @throws {RightMissing}
 */
export function prefixIn(
  fields: Fields,
  name: string,
  { rights }: Pick<DriveCall, "rights">,
): string {
  const prefix = fields.text(name, prefixProblem);
  rights.require("list");
  rights.requireName(prefix);
  return prefix;
}

/** Memory that is reserved for a page, in bytes. */
export function pageMemory({ limit }: PrefixPage): number {
  return limit * ENTRY_MEMORY;
}

/** What became of the names of a page, in their order. */
export interface PageOutcome {
  names: string[];
  /** The error of each name; `undefined` for those that were handled. */
  errors: unknown[];
  paging: Paging;
}

/**
 * Handles each file and kept folder of a page; the name of a folder ends with a slash.
 *
 * @throws {StoreUnavailable} if the store did not answer for any of them.
 */
export async function forEachBelow(
  { project, drive }: Pick<Place, "project" | "drive">,
  { store }: Pick<Deps, "store">,
  { prefix, limit, last }: PrefixPage,
  work: (place: Place) => Promise<unknown>,
): Promise<PageOutcome> {
  const page = await store.listObjects({ project, drive, prefix, after: last, limit });
  const found = page.entries.map(({ name = "" }) => ({ name }));
  const names = withinPage(found, false).map(({ name }) => name);
  const errors = await Promise.all(
    names.map((name) =>
      work({ project, drive, name }).then(() => undefined, (error: unknown) => error)
    ),
  );
  if (names.length > 0 && errors.every((error) => error instanceof StoreUnavailable)) {
    throw errors[0];
  }
  return { names, errors, paging: pagingOf(names, page.more || names.length < found.length) };
}

/** Deletes what `forEachBelow` has found: a file, or the marker of a folder. @param guard Decides about a file. */
export async function deleteEntry(
  { files, folders }: Store,
  place: Place,
  guard?: WriteGuard,
): Promise<void> {
  if (place.name.endsWith("/")) await folders.delete(place);
  else await files.delete(place, () => true, guard);
}

/**
 * Copies or moves what `forEachBelow` has found. A marker that is moved exists twice in between, so that an interruption
 * loses none.
 *
 * @param run Copies or moves a file.
 * @throws {HttpError} 400 if there can be nothing with the new name.
 */
export async function transferEntry(
  { folders }: Store,
  kind: CopyKind,
  { from, to }: { from: Place; to: Place },
  run: () => Promise<unknown>,
): Promise<void> {
  const isFile = !from.name.endsWith("/");
  const problem = isFile ? fileNameProblem(to.name) : folderNameProblem(to.name);
  if (problem !== undefined) throw errors.badFileName(problem);
  if (isFile) return void await run();
  await folders.create(to);
  if (kind === "move") await folders.delete(from);
}

/** Copies or moves everything below a prefix. */
export interface PrefixCopy {
  kind: CopyKind;
  page: PrefixPage;
  to: { drive: string; prefix: string };
  overwrite: boolean;
}

/**
 * Reads a call that copies or moves everything below a prefix.
 *
 * @throws {HttpError} 400 if the target begins with the source, as a folder cannot go into itself.
 */
export function prefixCopyIn(
  fields: Fields,
  kind: CopyKind,
  call: DriveCall,
  target: Pick<PrefixCopy, "overwrite"> & { drive: string },
): PrefixCopy {
  const from = prefixIn(fields, "from_prefix", call);
  const to = prefixIn(fields, "to_prefix", call);
  const { drive, overwrite } = target;
  if (drive === call.drive && to.startsWith(from)) {
    throw errors.badField(
      "to_prefix",
      `begins with ${JSON.stringify(from)}: a folder cannot go into itself`,
    );
  }
  return { kind, page: pageIn(fields, from), to: { drive, prefix: to }, overwrite };
}

/**
 * Copies or moves a page of what is below a prefix.
 *
 * @param run Copies or moves one file.
 */
export async function copyPage(
  { kind, page, to, overwrite }: PrefixCopy,
  call: DriveCall,
  deps: Deps,
  run: (request: CopyRequest) => Promise<void>,
): Promise<PageOutcome> {
  const { project } = call;
  return await forEachBelow(call, deps, page, async (from) => {
    const name = to.prefix + from.name.slice(page.prefix.length);
    const target = { project, drive: to.drive, name };
    // It would be moved again: a later page, or the next call, finds it below the prefix.
    const isWithin = to.drive === from.drive && name.startsWith(page.prefix);
    if (isWithin) {
      throw errors.badFileName(
        `begins with ${JSON.stringify(page.prefix)} again: move it by its name`,
      );
    }
    const request = { from, to: target, overwrite, condition: () => true };
    await transferEntry(deps.store, kind, request, () => run(request));
  });
}
