/**
 * What project keys and S3 keys have in common. A key has a record, an entry in the index of its project, and an entry
 * with the hour of its last use. If it expires, the garbage journal deletes all three.
 *
 * @module
 */
import { type KeyLimits, Rights } from "../../rules/rights.ts";
import { HOUR } from "../../rules/units.ts";
import { setExpiring } from "../bytes/garbage.ts";
import { StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned } from "../engine/project_cache.ts";
import type { ProjectRecord } from "../engine/records.ts";

/** The fields that the records of all keys have. */
interface KeyRecord extends KeyLimits {
  project: string;
  created: number;
  name?: string;
}

/** What lists say about every key. */
export interface BasicKeyInfo {
  name?: string;
  /** Milliseconds since 1970. */
  created: number;
  rights: Rights;
  /** The hour in which it was last used, in milliseconds since 1970; absent before the first use. */
  lastUsed?: number;
}

/** Returns what lists say about a key. */
export function basicInfo(
  { name, created, ...limits }: KeyRecord,
  lastUsed: number | null = null,
): BasicKeyInfo {
  return {
    ...(name === undefined ? {} : { name }),
    created,
    rights: new Rights(limits),
    ...(lastUsed === null ? {} : { lastUsed }),
  };
}

/** Returns whether a key has expired. */
export function isExpired({ expires = Infinity }: KeyLimits, now = Date.now()): boolean {
  return expires <= now;
}

/** Where the record and the last use of a key are stored. */
export interface KeyPlace {
  /** Names the key in the garbage journal. */
  id: string;
  record: Deno.KvKey;
  use: Deno.KvKey;
}

/** Where all entries of a key are stored. */
export interface KeyEntries extends KeyPlace {
  index: Deno.KvKey;
}

/** The ids of a key's entries in the garbage journal. */
function journalIds(id: string): { record: string; index: string; use: string } {
  return { record: id, index: `${id}.index`, use: `${id}.use` };
}

/** Returns the entries of the garbage journal that delete a key; none if it does not expire. */
export function journalKeys(id: string, { expires }: KeyLimits): Deno.KvKey[] {
  if (expires === undefined) return [];
  const { record, index } = journalIds(id);
  return [keys.garbage(expires, record), keys.garbage(expires, index)];
}

/** Adds a key's record and its entry in the index. The garbage journal gets the deletion of both. */
export function setKey(
  operation: Operation,
  { id, record: key, index }: KeyEntries,
  record: KeyRecord,
  indexValue: unknown,
): void {
  const { project, expires: deadline } = record;
  if (deadline === undefined) {
    operation.set(index, indexValue).set(key, record);
    return;
  }
  const ids = journalIds(id);
  setExpiring(operation, { project }, { key: index, value: indexValue, deadline, id: ids.index });
  setExpiring(operation, { project }, { key, value: record, deadline, id: ids.record });
}

/** Adds the deletion of a key with all its entries. */
export function deleteKey(
  operation: Operation,
  { id, record, index, use }: KeyEntries,
  { expires }: KeyLimits,
): void {
  operation.delete(record).delete(use).delete(index);
  if (expires === undefined) return;
  for (const each of Object.values(journalIds(id))) operation.delete(keys.garbage(expires, each));
}

/** A key as every request needs it. */
export interface CachedKey<R> extends Owned {
  place: KeyPlace;
  record: R;
  rights: Rights;
  /** The versions of the key's record and of the entry with its last use. */
  versionstamp: string;
  useVersionstamp: string | null;
  /** The hour that is stored or being stored as its last use, in milliseconds since 1970. */
  lastUsed: number;
}

/** Reads a key together with its project: the second read is of one moment. Returns `undefined` if either is missing. */
export async function readKey<R extends KeyRecord>(
  db: Database,
  place: KeyPlace,
): Promise<CachedKey<R> | undefined> {
  const { record, use } = place;
  const [first] = await db.reads.get<[R]>([record]);
  if (first.value === null) return undefined;
  const { project } = first.value;
  const [key, owner, lastUse] = await db.reads.get<[R, ProjectRecord, number]>([
    record,
    keys.project(project),
    use,
  ]);
  if (key.versionstamp === null || owner.value === null) return undefined;
  return {
    project,
    projectCreated: owner.value.created,
    place,
    record: key.value,
    rights: new Rights(key.value),
    versionstamp: key.versionstamp,
    useVersionstamp: lastUse.versionstamp,
    lastUsed: lastUse.value ?? 0,
  };
}

/** Stores in the background in which hour each key was last used. */
export class KeyUses {
  readonly #pending = new Set<Promise<void>>();

  constructor(private readonly db: Database, private readonly onError: (error: unknown) => void) {}

  /**
   * Stores that a key was used in this hour, unless that is known. The checks let one of several processes do it, and
   * keep the entry from outliving the key.
   */
  note(key: CachedKey<KeyRecord>, now: number): void {
    if (now < key.lastUsed + HOUR) return;
    key.lastUsed = now - now % HOUR;
    const { place: { id, record, use }, lastUsed: value } = key;
    const { project, expires: deadline } = key.record;
    const operation = new Operation().check(record, key.versionstamp)
      .check(use, key.useVersionstamp);
    if (deadline === undefined) operation.set(use, value);
    else setExpiring(operation, { project }, { key: use, value, deadline, id: journalIds(id).use });
    const stored = this.#store(operation).finally(() => this.#pending.delete(stored));
    this.#pending.add(stored);
  }

  /** Waits until the uses noted so far are stored, or cannot be. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #store(operation: Operation): Promise<void> {
    try {
      await this.db.commit(operation);
    } catch (error) {
      // The next look-up beyond the cache time tries again.
      if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) this.onError(error);
    }
  }
}
