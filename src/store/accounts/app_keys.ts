import { hashSecret, newAppKey } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { AccessIsOff, AlreadyExists, NoSuchApp } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import { readMany } from "../engine/read_queue.ts";
import type { AppKeyRecord, AppRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import type { AppStore } from "./apps.ts";
import type { Revocations } from "./revocations.ts";

/** A key of an application without its secret. */
export interface AppKeyInfo {
  name: string;
  description?: string;
  prefix: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** Which key it is that somebody sent. */
export interface FoundAppKey {
  project: string;
  app: string;
  name: string;
  prefix: string;
}

type KnownAppKey = Owned & { appCreated: number; found: FoundAppKey };

/** The keys of applications. Of secrets it knows only the SHA-256. */
export class AppKeyStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #apps: AppStore;
  readonly #revocations: Revocations;
  readonly #known: TtlCache<KnownAppKey>;

  constructor(
    db: Database,
    projects: ProjectCache,
    apps: AppStore,
    revocations: Revocations,
  ) {
    this.#db = db;
    this.#projects = projects;
    this.#apps = apps;
    this.#revocations = revocations;
    this.#known = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * Makes a key; `text` is the whole of it, which nobody can read again.
   *
   * @throws {NoSuchApp}
   * @throws {AccessIsOff} while access control of the application is.
   * @throws {AlreadyExists} if the application has a key of that name.
   */
  async create(
    project: string,
    app: string,
    { name, description }: { name: string; description?: string | undefined },
  ): Promise<AppKeyInfo & { text: string }> {
    return await transact(this.#db, async () => {
      const [owner, current, named] = await this.#db.reader.getMany<
        [ProjectRecord, AppRecord, string]
      >([keys.project(project), keys.app(project, app), keys.appKeyName(project, app, name)]);
      if (owner.value === null || current.value === null) throw new NoSuchApp(app);
      if (!current.value.access) throw new AccessIsOff(app);
      if (named.value !== null) throw new AlreadyExists("key name", name);
      const { text, prefix } = newAppKey();
      const info: AppKeyInfo = {
        name,
        ...(description === undefined ? {} : { description }),
        prefix,
        created: Date.now(),
      };
      const hash = hashSecret(text);
      const index = keys.appKeyPrefix(project, app, prefix);
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, current.versionstamp)
        .check(named.key, null)
        .check(index, null)
        .set(named.key, hash)
        .set(index, hash)
        .set(keys.appKey(hash), { project, app, ...info } satisfies AppKeyRecord);
      return { operation, result: { ...info, text } };
    });
  }

  /** The keys of an application in the order of their names; none where there is no such application. */
  async list(project: string, app: string): Promise<AppKeyInfo[]> {
    if (await this.#apps.get(project, app) === undefined) return [];
    const found: Deno.KvKey[] = [];
    const names = this.#db.reader.list<string>({ prefix: prefixes.appKeyNames(project, app) });
    for await (const { value } of names) found.push(keys.appKey(value));
    const records = await readMany<AppKeyRecord>(this.#db.reader, found);
    return records.flatMap(({ value }) => value === null ? [] : [infoOf(value)]);
  }

  /** Makes a key open nothing any more; gives whether there was one. */
  async revoke(project: string, app: string, name: string): Promise<boolean> {
    const hash = await transact(this.#db, async () => {
      const [current, named] = await this.#db.reader.getMany<[AppRecord, string]>([
        keys.app(project, app),
        keys.appKeyName(project, app, name),
      ]);
      if (current.value === null || named.value === null) return { result: undefined };
      const { value } = await this.#db.reader.get<AppKeyRecord>(keys.appKey(named.value));
      if (value === null) return undefined;
      const operation = new Operation().check(named.key, named.versionstamp)
        .delete(named.key)
        .delete(keys.appKeyPrefix(project, app, value.prefix))
        .delete(keys.appKey(named.value));
      return { operation, result: named.value };
    });
    if (hash === undefined) return false;
    this.#known.forget(hash);
    this.#revocations.notify();
    return true;
  }

  /** Which key has this hash, believed for a few seconds, so that it costs no read. */
  async find(hash: string): Promise<FoundAppKey | undefined> {
    // Key and application are believed from different moments on, so they are compared once more as they are now.
    for (let tries = 0; tries < 2; tries++) {
      const known = await this.#projects.findOwned(this.#known, hash);
      if (known === undefined) return undefined;
      const { found, appCreated } = known.thing;
      const app = await this.#apps.find(found.project, found.app);
      // An application of the same name that was made later is another one.
      if (app?.created === appCreated) return found;
      this.#known.forget(hash);
      this.#apps.forget(found.project, found.app);
    }
    return undefined;
  }

  /** Read together with the application and the project, so that the three belong together. */
  async #read(hash: string): Promise<KnownAppKey | undefined> {
    const [first] = await this.#db.reads.get<[AppKeyRecord]>([keys.appKey(hash)]);
    if (first.value === null) return undefined;
    const { project, app, name, prefix } = first.value;
    const [key, current, owner] = await this.#db.reads.get<
      [AppKeyRecord, AppRecord, ProjectRecord]
    >([first.key, keys.app(project, app), keys.project(project)]);
    if (key.value === null || current.value === null || owner.value === null) return undefined;
    return {
      project,
      projectCreated: owner.value.created,
      appCreated: current.value.created,
      found: { project, app, name, prefix },
    };
  }
}

function infoOf({ name, description, prefix, created }: AppKeyRecord): AppKeyInfo {
  return { name, ...(description === undefined ? {} : { description }), prefix, created };
}
