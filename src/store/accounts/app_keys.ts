import { hashSecret, newAppKey } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { AccessIsOff, AlreadyExists, NoSuchApp } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import type { AppKeyRecord, AppRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import type { AppStore } from "./apps.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import type { Revocations } from "./revocations.ts";

/** A key of an application without its secret. */
export type AppKeyInfo = Omit<AppKeyRecord, "project" | "app">;

/** The key that has a hash, and the application that it opens. */
export type FoundAppKey = Pick<AppKeyRecord, "project" | "app" | "name" | "prefix">;

type CachedAppKey = Owned & { appCreated: number; found: FoundAppKey };

/** The keys of applications. Only the SHA-256 of a secret is stored. */
export class AppKeyStore {
  readonly #cache: TtlCache<CachedAppKey>;

  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly apps: AppStore,
    private readonly revocations: Revocations,
    private readonly events: EventLog,
  ) {
    this.#cache = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * Creates a key. Its whole text is returned and cannot be read again.
   *
   * @throws {NoSuchApp}
   * @throws {AccessIsOff} while the access control of the application is off.
   * @throws {AlreadyExists} if the application has a key with this name.
   */
  async create(
    project: string,
    app: string,
    { name, description }: { name: string; description?: string | undefined },
    actor: Actor = COMMAND_LINE,
  ): Promise<AppKeyInfo & { text: string }> {
    return await transact(this.db, async () => {
      const [owner, current, named] = await this.db.reader.getMany<
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
      const operation = new Operation().unchanged(owner, current)
        .check(named.key, null)
        .check(index, null)
        .set(named.key, hash)
        .set(index, hash)
        .set(keys.appKey(hash), { project, app, ...info } satisfies AppKeyRecord);
      const target = `${app}/${prefix}`;
      this.events.record(operation, actor, { event: "app_key.created", project, target });
      return { operation, result: { ...info, text } };
    });
  }

  /** Returns the keys of an application in the order of their names; none if there is no such application. */
  async list(project: string, app: string): Promise<AppKeyInfo[]> {
    if (await this.apps.get(project, app) === undefined) return [];
    const found: Deno.KvKey[] = [];
    const names = this.db.reader.list<string>({
      prefix: prefixes.all("app_key_name", project, app),
    });
    for await (const { value } of names) found.push(keys.appKey(value));
    const records = await readMany<AppKeyRecord>(this.db.reader, found);
    return records.flatMap(({ value }) => value === null ? [] : [infoOf(value)]);
  }

  /** Revokes a key. Returns whether there was one with this name. */
  async revoke(
    project: string,
    app: string,
    name: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<boolean> {
    const hash = await transact(this.db, async () => {
      const [owner, current, named] = await this.db.reader.getMany<
        [ProjectRecord, AppRecord, string]
      >([keys.project(project), keys.app(project, app), keys.appKeyName(project, app, name)]);
      if (owner.value === null || current.value === null || named.value === null) {
        return { result: undefined };
      }
      const { value } = await this.db.reader.get<AppKeyRecord>(keys.appKey(named.value));
      if (value === null) return undefined;
      const operation = new Operation().unchanged(owner, named)
        .delete(named.key)
        .delete(keys.appKeyPrefix(project, app, value.prefix))
        .delete(keys.appKey(named.value));
      const target = `${app}/${value.prefix}`;
      this.events.record(operation, actor, { event: "app_key.revoked", project, target });
      return { operation, result: named.value };
    });
    if (hash === undefined) return false;
    this.#cache.forget(hash);
    this.revocations.notify();
    return true;
  }

  /** Returns the key with this hash, cached for `KEY_CACHE_TTL`, or `undefined`. */
  async find(hash: string): Promise<FoundAppKey | undefined> {
    // The key and the application may be cached from different times. If they do not match, both are read once more.
    for (let tries = 0; tries < 2; tries++) {
      const known = await this.projects.findOwned(this.#cache, hash);
      if (known === undefined) return undefined;
      const { found, appCreated } = known.thing;
      const app = await this.apps.find(found.project, found.app);
      // A later application with the same name has another time of creation.
      if (app?.created === appCreated) return found;
      this.#cache.forget(hash);
      this.apps.forget(found.project, found.app);
    }
    return undefined;
  }

  /** Reads a key together with its application and project: the second read is of one moment. */
  async #read(hash: string): Promise<CachedAppKey | undefined> {
    const [first] = await this.db.reads.get<[AppKeyRecord]>([keys.appKey(hash)]);
    if (first.value === null) return undefined;
    const { project, app, name, prefix } = first.value;
    const [key, current, owner] = await this.db.reads.get<
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

function infoOf({ project: _, app: _app, ...info }: AppKeyRecord): AppKeyInfo {
  return info;
}
