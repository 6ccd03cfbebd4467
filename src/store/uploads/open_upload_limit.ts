import type { Database } from "../engine/database.ts";
import { TooManyOpenUploads } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { OpenUploadRecord, Place } from "../engine/records.ts";
import { setBounded } from "../engine/ttl_cache.ts";
import { MAX_LIST_BATCH } from "../reads/read_queue.ts";

/**
 * Open uploads of one project, unless configured. A client has a handful open at a time; those that it leaves behind in a
 * crash stay open for a day. Each takes about 1 KB of the store, without its parts.
 */
export const DEFAULT_MAX_OPEN_UPLOADS = 1000;

/** Free slots of one project that are remembered from one search. */
const REMEMBERED_SLOTS = 64;

/** Projects whose free slots are remembered: about 2 MB. */
const REMEMBERED_PROJECTS = 1000;

/**
 * Limits how many uploads a project has open. Each open upload holds a slot, an entry with a number below the limit. The
 * operation that starts the upload checks that the slot is free and takes it, and the operation that ends the upload
 * deletes it. So the limit is exact across processes and crashes, and uploads do not wait for each other.
 */
export class OpenUploadLimit {
  readonly #db: Database;
  readonly #max: number;
  /** Slots that were free at the last search. Each is returned once. */
  readonly #free = new Map<string, number[]>();
  readonly #searches = new Map<string, Promise<boolean>>();

  /** @param max Open uploads of one project. A lower limit than before holds once the uploads beyond it have ended. */
  constructor(db: Database, max: number) {
    this.#db = db;
    this.#max = max;
  }

  /**
   * Returns a slot that is probably free. The operation that starts the upload checks that it is.
   *
   * @throws {TooManyOpenUploads} if all slots are taken.
   */
  async findSlot(project: string): Promise<number> {
    while (true) {
      const slot = this.#free.get(project)?.pop();
      if (slot !== undefined) return slot;
      if (!await this.#searchOnce(project)) throw new TooManyOpenUploads(this.#max);
    }
  }

  /** Drops the remembered slots of a project. To be called when one was not free: other processes take them, too. */
  forget(project: string): void {
    this.#free.delete(project);
  }

  /** Returns how many uploads of a project are open. */
  async count(project: string): Promise<number> {
    return (await this.#taken(project)).size;
  }

  /** Returns whether a search found a free slot. Concurrent callers share one search. */
  async #searchOnce(project: string): Promise<boolean> {
    const search = this.#searches.get(project) ?? this.#searchAndRemember(project);
    this.#searches.set(project, search);
    try {
      return await search;
    } finally {
      if (this.#searches.get(project) === search) this.#searches.delete(project);
    }
  }

  async #searchAndRemember(project: string): Promise<boolean> {
    const free = await this.#search(project);
    if (free.length === 0) {
      this.#free.delete(project);
      return false;
    }
    setBounded(this.#free, REMEMBERED_PROJECTS, project, free);
    return true;
  }

  /** Returns some free slots; different ones in different processes if possible. */
  async #search(project: string): Promise<number[]> {
    const taken = await this.#taken(project);
    const left = this.#max - taken.size;
    const free: number[] = [];
    // While uploads hold slots beyond a lowered limit, all processes must offer the same few.
    const isLowered = taken.values().some((slot) => slot >= this.#max);
    const start = isLowered ? 0 : Math.floor(Math.random() * this.#max);
    for (let i = 0; i < this.#max && free.length < Math.min(left, REMEMBERED_SLOTS); i++) {
      const slot = (start + i) % this.#max;
      if (!taken.has(slot)) free.push(slot);
    }
    return free.reverse();
  }

  /** Returns how many uploads of all projects are open. */
  async countAll(): Promise<number> {
    const entries = this.#db.reader.list(
      { prefix: prefixes.all("open_upload") },
      { batchSize: MAX_LIST_BATCH },
    );
    let count = 0;
    for await (const _ of entries) count++;
    return count;
  }

  async #taken(project: string): Promise<Set<number>> {
    const taken = new Set<number>();
    const entries = this.#db.reader.list<OpenUploadRecord>(
      { prefix: prefixes.openUploads(project) },
      { batchSize: Math.min(1000, this.#max + 1) },
    );
    for await (const { key } of entries) taken.add(Number(key.at(-1)));
    return taken;
  }
}

/** Adds that an upload takes a slot. The operation fails if the slot is taken. */
export function takeSlot(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
  id: string,
  slot: number,
): void {
  const key = keys.openUpload(project, slot);
  operation.check(key, null).set(key, { drive, id } satisfies OpenUploadRecord);
}
