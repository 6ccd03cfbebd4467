import { KEY_CACHE_SIZE, KEY_CACHE_TIME } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { keys, prefixes } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { ProjectKeyRecord, ProjectRecord } from "./records.ts";

/** Projects, the keys that open them, and the administrator's token. Of secrets it knows only the SHA-256. */
export class ProjectStore {
  readonly #db: Database;
  readonly #known = new Map<string, { project: string; until: number }>();

  constructor(db: Database) {
    this.#db = db;
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.#db.reader.list({ prefix: prefixes.projects() }, { limit: 1 })) {
      return false;
    }
    return true;
  }

  /** Makes sure that a project exists and that the key with this hash opens it. */
  async ensure(project: string, keyHash: string): Promise<void> {
    const [owner, key] = await this.#db.reader.getMany<[ProjectRecord, ProjectKeyRecord]>([
      keys.project(project),
      keys.projectKey(keyHash),
    ]);
    const created = Date.now();
    const operation = new Operation();
    if (owner.value === null) operation.set(owner.key, { created } satisfies ProjectRecord);
    if (key.value === null) operation.set(key.key, { project, created } satisfies ProjectKeyRecord);
    await this.#db.commit(operation);
  }

  /**
   * The project that the key with this hash opens. What the store said is believed for a few seconds, so that a busy
   * key costs no read.
   */
  async projectOf(keyHash: string): Promise<string | undefined> {
    const now = Date.now();
    const known = this.#known.get(keyHash);
    if (known !== undefined && known.until > now) return known.project;
    const { value } = await this.#db.reader.get<ProjectKeyRecord>(keys.projectKey(keyHash));
    this.#known.delete(keyHash);
    if (value === null) return undefined;
    if (this.#known.size >= KEY_CACHE_SIZE) this.#known.clear();
    this.#known.set(keyHash, { project: value.project, until: now + KEY_CACHE_TIME });
    return value.project;
  }

  async hasAdminToken(): Promise<boolean> {
    return (await this.#db.reader.get(keys.adminToken())).value !== null;
  }

  /** Makes the token with this hash the only one. */
  async setAdminToken(hash: string): Promise<void> {
    await this.#db.commit(new Operation().set(keys.adminToken(), hash));
  }
}
