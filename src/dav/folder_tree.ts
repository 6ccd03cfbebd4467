/**
 * Folders with everything in them: deleted, copied and moved name by name, each in one atomic operation of the store. A
 * request that is interrupted leaves the names that it has not reached as they were, and can be sent again.
 *
 * @module
 */
import { byteLength, MAX_FILE_NAME } from "../rules/names.ts";
import type { Place } from "../store/engine/records.ts";
import type { CopyKind } from "../store/files/copies.ts";
import type { ObjectEntry } from "../store/listing/listing.ts";
import type { Store } from "../store/store.ts";
import { DavError, toDavError } from "./dav_error.ts";

/** Names that are read at a time. */
const PAGE = 500;

/** Names that are changed at the same time: their commits are joined. */
const AT_ONCE = 50;

/** Failures after which the work ends: further ones would be of the same kind. */
const MAX_FAILURES = 20;

/** A name for which the work failed. */
export interface Failure {
  place: Place;
  error: DavError;
}

type Named = Exclude<ObjectEntry, { commonPrefix: string }>;

/** Reports a failure that is a defect of the server. */
type OnDefect = (cause: unknown) => void;

/** Does some work with every file and marker below a folder, its own marker included. Returns the failures. */
async function forEach(
  store: Store,
  { project, drive, name: prefix }: Place,
  onDefect: OnDefect,
  work: (entry: Named) => Promise<void>,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  let after = "";
  for (let more = true; more && failures.length < MAX_FAILURES;) {
    const page = await store.listObjects({ project, drive, prefix, after, limit: PAGE });
    const entries = page.entries.filter((entry) => entry.name !== undefined);
    more = page.more;
    after = entries.at(-1)?.name ?? after;
    for (let at = 0; at < entries.length && failures.length < MAX_FAILURES; at += AT_ONCE) {
      await Promise.all(
        entries.slice(at, at + AT_ONCE).map(async (entry) => {
          try {
            await work(entry);
          } catch (error) {
            const rendered = toDavError(error);
            if (rendered.status >= 500 && rendered.cause !== undefined) onDefect(rendered.cause);
            failures.push({ place: { project, drive, name: entry.name }, error: rendered });
          }
        }),
      );
    }
  }
  return failures;
}

/** Deletes everything below a folder, and its marker. */
export async function deleteTree(
  store: Store,
  folder: Place,
  onDefect: OnDefect,
): Promise<Failure[]> {
  return await forEach(store, folder, onDefect, async ({ name, record }) => {
    const place = { ...folder, name };
    if (record === undefined) await store.folders.delete(place);
    else await store.files.delete(place);
  });
}

/**
 * Copies or moves everything below a folder, and its marker. Each file replaces the one that has its new name; what else
 * is in the target is deleted first. A move that is repeated after an interruption deletes nothing there: what the first
 * one has moved is no longer in the source.
 */
export async function transferTree(
  store: Store,
  kind: CopyKind,
  from: Place,
  to: Place,
  onDefect: OnDefect,
): Promise<Failure[]> {
  const counterpart = (folder: Place, other: Place, name: string): Place => ({
    ...folder,
    name: `${folder.name}${name.slice(other.name.length)}`,
  });
  if (kind === "copy" || !await store.folders.isArriving(to, from)) {
    const failures = await forEach(store, to, onDefect, async ({ name, record }) => {
      const source = counterpart(from, to, name);
      const place = { ...to, name };
      if (record === undefined) {
        if (await store.folders.get(source) === undefined) await store.folders.delete(place);
      } else if (await store.files.reader.stat(source) === undefined) {
        await store.files.delete(place);
      }
    });
    if (failures.length > 0) return failures;
    if (kind === "move") await store.folders.beginMove(to, from);
  }
  const failures = await forEach(store, from, onDefect, async ({ name, record }) => {
    const source = { ...from, name };
    const target = counterpart(to, from, name);
    requireShort(target);
    if (record === undefined) {
      await store.folders.create(target);
      if (kind === "move") await store.folders.delete(source);
      return;
    }
    // A file that is gone by now was deleted or moved by someone else.
    await store.files.copies.run(kind, {
      from: source,
      to: target,
      overwrite: true,
      condition: () => true,
    });
  });
  if (kind === "move" && failures.length === 0) await store.folders.endMove(to);
  return failures;
}

/** @throws {DavError} if the name is longer than any. */
function requireShort({ name }: Place): void {
  if (byteLength(name) <= MAX_FILE_NAME) return;
  throw new DavError(403, `The name would have more than ${MAX_FILE_NAME} bytes of UTF-8`);
}
