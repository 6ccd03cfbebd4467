import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { DAY } from "../../rules/units.ts";
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
import { setExpiring } from "../bytes/garbage.ts";
import type { AppStore } from "../accounts/apps.ts";
import type { EventLog } from "../accounts/events.ts";
import { opens } from "../accounts/key_entries.ts";
import type { ProjectKeyStore } from "../accounts/project_keys.ts";
import type { Revocations } from "../accounts/revocations.ts";

/** How long a browser stays signed in to an application, in milliseconds. */
export const SESSION_TIME = DAY;

/** The sessions of browsers in which the owner of an application signed in. Only the SHA-256 of a token is stored. */
export class SessionStore {
  readonly #cache: TtlCache<SessionRecord>;

  constructor(
    private readonly db: Database,
    private readonly projectKeys: ProjectKeyStore,
    private readonly apps: AppStore,
    private readonly revocations: Revocations,
    private readonly events: EventLog,
  ) {
    this.#cache = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * Starts a session. Returns its token, which cannot be read again, and its end in milliseconds since 1970.
   *
   * @param projectKey The SHA-256 of the project key that starts it, in hexadecimal.
   * @param address The client's address.
   * @throws {NoSuchProject} if that key does not open the project.
   * @throws {NoSuchApp}
   */
  async start(
    project: string,
    app: string,
    projectKey: string,
    address = "",
  ): Promise<{ token: string; expires: number }> {
    return await transact(this.db, async () => {
      const [owner, key, current] = await this.db.reader.getMany<
        [ProjectRecord, ProjectKeyRecord, AppRecord]
      >([keys.project(project), keys.projectKey(projectKey), keys.app(project, app)]);
      if (owner.value === null || !opens(key.value, project)) throw new NoSuchProject(project);
      if (current.value === null) throw new NoSuchApp(app);
      const token = newSecret();
      const expires = Date.now() + SESSION_TIME;
      const record: SessionRecord = { project, app, projectKey, expires };
      const operation = new Operation().unchanged(owner, key, current);
      const id = hashSecret(token);
      const session = { key: keys.session(id), value: record, deadline: expires, id };
      setExpiring(operation, { project }, session);
      const actor = { by: key.value.prefix, address };
      this.events.record(operation, actor, { event: "gate.signed_in", project, target: app });
      return { operation, result: { token, expires } };
    });
  }

  /**
   * Returns the application that a session opens, cached for `KEY_CACHE_TTL`; `undefined` if the session has expired or
   * was ended, or if its project key no longer opens the project. An expired session is deleted here, so a system clock
   * that is set back does not revive it.
   */
  async find(hash: string): Promise<{ project: string; app: string } | undefined> {
    const session = await this.#cache.get(hash);
    if (session === undefined) return undefined;
    if (session.expires <= Date.now()) {
      await this.#delete(hash);
      return undefined;
    }
    const { project, app, projectKey } = session;
    const key = await this.projectKeys.find(projectKey);
    if (key?.project !== project || await this.apps.find(project, app) === undefined) {
      return undefined;
    }
    return { project, app };
  }

  /** Ends a session, if there is one with this hash. */
  async end(hash: string): Promise<void> {
    await this.#delete(hash);
    this.revocations.notify();
  }

  async #delete(hash: string): Promise<void> {
    await this.db.commit(new Operation().delete(keys.session(hash)));
    this.#cache.forget(hash);
  }

  async #read(hash: string): Promise<SessionRecord | undefined> {
    const [{ value }] = await this.db.reads.get<[SessionRecord]>([keys.session(hash)]);
    return value ?? undefined;
  }
}
