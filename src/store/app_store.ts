import { appNameProblem, hostProblem } from "../drive/applications.ts";
import { isProjectId } from "../drive/names.ts";
import { Believed } from "./believed.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { AlreadyExists, BeingRemoved, NoSuchProject } from "./errors.ts";
import { keys, prefixes } from "./keys.ts";
import type { KnownProjects, Owned } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import type { AppHostRecord, AppRecord, ProjectRecord, RemovalMarker } from "./records.ts";
import type { Remover } from "./remover.ts";
import type { Revocations } from "./revocations.ts";

export interface AppInfo extends AppRecord {
  project: string;
  app: string;
}

/** What of an application can be changed. `null` takes away. */
export interface AppChanges {
  upstream?: string | null | undefined;
  host?: string | null | undefined;
  access?: boolean | undefined;
}

type KnownApp = Owned & { info: AppInfo };

/** The applications of all projects. */
export class AppStore {
  readonly #db: Database;
  readonly #projects: KnownProjects;
  readonly #revocations: Revocations;
  readonly #remover: Remover;
  readonly #wake: () => void;
  readonly #known: Believed<KnownApp>;
  readonly #hosts: Believed<AppHostRecord>;

  /** @param wake Called when there is something to be removed in the background. */
  constructor(
    db: Database,
    projects: KnownProjects,
    revocations: Revocations,
    remover: Remover,
    wake: () => void,
  ) {
    this.#db = db;
    this.#projects = projects;
    this.#revocations = revocations;
    this.#remover = remover;
    this.#wake = wake;
    this.#known = new Believed((id) => this.#readKnown(id), { absence: true });
    this.#hosts = new Believed((host) => this.#readHost(host), { absence: true });
  }

