/**
 * The trash: records of files that were deleted or replaced, kept for some days under an id instead of their name. An
 * item keeps its bytes, which count towards the quota, so neither trashing nor restoring touches them. An entry of the
 * garbage journal ends each item at its deadline.
 *
 * @module
 */
import { DAY } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import type { FileRecord, Garbage, Place, TrashReason, TrashRecord } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { countTrash } from "../quotas/usage.ts";
import { inBatches, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import { dropExpiry, setExpiry } from "./expiry.ts";
import { isPresent, LOST_RECORD, movedRecord } from "./file_record.ts";
import { setFile } from "./names.ts";
import { addGarbage } from "../bytes/garbage.ts";
import { isVersion, newVersion } from "../bytes/versions.ts";
import { discardVersion, releaseBytes } from "./shared_bytes.ts";

/** Items that one page of the trash looks at, at most: with a prefix, few of them may be shown. */
const MAX_LOOKED_AT = 10_000;

/** Items with a prefix are read at least this many at a time, as most of those read may lack it. */
const PREFIX_BATCH = 100;

export interface TrashItem extends TrashRecord {
  id: string;
}

/**
 * A page of the trash. `last` is set if there are more items, or more to look at: the id of the last one that was looked
 * at.
 */
export interface TrashPage {
  items: TrashItem[];
  last?: string;
}

/** Why an item was not restored. `absent`: there is none with this id. `taken`: its name is in use. */
export type RestoreOutcome = "restored" | "absent" | "taken";

type Stored = Deno.KvEntry<TrashRecord>;

/** Adds that a file no longer has the version of a record, which goes to the trash if the project has one. */
export function retire(
  operation: Operation,
  { trashDays = 0 }: CachedProject,
  place: Place,
  record: FileRecord,
  reason: TrashReason,
): void {
  // An expired file was gone before.
  if (trashDays === 0 || !isPresent(record, Date.now())) {
    return discardVersion(operation, place, record);
  }
  if (record.sha256 === undefined) operation.delete(keys.undigested(place));
  dropExpiry(operation, record);
  const { project, drive, name } = place;
  const deleted = Date.now();
  // A file that expires does so in the trash as well.
  const expires = Math.min(deleted + trashDays * DAY, record.expires ?? Infinity);
  const id = newVersion();
  const item: TrashRecord = { name, deleted, expires, reason, record };
  operation.set(keys.trash(project, drive, id), item)
    .set(keys.garbage(expires, id), { kind: "trash", project, drive, name, id } satisfies Garbage);
  countTrash(operation, place, record, 1);
}

/** Lists, restores and empties the trash. */
export class Trash {
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly quotas: Quotas,
  ) {}

  /**
   * Returns a page of a drive's trash, newest first.
   *
   * @param last The id after which the page begins; empty for the first page.
   * @param prefix Only items whose names begin with it.
   */
  async list(
    { project, drive }: Pick<Place, "project" | "drive">,
    { limit, last, prefix }: { limit: number; last: string; prefix: string },
  ): Promise<TrashPage> {
    if (await this.projects.isHidden({ project, drive })) return { items: [] };
    const items: TrashItem[] = [];
    let lookedAt = 0;
    let previous = "";
    const range = ranges.trashBefore(project, drive, last);
    const entries = this.db.reader.list<TrashRecord>(range, {
      reverse: true,
      batchSize: Math.min(Math.max(limit + 1, prefix === "" ? 1 : PREFIX_BATCH), MAX_LIST_BATCH),
    });
    for await (const { key, value } of entries) {
      if (lookedAt++ === MAX_LOOKED_AT) return { items, last: previous };
      const isShown = isKept(value) && value.name.startsWith(prefix);
      if (isShown && items.length === limit) return { items, last: previous };
      previous = String(key.at(-1));
      if (isShown) items.push({ id: previous, ...value });
    }
    return { items };
  }

  /** Returns the names of items; `undefined` for ids without one that has not expired. */
  async names(
    { project, drive }: Pick<Place, "project" | "drive">,
    ids: readonly string[],
  ): Promise<(string | undefined)[]> {
    if (await this.projects.isHidden({ project, drive })) return ids.map(() => undefined);
    const items = await Promise.all(ids.map((id) => this.#read(project, drive, id)));
    return items.map((item) =>
      item !== undefined && isKept(item.value) ? item.value.name : undefined
    );
  }

  /**
   * Gives a file back its name. Another file of that name goes to the trash if `overwrite` is set.
   *
   * @param name Gives it this name instead.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async restore(
    { project, drive }: Pick<Place, "project" | "drive">,
    id: string,
    { overwrite, name: other }: { overwrite: boolean; name?: string | undefined },
  ): Promise<RestoreOutcome> {
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const owner = await this.projects.requireWritable({ project, drive });
      const item = await this.#read(project, drive, id);
      if (item === undefined || !isKept(item.value)) return "absent";
      const { record } = item.value;
      const place = { project, drive, name: other ?? item.value.name };
      const [current] = await this.db.reads.get<[FileRecord]>([keys.file(place)]);
      const isTaken = current.value !== null && isPresent(current.value, Date.now());
      if (isTaken && !overwrite) return "taken";
      const operation = takeOut(owner, item)
        .unchanged(current);
      setFile(operation, owner, place, current, movedRecord(record));
      countTrash(operation, place, record, -1);
      if (current.value !== null) retire(operation, owner, place, current.value, "replaced");
      setExpiry(operation, place, record);
      if (record.sha256 === undefined) operation.set(keys.undigested(place), record.version);
      if ((await this.quotas.commit(owner, place, operation)).ok) return "restored";
      this.projects.forget(project);
    }
    throw new StoreUnavailable("The file could not be restored: others kept changing it");
  }

  /** Deletes an item for good, also one that has expired. Returns whether there was one that had not. */
  async delete(place: Pick<Place, "project" | "drive">, id: string): Promise<boolean> {
    const item = await this.#remove(place, id);
    return item === "unreadable" || (item !== undefined && isKept(item));
  }

  /** Deletes all items of a drive for good. Returns how many of them had not expired. */
  async empty({ project, drive }: Pick<Place, "project" | "drive">): Promise<number> {
    return await this.#forEach({ project, drive }, {}, (...item) => this.delete(...item));
  }

  /** Removes an item, expired or not. Returns whether there was one. */
  async remove(place: Pick<Place, "project" | "drive">, id: string): Promise<boolean> {
    return await this.#remove(place, id) !== undefined;
  }

  /**
   * Removes the items of a project that were in the trash before an id. Returns how many.
   *
   * @param limit Stops after this many.
   */
  async removeBefore(
    before: string,
    { project, limit }: { project: string; limit: number },
  ): Promise<number> {
    const options = { before, limit };
    return await this.#forEach({ project }, options, (...item) => this.remove(...item));
  }

  /**
   * Removes an item and releases its bytes, unless its record, which names them, cannot be read. Returns the item, unless
   * another caller removed it.
   */
  async #remove(
    { project, drive }: Pick<Place, "project" | "drive">,
    id: string,
  ): Promise<TrashRecord | "unreadable" | undefined> {
    if (!isVersion(id)) return undefined;
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const owner = await this.projects.find(project);
      // Its deletion removes the items of the project or drive.
      if (owner === undefined || owner.deleting.includes(drive)) return undefined;
      const [item] = await this.db.reads.get<[TrashRecord]>([keys.trash(project, drive, id)]);
      if (item.versionstamp === null) return undefined;
      const place = { project, drive, name: item.value?.name ?? "" };
      let operation = new Operation().share(owner.unchanged)
        .unchanged(item)
        .delete(item.key);
      if (item.value !== null) {
        operation = takeOut(owner, item);
        releaseBytes(operation, place, item.value.record);
      }
      countTrash(operation, place, item.value?.record ?? LOST_RECORD, -1);
      if ((await this.db.commit(operation)).ok) return item.value ?? "unreadable";
      this.projects.forget(project);
    }
    throw new StoreUnavailable("The trash could not be emptied: its project kept changing");
  }

  /** Does some work with the items of a drive, or of all drives. Returns for how many it returned true. */
  async #forEach(
    { project, drive }: { project: string; drive?: string },
    { before, limit = Infinity }: { before?: string; limit?: number },
    work: (place: Pick<Place, "project" | "drive">, id: string) => Promise<boolean>,
  ): Promise<number> {
    let done = 0;
    const items = this.db.reader.list(ranges.trash(project, drive), { unreadable: true });
    for await (const batch of inBatches(items, EMPTY_BATCH)) {
      const worked = batch.map(async ({ key }) => {
        const [, , itemsDrive = "", id = ""] = key.map(String);
        return (before === undefined || id < before) &&
          await work({ project, drive: itemsDrive }, id);
      });
      done += (await Promise.all(worked)).filter(Boolean).length;
      if (done >= limit) break;
    }
    return done;
  }

  async #read(project: string, drive: string, id: string): Promise<Stored | undefined> {
    // Other text may be too long for a key.
    if (!isVersion(id)) return undefined;
    const [item] = await this.db.reads.get<[TrashRecord]>([keys.trash(project, drive, id)]);
    return item.value === null ? undefined : item;
  }
}

/** Items that are deleted at the same time. */
const EMPTY_BATCH = 100;

/** Returns whether the deadline of an item has not passed. */
function isKept({ expires }: TrashRecord): boolean {
  return expires > Date.now();
}

/** Returns the operation that removes an item and its deadline. */
function takeOut({ unchanged }: CachedProject, { key, value, versionstamp }: Stored): Operation {
  return new Operation().share(unchanged)
    .check(key, versionstamp)
    .delete(key)
    .delete(keys.garbage(value.expires, String(key.at(-1))));
}

/** Adds that the whole trash of a project, as it is now, is deleted in the background. */
export function emptyInBackground(operation: Operation, project: string): void {
  const garbage: Garbage = {
    kind: "whole_trash",
    project,
    drive: "",
    name: "",
    before: newVersion(),
  };
  addGarbage(operation, garbage, Date.now());
}
