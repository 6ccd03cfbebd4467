import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { NoSuchApp, NoSuchProject } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type {
  AppRecord,
  ProjectKeyRecord,
  ProjectRecord,
  SessionRecord,
} from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import { setExpiring } from "../files/garbage.ts";
import type { AppStore } from "./apps.ts";
import type { ProjectKeyStore } from "./project_keys.ts";
import type { Revocations } from "./revocations.ts";

/** How long a browser stays signed in: who works with an application signs in once a day. */
export const SESSION_TIME = 24 * 60 * MINUTE;

/** Browsers in which the owner of an application signed in. Of their tokens it knows only the SHA-256. */
export class SessionStore {
  readonly #db: Database;
  readonly #keyStore: ProjectKeyStore;
  readonly #apps: AppStore;
  readonly #revocations: Revocations;
  readonly #known: TtlCache<SessionRecord>;

  constructor(
    db: Database,
    keyStore: ProjectKeyStore,
    apps: AppStore,
    revocations: Revocations,
  ) {
    this.#db = db;
    this.#keyStore = keyStore;
    this.#apps = apps;
    this.#revocations = revocations;
    this.#known = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * Starts a session; gives its token, which nobody can read again, and when it ends (milliseconds since 1970).
   *
   * @param projectKey The SHA-256 of the project key that it is started with.
   * @throws {NoSuchProject} if that key does not open the project, or not any more.
   * @throws {NoSuchApp}
   */
  async start(
    project: string,
    app: string,
    projectKey: string,
  ): Promise<{ token: string; expires: number }> {
    return await transact(this.#db, async () => {
      const [owner, key, current] = await this.#db.reader.getMany<
        [ProjectRecord, ProjectKeyRecord, AppRecord]
      >([keys.project(project), keys.projectKey(projectKey), keys.app(project, app)]);
      if (owner.value === null || key.value?.project !== project) throw new NoSuchProject(project);
      if (current.value === null) throw new NoSuchApp(app);
      const token = newSecret();
      const expires = Date.now() + SESSION_TIME;
      const record: SessionRecord = { project, app, projectKey, expires };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(key.key, key.versionstamp)
        .check(current.key, current.versionstamp);
      const id = hashSecret(token);
      const session = { key: keys.session(id), value: record, deadline: expires, id };
      setExpiring(operation, { project }, session);
      return { operation, result: { token, expires } };
    });
  }

  /**
   * The application that a session opens, believed for a few seconds; `undefined` where its time is over, it was ended,
   * or its project key opens the project no more. A session that was once found to be over stays so, as it is deleted then:
   * a system clock that is set back does not revive it.
   */
  async find(hash: string): Promise<{ project: string; app: string } | undefined> {
    const session = await this.#known.get(hash);
    if (session === undefined) return undefined;
    if (session.expires <= Date.now()) {
      await this.#remove(hash);
      return undefined;
    }
    const { project, app, projectKey } = session;
    const key = await this.#keyStore.find(projectKey);
    if (key?.project !== project || await this.#apps.find(project, app) === undefined) {
      return undefined;
    }
    return { project, app };
  }

  /** Ends a session, if there is one. */
  async end(hash: string): Promise<void> {
    await this.#remove(hash);
    this.#revocations.notify();
  }

  async #remove(hash: string): Promise<void> {
    await this.#db.commit(new Operation().delete(keys.session(hash)));
    this.#known.forget(hash);
  }

  async #read(hash: string): Promise<SessionRecord | undefined> {
    const [{ value }] = await this.#db.reads.get<[SessionRecord]>([keys.session(hash)]);
    return value ?? undefined;
  }
}
