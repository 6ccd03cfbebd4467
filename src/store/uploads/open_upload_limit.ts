import type { Database } from "../engine/database.ts";
import { TooManyOpenUploads } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { OpenUploadRecord, Place } from "../engine/records.ts";

/**
 * Open uploads of one project, unless configured. A client has a handful open at a time; what it leaves behind when it
 * crashes stays open for a day. Each costs about 1 KB of the store without its parts.
 */
export const DEFAULT_MAX_OPEN_UPLOADS = 1000;

/** Free numbers of one project that are remembered from one look at them. */
const REMEMBERED_NUMBERS = 64;

/** Projects of which free numbers are remembered: some 2 MB. */
const REMEMBERED_PROJECTS = 1000;

/**
 * Bounds how many uploads a project has open. Each open upload holds one of the numbers from 0 to the limit, as an entry
 * of its own: starting an upload demands that the entry is absent and sets it, and the operation that ends the upload
 * deletes it. So the limit is exact across processes and crashes, and uploads don't wait for each other.
 */
export class OpenUploadLimit {
  readonly #db: Database;
  readonly #max: number;
  /** Numbers that were free when they were looked up. Each is offered once. */
  readonly #free = new Map<string, number[]>();
  readonly #looking = new Map<string, Promise<boolean>>();

  /** @param max Open uploads of one project. After it was lowered, it holds once those beyond it have ended. */
  constructor(db: Database, max: number) {
    this.#db = db;
    this.#max = max;
  }

  /**
   * A number that is likely to be free: the operation that starts the upload demands that it is.
   *
   * @throws {TooManyOpenUploads} if none is free.
   */
  async findSlot(project: string): Promise<number> {
    while (true) {
      const number = this.#free.get(project)?.pop();
      if (number !== undefined) return number;
      if (!await this.#lookTogether(project)) throw new TooManyOpenUploads(this.#max);
    }
  }

  /** To be called when a number was taken after all: other processes may have taken more of those that are remembered. */
  forget(project: string): void {
    this.#free.delete(project);
  }

  /** How many uploads of a project are open. */
  async count(project: string): Promise<number> {
    return (await this.#taken(project)).size;
  }

  /** Gives whether a number is free. Callers that ask at the same time share one listing. */
  async #lookTogether(project: string): Promise<boolean> {
    const looking = this.#looking.get(project) ?? this.#lookAndRemember(project);
    this.#looking.set(project, looking);
    try {
      return await looking;
    } finally {
      if (this.#looking.get(project) === looking) this.#looking.delete(project);
    }
  }

  async #lookAndRemember(project: string): Promise<boolean> {
    const free = await this.#look(project);
    this.#free.delete(project);
    if (free.length === 0) return false;
    const [oldest] = this.#free.size >= REMEMBERED_PROJECTS ? this.#free.keys() : [];
    if (oldest !== undefined) this.#free.delete(oldest);
    this.#free.set(project, free);
    return true;
  }

  /** Some free numbers, which differ from process to process where that is possible. */
  async #look(project: string): Promise<number[]> {
    const taken = await this.#taken(project);
    const room = this.#max - taken.size;
    const free: number[] = [];
    // While uploads hold numbers beyond a lowered limit, all processes have to offer the same few.
    const isLowered = taken.values().some((number) => number >= this.#max);
    const start = isLowered ? 0 : Math.floor(Math.random() * this.#max);
    for (let i = 0; i < this.#max && free.length < Math.min(room, REMEMBERED_NUMBERS); i++) {
      const number = (start + i) % this.#max;
      if (!taken.has(number)) free.push(number);
    }
    return free.reverse();
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

/** Adds that an upload takes a number, which has to be free. */
export function takeSlot(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
  id: string,
  number: number,
): void {
  const key = keys.openUpload(project, number);
  operation.check(key, null).set(key, { drive, id } satisfies OpenUploadRecord);
}
