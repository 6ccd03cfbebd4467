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
import { readMany } from "../engine/read_queue.ts";
import type { ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import type { Revocations } from "./revocations.ts";

/** Adds a key, or what it is listed by; fails where another key of the project has that prefix. */
export function setKey(
  operation: Operation,
  hash: string,
  record: ProjectKeyRecord & { prefix: string },
): void {
  const index = keys.projectKeyPrefix(record.project, record.prefix);
  operation.check(index, null).set(index, hash).set(keys.projectKey(hash), record);
}

/** The first prefix for a key that no other key of the project has: the wished one, or as much of the hash as it takes. */
export async function freePrefix(
  db: Database,
  project: string,
  hash: string,
  wished = hash.slice(0, KEY_PREFIX_LENGTH),
): Promise<string> {
  const candidates = [
    wished,
    ...[1, 2, 4].map((times) => hash.slice(0, times * KEY_PREFIX_LENGTH)),
    hash,
  ];
  const found = await db.reader.getMany<unknown[]>(
    candidates.map((prefix) => keys.projectKeyPrefix(project, prefix)),
  );
  return candidates[found.findIndex(({ value }) => value === null)] ?? hash;
}

/** Gives the keys of older stores, of which only the hash is there, something to be listed by. */
async function indexOldKeys(db: Database): Promise<void> {
  const all = db.reader.list<ProjectKeyRecord>({ prefix: prefixes.projectKeys() });
  for await (const { key, value } of all) {
    if (value.prefix === undefined) await indexOldKey(db, String(key.at(-1)));
  }
}

async function indexOldKey(db: Database, hash: string): Promise<void> {
  await transact(db, async () => {
    const { key, value, versionstamp } = await db.reader.get<ProjectKeyRecord>(
      keys.projectKey(hash),
    );
    if (value === null || value.prefix !== undefined) return { result: undefined };
    const owner = await db.reader.get<ProjectRecord>(keys.project(value.project));
    if (owner.value === null) return { result: undefined };
    const prefix = await freePrefix(db, value.project, hash);
    const operation = new Operation().check(key, versionstamp).check(owner.key, owner.versionstamp);
    setKey(operation, hash, { ...value, prefix });
    return { operation, result: undefined };
  });
}

/** A project key without its secret. */
export interface KeyInfo {
  /** What it is listed by, unique in the project. */
  prefix: string;
  name?: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** A key as every request needs it. */
interface KnownKey extends Owned {
  prefix: string;
}

/** The keys that open projects. Of secrets it knows only the SHA-256. */
export class ProjectKeyStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #revocations: Revocations;
  readonly #known: TtlCache<KnownKey>;
  #indexed: Promise<void> | undefined;

  constructor(db: Database, projects: ProjectCache, revocations: Revocations) {
    this.#db = db;
    this.#projects = projects;
    this.#revocations = revocations;
    this.#known = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * The project that the key with this hash opens, which of its drives are being removed, and what the key is listed by. What the store said is
   * believed for a few seconds, so that a busy key costs no read.
   */
  async find(
    hash: string,
  ): Promise<{ project: string; prefix: string; removing: readonly string[] } | undefined> {
    const found = await this.#projects.findOwned(this.#known, hash);
    if (found === undefined) return undefined;
    const { project, prefix } = found.thing;
    return { project, prefix, removing: found.owner.deleting };
  }

  /**
   * Whether a key that opened a project some time ago still does.
   *
   * @param age How long ago, in milliseconds. After `KEY_CACHE_TIME` the store is asked, as another process may have revoked
   *   the key.
   */
  async isStillValid(hash: string, project: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TTL) this.#known.forget(hash);
    return (await this.find(hash))?.project === project;
  }

  /** Makes one more key of a project; `undefined` where there is no such project. */
  async create(
    project: string,
    name?: string,
  ): Promise<KeyInfo & { key: ProjectKey } | undefined> {
    await this.#indexOnce();
    return await transact(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const key = newProjectKey(project);
      const info: KeyInfo & { key: ProjectKey } = {
        key,
        prefix: keyPrefix(key),
        ...(name === undefined ? {} : { name }),
        created: Date.now(),
      };
      const operation = new Operation().check(owner.key, owner.versionstamp);
      const { key: _, ...record } = info;
      setKey(operation, hashSecret(key.text), { project, ...record });
      return { operation, result: info };
    });
  }

  /** The keys of a project, the oldest first; none where there is no such project. */
  async list(project: string): Promise<KeyInfo[]> {
    await this.#indexOnce();
    if ((await this.#db.reader.get(keys.project(project))).value === null) return [];
    const found: Deno.KvKey[] = [];
    const index = this.#db.reader.list<string>({ prefix: prefixes.projectKeyPrefixes(project) });
    for await (const { value } of index) found.push(keys.projectKey(value));
    const records = await readMany<ProjectKeyRecord>(this.#db.reader, found);
    const infos = records.flatMap(({ value }) => value === null ? [] : [infoOf(value)]);
    return infos.sort((a, b) => a.created - b.created);
  }

  /** Makes a key open nothing any more; gives whether there was one. */
  async revoke(project: string, prefix: string): Promise<boolean> {
    await this.#indexOnce();
    const hash = await transact(this.#db, async () => {
      const [owner, index] = await this.#db.reader.getMany<[ProjectRecord, string]>([
        keys.project(project),
        keys.projectKeyPrefix(project, prefix),
      ]);
      if (owner.value === null || index.value === null) return { result: undefined };
      const operation = new Operation().check(index.key, index.versionstamp)
        .delete(index.key)
        .delete(keys.projectKey(index.value));
      return { operation, result: index.value };
    });
    if (hash === undefined) return false;
    this.#known.forget(hash);
    this.#revocations.notify();
    return true;
  }

  /** What a key opens, read together with its project, so that the two belong together. */
  async #read(hash: string): Promise<KnownKey | undefined> {
    const [first] = await this.#db.reads.get<[ProjectKeyRecord]>([keys.projectKey(hash)]);
    if (first.value === null) return undefined;
    const { project } = first.value;
    const [key, owner] = await this.#db.reads.get<[ProjectKeyRecord, ProjectRecord]>([
      first.key,
      keys.project(project),
    ]);
    if (key.value === null || owner.value === null) return undefined;
    // Keys of older stores get theirs when somebody asks for it: of the hash as well.
    const { prefix = hash.slice(0, KEY_PREFIX_LENGTH) } = key.value;
    return { project, projectCreated: owner.value.created, prefix };
  }

  /** Keys of older stores are found once by whoever first asks for the keys of a project. */
  async #indexOnce(): Promise<void> {
    this.#indexed ??= indexOldKeys(this.#db);
    try {
      await this.#indexed;
    } catch (error) {
      this.#indexed = undefined;
      throw error;
    }
  }
}

function infoOf({ prefix = "", name, created }: ProjectKeyRecord): KeyInfo {
  return { prefix, ...(name === undefined ? {} : { name }), created };
}
