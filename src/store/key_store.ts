import { KEY_CACHE_TIME, KEY_PREFIX } from "../drive/limits.ts";
import { hashSecret, newProjectKey, prefixOf, type ProjectKey } from "../drive/secrets.ts";
import { Believed } from "./believed.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { indexOldKeys, setKey } from "./key_index.ts";
import { keys, prefixes } from "./keys.ts";
import type { KnownProjects, Owned } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import { readMany } from "./read_many.ts";
import type { ProjectKeyRecord, ProjectRecord } from "./records.ts";
import type { Revocations } from "./revocations.ts";

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
export class KeyStore {
  readonly #db: Database;
  readonly #projects: KnownProjects;
  readonly #revocations: Revocations;
  readonly #known: Believed<KnownKey>;
  #indexed: Promise<void> | undefined;

  constructor(db: Database, projects: KnownProjects, revocations: Revocations) {
    this.#db = db;
    this.#projects = projects;
    this.#revocations = revocations;
    this.#known = new Believed((hash) => this.#read(hash));
  }

  /**
   * The project that the key with this hash opens, which of its drives are being removed, and what the key is listed by. What the store said is
   * believed for a few seconds, so that a busy key costs no read.
   */
  async opens(
    hash: string,
  ): Promise<{ project: string; prefix: string; removing: readonly string[] } | undefined> {
    const found = await this.#projects.owned(this.#known, hash);
    if (found === undefined) return undefined;
    const { project, prefix } = found.thing;
    return { project, prefix, removing: found.owner.removing };
  }

  /**
   * Whether a key that opened a project some time ago still does.
   *
   * @param age How long ago, in milliseconds. After `KEY_CACHE_TIME` the store is asked, as another process may have revoked
   *   the key.
   */
  async stillOpens(hash: string, project: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TIME) this.#known.forget(hash);
    return (await this.opens(hash))?.project === project;
  }

  /** Makes one more key of a project; `undefined` where there is no such project. */
  async createKey(
    project: string,
    name?: string,
  ): Promise<KeyInfo & { key: ProjectKey } | undefined> {
    await this.#indexOnce();
    return await decide(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const key = newProjectKey(project);
      const info: KeyInfo & { key: ProjectKey } = {
        key,
        prefix: prefixOf(key),
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
  async listKeys(project: string): Promise<KeyInfo[]> {
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
  async revokeKey(project: string, prefix: string): Promise<boolean> {
    await this.#indexOnce();
    const hash = await decide(this.#db, async () => {
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
    this.#revocations.changed();
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
    const { prefix = hash.slice(0, KEY_PREFIX) } = key.value;
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
