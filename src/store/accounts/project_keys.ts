import {
  hashSecret,
  KEY_PREFIX_LENGTH,
  keyPrefix,
  newProjectKey,
  type ProjectKey,
} from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import type { ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import type { Revocations } from "./revocations.ts";

/** A project key without its secret. */
export interface KeyInfo {
  /** Names the key in lists; unique in the project. */
  prefix: string;
  name?: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** The project that a key opens. */
export interface FoundProjectKey {
  project: string;
  prefix: string;
  /** Drives of the project that are being deleted. */
  deleting: readonly string[];
}

/** A key as every request needs it. */
interface CachedKey extends Owned {
  prefix: string;
}

/** The keys of projects. Only the SHA-256 of a secret is stored. */
export class ProjectKeyStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #revocations: Revocations;
  readonly #events: EventLog;
  readonly #cache: TtlCache<CachedKey>;

  constructor(
    db: Database,
    projects: ProjectCache,
    revocations: Revocations,
    events: EventLog,
  ) {
    this.#db = db;
    this.#projects = projects;
    this.#revocations = revocations;
    this.#events = events;
    this.#cache = new TtlCache((hash) => this.#read(hash));
  }

  /** Returns what the key with this hash opens, or `undefined`. The answer is cached for `KEY_CACHE_TTL`. */
  async find(hash: string): Promise<FoundProjectKey | undefined> {
    const found = await this.#projects.findOwned(this.#cache, hash);
    if (found === undefined) return undefined;
    const { project, prefix } = found.thing;
    return { project, prefix, deleting: found.owner.deleting };
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

  /** Creates another key of a project. Returns `undefined` if there is no such project. */
  async create(
    project: string,
    name?: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<KeyInfo & { key: ProjectKey } | undefined> {
    return await transact(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const key = newProjectKey(project);
      const info: KeyInfo = {
        prefix: keyPrefix(key),
        ...(name === undefined ? {} : { name }),
        created: Date.now(),
      };
      const operation = new Operation().check(owner.key, owner.versionstamp);
      addProjectKey(operation, hashSecret(key.text), { project, ...info });
      const event = { event: "key.created", project, target: info.prefix } as const;
      this.#events.record(operation, actor, event);
      return { operation, result: { key, ...info } };
    });
  }

  /** Returns the keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<KeyInfo[]> {
    if ((await this.#db.reader.get(keys.project(project))).value === null) return [];
    const found: Deno.KvKey[] = [];
    const index = this.#db.reader.list<string>({ prefix: prefixes.projectKeyPrefixes(project) });
    for await (const { value } of index) found.push(keys.projectKey(value));
    const records = await readMany<ProjectKeyRecord>(this.#db.reader, found);
    const infos = records.flatMap(({ value }) => value === null ? [] : [infoOf(value)]);
    return infos.sort((a, b) => a.created - b.created);
  }

  /** Revokes a key. Returns whether there was one with this prefix. */
  async revoke(
    project: string,
    prefix: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<boolean> {
    const hash = await transact(this.#db, async () => {
      const [owner, index] = await this.#db.reader.getMany<[ProjectRecord, string]>([
        keys.project(project),
        keys.projectKeyPrefix(project, prefix),
      ]);
      if (owner.value === null || index.value === null) return { result: undefined };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(index.key, index.versionstamp)
        .delete(index.key)
        .delete(keys.projectKey(index.value));
      this.#events.record(operation, actor, { event: "key.revoked", project, target: prefix });
      return { operation, result: index.value };
    });
    if (hash === undefined) return false;
    this.#cache.forget(hash);
    this.#revocations.notify();
    return true;
  }

  /** Reads a key together with its project: the second read is of one moment. */
  async #read(hash: string): Promise<CachedKey | undefined> {
    const [first] = await this.#db.reads.get<[ProjectKeyRecord]>([keys.projectKey(hash)]);
    if (first.value === null) return undefined;
    const { project } = first.value;
    const [key, owner] = await this.#db.reads.get<[ProjectKeyRecord, ProjectRecord]>([
      first.key,
      keys.project(project),
    ]);
    if (key.value === null || owner.value === null) return undefined;
    return { project, projectCreated: owner.value.created, prefix: key.value.prefix };
  }
}

/** Adds a new key. The operation fails if another key of the project has the same prefix. */
export function addProjectKey(
  operation: Operation,
  hash: string,
  record: ProjectKeyRecord,
): void {
  const index = keys.projectKeyPrefix(record.project, record.prefix);
  operation.check(index, null).set(index, hash).set(keys.projectKey(hash), record);
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

function infoOf({ prefix, name, created }: ProjectKeyRecord): KeyInfo {
  return { prefix, ...(name === undefined ? {} : { name }), created };
}
