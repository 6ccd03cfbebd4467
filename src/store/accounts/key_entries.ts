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
import { NoSuchProject, StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import type { ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import type { Revocations } from "./revocations.ts";

interface KeyRecord extends KeyLimits {
  project: string;
  created: number;
  name?: string;
}

/** Where the entries of one kind of keys are stored. `id` names a key in the store, and in the garbage journal. */
export interface KeyKind<R extends KeyRecord> {
  /** The beginning of the names of its events. */
  event: "key" | "s3_key";
  record: (id: string) => Deno.KvKey;
  use: (id: string) => Deno.KvKey;
  index: (id: string, record: R) => Deno.KvKey;
  indexValue: (id: string, record: R) => unknown;
  indexOf: (project: string) => Deno.KvKey;
  idIn: (entry: Pick<Deno.KvEntry<unknown>, "key" | "value">) => string;
  /** Returns what names a key in lists and audit logs. */
  nameOf: (id: string, record: R) => string;
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

export interface NewKey {
  name?: string | undefined;
  /** Milliseconds since 1970; now unless given. */
  created?: number;
  /** All rights unless given. */
  limits?: KeyLimits;
  /** SHA-256 of the project key that creates it: it must still be valid. Absent for the administrator. */
  by?: string | undefined;
  /** Who creates it, for the audit log. */
  actor?: Actor;
}

export function isExpired({ expires = Infinity }: KeyLimits, now = Date.now()): boolean {
  return expires <= now;
}

/** Returns whether a key is known and opens a project. */
export function opens(
  record: ProjectKeyRecord | null,
  project: string,
): record is ProjectKeyRecord {
  return record !== null && record.project === project && !isExpired(record);
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

/** Adds a new key. The operation fails if another key has its place in the index. */
export function addKey<R extends KeyRecord>(
  operation: Operation,
  kind: KeyKind<R>,
  id: string,
  record: R,
): void {
  operation.check(kind.index(id, record), null);
  setKey(operation, kind, id, record);
}

/** Adds a key's record and its entry in the index. The garbage journal gets the deletion of both. */
export function setKey<R extends KeyRecord>(
  operation: Operation,
  kind: KeyKind<R>,
  id: string,
  record: R,
): void {
  const { project, expires: deadline } = record;
  const index = { key: kind.index(id, record), value: kind.indexValue(id, record) };
  const key = kind.record(id);
  if (deadline === undefined) {
    operation.set(index.key, index.value).set(key, record);
    return;
  }
  const ids = journalIds(id);
  setExpiring(operation, { project }, { ...index, deadline, id: ids.index });
  setExpiring(operation, { project }, { key, value: record, deadline, id: ids.record });
}

/** Adds the deletion of a key with all its entries. */
export function deleteKey<R extends KeyRecord>(
  operation: Operation,
  kind: KeyKind<R>,
  id: string,
  record: R,
): void {
  const { expires } = record;
  operation.delete(kind.record(id)).delete(kind.use(id)).delete(kind.index(id, record));
  if (expires === undefined) return;
  for (const each of Object.values(journalIds(id))) operation.delete(keys.garbage(expires, each));
}

/** A key as every request needs it. */
interface CachedKey<R, O> extends Owned {
  id: string;
  record: R;
  /** What `open` has returned. */
  opened: O;
  rights: Rights;
  /** The versions of the key's record and of the entry with its last use. */
  versionstamp: string;
  useVersionstamp: string | null;
  /** The hour that is stored or being stored as its last use, in milliseconds since 1970. */
  lastUsed: number;
}

/** A key that opens its project. */
interface FoundKey<R, O> {
  key: CachedKey<R, O>;
  /** Drives of the project that are being deleted. */
  deleting: readonly string[];
}

export interface Listed<R> {
  id: string;
  record: R;
  lastUsed?: number | null | undefined;
}

/** What the store of a kind of keys needs beside the database. */
export interface KeyDeps {
  projects: ProjectCache;
  revocations: Revocations;
  events: EventLog;
  /** Receives errors of background work. */
  onError: (error: unknown) => void;
}

/** How a key is revoked. */
export interface Revocation {
  /** Keys of other drives or names stay. */
  within?: Rights;
  actor?: Actor;
}

/** The keys of one kind: how they are found, listed, created, revoked, and how they expire. */
export class LimitedKeys<R extends KeyRecord, O> {
  readonly #cache: TtlCache<CachedKey<R, O>>;
  /** Last uses that are being stored. */
  readonly #uses = new Set<Promise<void>>();

  /** @param open Returns what the use of a key needs; `undefined` if the key cannot be used. */
  constructor(
    private readonly db: Database,
    private readonly kind: KeyKind<R>,
    private readonly deps: KeyDeps,
    private readonly open: (id: string, record: R) => Promise<O | undefined>,
  ) {
    this.#cache = new TtlCache((id) => this.#read(id));
  }

  /**
   * Returns the key with an id, or `undefined` for one that is unknown or cannot be used. The answer is cached for `KEY_CACHE_TTL`. An expired
   * key is deleted here, so a system clock that is set back does not revive it.
   */
  async find(id: string): Promise<FoundKey<R, O> | undefined> {
    const found = await this.deps.projects.findOwned(this.#cache, id);
    if (found === undefined) return undefined;
    const { thing: key, owner: { deleting } } = found;
    const now = Date.now();
    if (isExpired(key.record, now)) {
      await this.#expire(id, key);
      return undefined;
    }
    this.#noteUse(key, now);
    return { key, deleting };
  }

  /**
   * Returns whether a key that opened a project some time ago still does.
   *
   * @param age How long ago, in milliseconds. Beyond `KEY_CACHE_TTL` the store is read, as another process may have
   *   revoked the key.
   */
  async isStillValid(id: string, project: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TTL) this.#cache.forget(id);
    return (await this.find(id))?.key.project === project;
  }

  /**
   * Creates a key of a project. Returns what `make` returns, or `undefined` if there is no such project.
   *
   * @param make Returns a random key, with the record that the common fields become.
   * @throws {NoSuchProject} if the key that creates it no longer opens the project.
   */
  async create<K>(
    project: string,
    { name, created = Date.now(), limits = {}, by, actor = COMMAND_LINE }: NewKey,
    make: (common: KeyRecord) => Promise<{ id: string; record: R; key: K }>,
  ): Promise<{ id: string; record: R; key: K } | undefined> {
    return await transact(this.db, async () => {
      const [owner, maker] = await this.db.reader.getMany<[ProjectRecord, ProjectKeyRecord]>([
        keys.project(project),
        keys.projectKey(by ?? ""),
      ]);
      if (owner.value === null) return { result: undefined };
      if (by !== undefined && !opens(maker.value, project)) throw new NoSuchProject(project);
      const named = name === undefined ? {} : { name };
      const result = await make({ ...limits, project, ...named, created });
      const { id, record } = result;
      const operation = new Operation().unchanged(owner, maker)
        .check(this.kind.record(id), null);
      addKey(operation, this.kind, id, record);
      const target = this.kind.nameOf(id, record);
      const event = { event: `${this.kind.event}.created`, project, target } as const;
      this.deps.events.record(operation, actor, event);
      return { operation, result };
    });
  }

  /** Returns the keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<Listed<R>[]> {
    const { reader } = this.db;
    if ((await reader.get(keys.project(project))).value === null) return [];
    const index = reader.list({ prefix: this.kind.indexOf(project) });
    const ids = await Array.fromAsync(index, this.kind.idIn);
    await Promise.all(this.#uses);
    const [records, uses] = await Promise.all([
      readMany<R>(reader, ids.map(this.kind.record)),
      readMany<number>(reader, ids.map(this.kind.use)),
    ]);
    const listed: Listed<R>[] = [];
    for (const [i, id] of ids.entries()) {
      const { value: record = null, versionstamp = null } = records[i] ?? {};
      if (record === null || versionstamp === null) continue;
      if (isExpired(record)) await this.#expire(id, { record, versionstamp });
      else listed.push({ id, record, lastUsed: uses[i]?.value });
    }
    return listed.sort((a, b) => a.record.created - b.record.created);
  }

  /**
   * Revokes a key. Returns whether the project had one with this id.
   *
   * @throws {RightMissing} if the key has permissions that `within` lacks.
   */
  async revoke(
    project: string,
    id: string,
    { within = Rights.all, actor = COMMAND_LINE }: Revocation = {},
  ): Promise<boolean> {
    const isRevoked = await transact(this.db, async () => {
      const [owner, key] = await this.db.reader.getMany<[ProjectRecord, R]>([
        keys.project(project),
        this.kind.record(id),
      ]);
      const record = key.value;
      if (owner.value === null || record?.project !== project) return { result: false };
      const isFound = !isExpired(record);
      if (isFound) {
        const rights = new Rights(record);
        if (!within.coversScope(rights)) return { result: false };
        within.requireToRevoke(rights);
      }
      const operation = new Operation().unchanged(owner, key);
      deleteKey(operation, this.kind, id, record);
      if (isFound) {
        const target = this.kind.nameOf(id, record);
        const event = { event: `${this.kind.event}.revoked`, project, target } as const;
        this.deps.events.record(operation, actor, event);
      }
      return { operation, result: isFound };
    });
    this.#cache.forget(id);
    if (isRevoked) this.deps.revocations.notify();
    return isRevoked;
  }

  async #expire(
    id: string,
    { record, versionstamp }: Pick<CachedKey<R, O>, "record" | "versionstamp">,
  ): Promise<void> {
    const operation = new Operation().check(this.kind.record(id), versionstamp);
    deleteKey(operation, this.kind, id, record);
    await this.db.commit(operation);
    this.#cache.forget(id);
  }

  /** Reads a key together with its project: the second read is of one moment. */
  async #read(id: string): Promise<CachedKey<R, O> | undefined> {
    const record = this.kind.record(id);
    const [first] = await this.db.reads.get<[R]>([record]);
    if (first.value === null) return undefined;
    const { project } = first.value;
    const [key, owner, lastUse] = await this.db.reads.get<[R, ProjectRecord, number]>([
      record,
      keys.project(project),
      this.kind.use(id),
    ]);
    if (key.versionstamp === null || owner.value === null) return undefined;
    const opened = await this.open(id, key.value);
    if (opened === undefined) return undefined;
    return {
      project,
      projectCreated: owner.value.created,
      id,
      record: key.value,
      opened,
      rights: new Rights(key.value),
      versionstamp: key.versionstamp,
      useVersionstamp: lastUse.versionstamp,
      lastUsed: lastUse.value ?? 0,
    };
  }

  /**
   * Stores in the background that a key was used in this hour, unless that is known. The checks let one of several
   * processes do it, and keep the entry from outliving the key.
   */
  #noteUse(key: CachedKey<R, O>, now: number): void {
    if (now < key.lastUsed + HOUR) return;
    key.lastUsed = now - now % HOUR;
    const { id, lastUsed: value, record: { project, expires: deadline } } = key;
    const use = this.kind.use(id);
    const operation = new Operation().check(this.kind.record(id), key.versionstamp)
      .check(use, key.useVersionstamp);
    if (deadline === undefined) operation.set(use, value);
    else setExpiring(operation, { project }, { key: use, value, deadline, id: journalIds(id).use });
    const stored = this.#storeUse(operation).finally(() => this.#uses.delete(stored));
    this.#uses.add(stored);
  }

  async #storeUse(operation: Operation): Promise<void> {
    try {
      await this.db.commit(operation);
    } catch (error) {
      // The next look-up beyond the cache time tries again.
      if (error instanceof StoreFull || error instanceof StoreUnavailable) return;
      this.deps.onError(error);
    }
  }
}