  /**
   * Makes an application, whose access control is off.
   *
   * @throws {NoSuchProject}
   * @throws {AlreadyExists} if the project has one of that name, or any application that host name.
   * @throws {BeingRemoved} if one of that name was removed just now.
   */
  async create(
    project: string,
    app: string,
    { upstream, host }: { upstream?: string | undefined; host?: string | undefined },
  ): Promise<AppInfo> {
    const info = await decide(this.#db, async () => {
      const [owner, current, removal] = await this.#db.reader.getMany<
        [ProjectRecord, AppRecord, RemovalMarker]
      >([keys.project(project), keys.app(project, app), keys.appRemoval(project, app)]);
      if (owner.value === null) throw new NoSuchProject(project);
      if (current.value !== null) throw new AlreadyExists("app", app);
      if (removal.value !== null) throw new BeingRemoved("app", app);
      const record: AppRecord = {
        created: Date.now(),
        ...(upstream === undefined ? {} : { upstream }),
        ...(host === undefined ? {} : { host }),
        access: false,
      };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, null)
        .check(removal.key, null)
        .set(current.key, record);
      if (host !== undefined) await this.#claimHost(operation, project, app, host);
      return { operation, result: { project, app, ...record } };
    });
    this.#forget(info);
    return info;
  }

  /** The applications of a project in the order of their names; none where there is no such project. */
  async list(project: string): Promise<AppInfo[]> {
    if ((await this.#db.reader.get(keys.project(project))).value === null) return [];
    const entries = this.#db.reader.list<AppRecord>({ prefix: prefixes.apps(project) });
    return await Array.fromAsync(
      entries,
      ({ key, value }) => ({ project, app: String(key.at(-1)), ...value }),
    );
  }

  /** An application as it is in the store now. */
  async get(project: string, app: string): Promise<AppInfo | undefined> {
    return (await this.#read(project, app))?.info;
  }

  /** The same, believed for a few seconds, so that it costs no read. Takes whatever a caller sent. */
  async find(project: string, app: string): Promise<AppInfo | undefined> {
    if (!isProjectId(project) || appNameProblem(app) !== undefined) return undefined;
    return (await this.#projects.owned(this.#known, idOf(project, app)))?.thing.info;
  }

  /** The application that has a host name (in lower case), believed for a few seconds. Takes whatever a caller sent. */
  async findByHost(host: string): Promise<AppInfo | undefined> {
    if (hostProblem(host) !== undefined) return undefined;
    const owner = await this.#hosts.get(host);
    const info = owner === undefined ? undefined : await this.find(owner.project, owner.app);
    return info?.host === host ? info : undefined;
  }

  /**
   * Changes what is given; `undefined` where there is no such application.
   *
   * @throws {AlreadyExists} if another application has the host name.
   */
  async update(project: string, app: string, changes: AppChanges): Promise<AppInfo | undefined> {
    const change = await decide(this.#db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const record = changed(current.value, changes);
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, current.versionstamp)
        .set(current.key, record);
      const before: AppInfo = { project, app, ...current.value };
      if (record.host !== before.host) {
        if (before.host !== undefined) operation.delete(keys.appHost(before.host));
        if (record.host !== undefined) await this.#claimHost(operation, project, app, record.host);
      }
      return { operation, result: { before, after: { project, app, ...record } } };
    });
    if (change === undefined) return undefined;
    this.#forget(change.before);
    this.#forget(change.after);
    this.#revocations.changed();
    return change.after;
  }

  /** Removes an application, its keys with it; gives whether there was one. */
  async remove(project: string, app: string): Promise<boolean> {
    const removed = await decide(this.#db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const marker: RemovalMarker = { kind: "app", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, current.versionstamp)
        .delete(current.key)
        .set(keys.appRemoval(project, app), marker);
      const { host } = current.value;
      if (host !== undefined) operation.delete(keys.appHost(host));
      return { operation, result: { project, app, ...current.value } };
    });
    if (removed === undefined) return false;
    this.#forget(removed);
    this.#revocations.changed();
    try {
      await this.#remover.run(keys.appRemoval(project, app));
    } catch {
      // Without their application the keys open nothing: it is done, and what is left the sweeper does, or reports.
      this.#wake();
    }
    return true;
  }

  async #claimHost(
    operation: Operation,
    project: string,
    app: string,
    host: string,
  ): Promise<void> {
    const key = keys.appHost(host);
    if ((await this.#db.reader.get(key)).value !== null) throw new AlreadyExists("host", host);
    operation.check(key, null).set(key, { project, app } satisfies AppHostRecord);
  }

  async #readHost(host: string): Promise<AppHostRecord | undefined> {
    const [{ value }] = await this.#db.reads.get<[AppHostRecord]>([keys.appHost(host)]);
    return value ?? undefined;
  }

  async #readKnown(id: string): Promise<KnownApp | undefined> {
    const [project = "", app = ""] = id.split("/");
    return await this.#read(project, app);
  }

  async #read(project: string, app: string): Promise<KnownApp | undefined> {
    const [owner, { value }] = await this.#readBoth(project, app);
    if (owner.value === null || value === null) return undefined;
    return { project, projectCreated: owner.value.created, info: { project, app, ...value } };
  }

  async #readBoth(
    project: string,
    app: string,
  ): Promise<[Deno.KvEntryMaybe<ProjectRecord>, Deno.KvEntryMaybe<AppRecord>]> {
    return await this.#db.reads.get<[ProjectRecord, AppRecord]>([
      keys.project(project),
      keys.app(project, app),
    ]);
  }

  /** Asks the store anew for an application. */
  forget(project: string, app: string): void {
    this.#known.forget(idOf(project, app));
  }

  #forget({ project, app, host }: AppInfo): void {
    this.forget(project, app);
    if (host !== undefined) this.#hosts.forget(host);
  }
}

/** Neither a project's id nor an application's name has a slash. */
function idOf(project: string, app: string): string {
  return `${project}/${app}`;
}

function changed(record: AppRecord, { upstream, host, access }: AppChanges): AppRecord {
  const after = { ...record, ...(access === undefined ? {} : { access }) };
  if (upstream === null) delete after.upstream;
  else if (upstream !== undefined) after.upstream = upstream;
  if (host === null) delete after.host;
  else if (host !== undefined) after.host = host;
  return after;
}
