import { type KeyLimits, Rights } from "../../rules/rights.ts";
import {
  hashSecret,
  KEY_PREFIX_LENGTH,
  keyPrefix,
  newProjectKey,
  type ProjectKey,
} from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { NoSuchProject } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import type { ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import { endGrants } from "../sessions/grants.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import {
  basicInfo,
  type BasicKeyInfo,
  type CachedKey,
  deleteKey,
  isExpired,
  type KeyEntries,
  type KeyPlace,
  KeyUses,
  readKey,
  setKey,
} from "./key_entries.ts";
import type { Revocations } from "./revocations.ts";

/** A project key without its secret. */
export interface KeyInfo extends BasicKeyInfo {
  /** Names the key in lists; unique in the project. */
  prefix: string;
}

/** What a new key is to be. */
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

/** The project that a key opens, and what it may do there. */
export interface FoundProjectKey {
  project: string;
  prefix: string;
  rights: Rights;
  /** Drives of the project that are being deleted. */
  deleting: readonly string[];
}

/** The keys of projects. Only the SHA-256 of a secret is stored. */
export class ProjectKeyStore {
  readonly #cache: TtlCache<CachedKey<ProjectKeyRecord>>;
  readonly #uses: KeyUses;

  /** @param onError Receives errors of background work. */
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly revocations: Revocations,
    private readonly events: EventLog,
    onError: (error: unknown) => void,
  ) {
    this.#cache = new TtlCache((hash) => readKey(db, placeOf(hash)));
    this.#uses = new KeyUses(db, onError);
  }

  /**
   * Returns what the key with this hash opens, or `undefined` for an unknown key. The answer is cached for `KEY_CACHE_TTL`.
   * An expired key is deleted here, so a system clock that is set back does not revive it.
   */
  async find(hash: string): Promise<FoundProjectKey | undefined> {
    const found = await this.projects.findOwned(this.#cache, hash);
    if (found === undefined) return undefined;
    const { thing: key, owner } = found;
    const now = Date.now();
    if (isExpired(key.record, now)) {
      await this.#expire(hash, key);
      return undefined;
    }
    this.#uses.note(key, now);
    const { project, rights, record: { prefix } } = key;
    return { project, prefix, rights, deleting: owner.deleting };
  }

  /**
   * Returns whether a key that opened a project some time ago still does.
   *
   * @param age How long ago, in milliseconds. Beyond `KEY_CACHE_TTL` the store is read, as another process may have
   *   revoked the key.
   */
  async isStillValid(hash: string, project: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TTL) this.#cache.forget(hash);
    return (await this.find(hash))?.project === project;
  }

  /**
   * Creates another key of a project. Returns `undefined` if there is no such project.
   *
   * @throws {NoSuchProject} if the key that creates it no longer opens the project.
   */
  async create(
    project: string,
    { name, created = Date.now(), limits = {}, by, actor = COMMAND_LINE }: NewKey = {},
  ): Promise<KeyInfo & { key: ProjectKey } | undefined> {
    return await transact(this.db, async () => {
      const operation = await startCreation(this.db, project, by);
      if (operation === undefined) return { result: undefined };
      const key = newProjectKey(project);
      const record: ProjectKeyRecord = {
        ...limits,
        project,
        prefix: keyPrefix(key),
        ...(name === undefined ? {} : { name }),
        created,
      };
      addProjectKey(operation, hashSecret(key.text), record);
      const event = { event: "key.created", project, target: record.prefix } as const;
      this.events.record(operation, actor, event);
      return { operation, result: { key, ...infoOf(record) } };
    });
  }

  /** Returns the keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<KeyInfo[]> {
    if ((await this.db.reader.get(keys.project(project))).value === null) return [];
    const hashes: string[] = [];
    const index = this.db.reader.list<string>({ prefix: prefixes.projectKeyPrefixes(project) });
    for await (const { value } of index) hashes.push(value);
    await this.#uses.flush();
    const [records, uses] = await Promise.all([
      readMany<ProjectKeyRecord>(this.db.reader, hashes.map(keys.projectKey)),
      readMany<number>(this.db.reader, hashes.map(keys.projectKeyUse)),
    ]);
    const infos: KeyInfo[] = [];
    for (const [i, hash] of hashes.entries()) {
      const { value = null, versionstamp = null } = records[i] ?? {};
      if (value === null || versionstamp === null) continue;
      if (isExpired(value)) await this.#expire(hash, { record: value, versionstamp });
      else infos.push(infoOf(value, uses[i]?.value));
    }
    return infos.sort((a, b) => a.created - b.created);
  }

  /**
   * Revokes a key. Returns whether there was one with this prefix.
   *
   * @param within Keys of other drives or names stay.
   * @throws {RightMissing} if the key has permissions that these rights lack.
   */
  async revoke(
    project: string,
    prefix: string,
    { within = Rights.all, actor = COMMAND_LINE }: { within?: Rights; actor?: Actor } = {},
  ): Promise<boolean> {
    const revoked = await transact(this.db, async () => {
      const [owner, index] = await this.db.reader.getMany<[ProjectRecord, string]>([
        keys.project(project),
        keys.projectKeyPrefix(project, prefix),
      ]);
      if (owner.value === null || index.value === null) return { result: undefined };
      const hash = index.value;
      const { value } = await this.db.reader.get<ProjectKeyRecord>(keys.projectKey(hash));
      const isFound = value !== null && !isExpired(value);
      if (isFound) {
        const rights = new Rights(value);
        if (!within.coversScope(rights)) return { result: undefined };
        within.requireToRevoke(rights);
      }
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(index.key, index.versionstamp)
        .delete(index.key);
      deleteProjectKey(operation, hash, value);
      if (isFound) {
        this.events.record(operation, actor, { event: "key.revoked", project, target: prefix });
      }
      return { operation, result: { hash, isFound } };
    });
    if (revoked === undefined) return false;
    this.#cache.forget(revoked.hash);
    this.revocations.notify();
    // They open nothing since the commit. This keeps them from coming back with a key that is made again.
    await endGrants(this.db, revoked.hash);
    return revoked.isFound;
  }

  async #expire(
    hash: string,
    { record, versionstamp }: Pick<CachedKey<ProjectKeyRecord>, "record" | "versionstamp">,
  ): Promise<void> {
    await this.db.commit(expireKey(hash, record, versionstamp));
    this.#cache.forget(hash);
  }
}

