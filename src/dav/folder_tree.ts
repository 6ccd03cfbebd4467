/**
 * Folders with everything in them: deleted, copied and moved name by name, each in one atomic operation of the store. A
 * request that is interrupted leaves the names that it has not reached as they were, and can be sent again.
 *
 * @module
 */
import { deleteEntry, forEachBelow, transferEntry } from "../api/files/prefixes.ts";
import type { Place } from "../store/engine/records.ts";
import type { CopyKind } from "../store/files/copies.ts";
import type { WriteGuard } from "../store/files/file_record.ts";
import type { Store } from "../store/store.ts";
import { type DavError, toDavError } from "./dav_error.ts";

/** Names that are changed at the same time: their commits are joined. */
const PAGE = 100;

/** Failures after which the work ends: further ones would be of the same kind. */
const MAX_FAILURES = 20;

/** A name for which the work failed. */
export interface Failure {
  place: Place;
  error: DavError;
}

/** How a tree is changed. */
export interface TreeCall {
  store: Store;
  /** Returns what decides about the change of files. */
  guardOf: (...places: Place[]) => WriteGuard;
  /** Reports a failure that is a defect of the server. */
  onDefect: (cause: unknown) => void;
}

/** Does some work with every file and marker below a folder, its own marker included. Returns the failures. */
async function forEach(
  { store, onDefect }: TreeCall,
  folder: Place,
  work: (place: Place) => Promise<void>,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (let last: string | undefined = ""; last !== undefined && failures.length < MAX_FAILURES;) {
    const page = { prefix: folder.name, limit: PAGE, last };
    const { names, errors, paging } = await forEachBelow(folder, { store }, page, work);
    for (const [index, name] of names.entries()) {
      if (errors[index] === undefined) continue;
      const error = toDavError(errors[index]);
      if (error.status >= 500 && error.cause !== undefined) onDefect(error.cause);
      failures.push({ place: { ...folder, name }, error });
    }
    last = paging.paging?.last;
  }
  return failures;
}

/** Deletes everything below a folder, and its marker. */
export async function deleteTree(call: TreeCall, folder: Place): Promise<Failure[]> {
  return await forEach(
    call,
    folder,
    (place) => deleteEntry(call.store, place, call.guardOf(place)),
  );
}

/**
 * Copies or moves everything below a folder, and its marker. Each file replaces the one that has its new name; what else
 * is in the target is deleted first. A move that is repeated after an interruption deletes nothing there: what the first
 * one has moved is no longer in the source.
 */
export async function transferTree(
  call: TreeCall,
  kind: CopyKind,
  from: Place,
  to: Place,
): Promise<Failure[]> {
  const { store, guardOf } = call;
  const counterpart = (folder: Place, other: Place, name: string): Place => ({
    ...folder,
    name: `${folder.name}${name.slice(other.name.length)}`,
  });
  if (kind === "copy" || !await store.folders.isArriving(to, from)) {
    const failures = await forEach(call, to, async (place) => {
      if (!await entryExists(store, counterpart(from, to, place.name))) {
        await deleteEntry(store, place, guardOf(place));
      }
    });
    if (failures.length > 0) return failures;
    if (kind === "move") await store.folders.beginMove(to, from);
  }
  const failures = await forEach(call, from, async (source) => {
    const target = counterpart(to, from, source.name);
    const request = {
      from: source,
      to: target,
      overwrite: true,
      condition: () => true,
      guard: kind === "move" ? guardOf(source, target) : guardOf(target),
    };
    // A file that is gone by now was deleted or moved by someone else.
    await transferEntry(store, kind, request, () => store.files.copies.run(kind, request));
  });
  if (kind === "move" && failures.length === 0) await store.folders.endMove(to);
  return failures;
}

/** Returns whether there is a file, or the marker of a folder. */
async function entryExists({ files, folders }: Store, place: Place): Promise<boolean> {
  const found = place.name.endsWith("/")
    ? await folders.get(place)
    : await files.reader.stat(place);
  return found !== undefined;
}