/** Returns the operation that deletes an expired key, so that it does not come back if the clock is set back. */
export function expireKey(
  hash: string,
  record: ProjectKeyRecord,
  versionstamp: string,
): Operation {
  const operation = new Operation().check(keys.projectKey(hash), versionstamp);
  deleteProjectKey(operation, hash, record);
  return operation;
}

/** Returns whether a key is known and opens a project. */
export function opens(
  record: ProjectKeyRecord | null,
  project: string,
): record is ProjectKeyRecord {
  return record !== null && record.project === project && !isExpired(record);
}

/**
 * Starts the operation that adds a key to a project. Returns `undefined` if there is no such project.
 *
 * @param by SHA-256 of the project key that creates it.
 * @throws {NoSuchProject} if that key no longer opens the project.
 */
export async function startCreation(
  db: Database,
  project: string,
  by: string | undefined,
): Promise<Operation | undefined> {
  const [owner, maker] = await db.reader.getMany<[ProjectRecord, ProjectKeyRecord]>([
    keys.project(project),
    keys.projectKey(by ?? ""),
  ]);
  if (owner.value === null) return undefined;
  if (by !== undefined && !opens(maker.value, project)) throw new NoSuchProject(project);
  return new Operation().check(owner.key, owner.versionstamp)
    .check(maker.key, maker.versionstamp);
}

function placeOf(hash: string): KeyPlace {
  return { id: hash, record: keys.projectKey(hash), use: keys.projectKeyUse(hash) };
}

function entriesOf(hash: string, { project, prefix }: ProjectKeyRecord): KeyEntries {
  return { ...placeOf(hash), index: keys.projectKeyPrefix(project, prefix) };
}

/** Adds a new key. The operation fails if another key of the project has the same prefix. */
export function addProjectKey(operation: Operation, hash: string, record: ProjectKeyRecord): void {
  operation.check(keys.projectKeyPrefix(record.project, record.prefix), null);
  setProjectKey(operation, hash, record);
}

/** Adds a key's record, its entry in the index, and the journal's entries that end both. */
export function setProjectKey(operation: Operation, hash: string, record: ProjectKeyRecord): void {
  setKey(operation, entriesOf(hash, record), record, hash);
}

/** Adds the deletion of a key with all that belongs to it. @param record Its record, if it is there. */
export function deleteProjectKey(
  operation: Operation,
  hash: string,
  record: ProjectKeyRecord | null,
): void {
  if (record !== null) return deleteKey(operation, entriesOf(hash, record), record);
  const place = placeOf(hash);
  operation.delete(place.record).delete(place.use);
}

/**
 * Returns a prefix that no other key of the project has: the wanted one, or as much of the hash as it takes. Only a key
 * that the operator chose can need another one.
 */
export async function freePrefix(
  db: Database,
  project: string,
  hash: string,
  wanted: string,
): Promise<string> {
  const ofHash = [1, 2, 4].map((times) => hash.slice(0, times * KEY_PREFIX_LENGTH));
  const candidates = [wanted, ...ofHash, hash];
  const found = await db.reader.getMany<unknown[]>(
    candidates.map((prefix) => keys.projectKeyPrefix(project, prefix)),
  );
  return candidates[found.findIndex(({ value }) => value === null)] ?? hash;
}

function infoOf(record: ProjectKeyRecord, lastUsed?: number | null): KeyInfo {
  return { prefix: record.prefix, ...basicInfo(record, lastUsed) };
}
