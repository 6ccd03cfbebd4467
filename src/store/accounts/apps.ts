import { hostProblem, isSubdomain } from "../../rules/hosts.ts";
import { appNameProblem, isProjectId } from "../../rules/names.ts";
import type { Database } from "../engine/database.ts";
import { AlreadyExists, BeingDeleted, NoSuchProject } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import type { AppHostRecord, AppRecord, DeletionMarker, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import type { Deletions } from "./deletions.ts";
import type { Revocations } from "./revocations.ts";

/** An application, with the host that counts now. */
export interface AppInfo extends AppRecord {
  project: string;
  app: string;
}

/** What a new application has. */
export interface NewApp {
  upstream?: string | undefined;
  host?: string | undefined;
  /** Whether the owner chose the host, which then counts only while it is below the project's suffix. */
  isOwnersHost?: boolean | undefined;
  access?: boolean | undefined;
}

/** What of an application can be changed. `null` takes away. */
export interface AppChanges {
  upstream?: string | null | undefined;
  host?: string | null | undefined;
  /** As in `AppToMake`. */
  isOwnersHost?: boolean | undefined;
  access?: boolean | undefined;
}

/** With the host that it claims. */
type KnownApp = Owned & { info: AppInfo };

/** The applications of all projects. */
export class AppStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #revocations: Revocations;
  readonly #remover: Deletions;
  readonly #wake: () => void;
  readonly #known: TtlCache<KnownApp>;
  readonly #hosts: TtlCache<AppHostRecord>;

  /** @param wake Called when there is something to be removed in the background. */
  constructor(
    db: Database,
    projects: ProjectCache,
    revocations: Revocations,
    remover: Deletions,
    wake: () => void,
  ) {
    this.#db = db;
    this.#projects = projects;
    this.#revocations = revocations;
    this.#remover = remover;
    this.#wake = wake;
    this.#known = new TtlCache((id) => this.#readKnown(id), { cachesAbsence: true });
    this.#hosts = new TtlCache((host) => this.#readHost(host), { cachesAbsence: true });
  }

  /**
   * Makes an application, whose access control is off unless it is to be on.
   *
   * @throws {NoSuchProject}
   * @throws {AlreadyExists} if the project has one of that name, or any application that host name.
   * @throws {BeingDeleted} if one of that name was removed just now.
   */
  async create(
    project: string,
    app: string,
    settings: NewApp,
  ): Promise<AppInfo> {
    const { info, former } = await transact(this.#db, async () => {
      const [owner, current, removal] = await this.#db.reader.getMany<
        [ProjectRecord, AppRecord, DeletionMarker]
      >([keys.project(project), keys.app(project, app), keys.appDeletion(project, app)]);
      if (owner.value === null) throw new NoSuchProject(project);
      if (current.value !== null) throw new AlreadyExists("app", app);
      if (removal.value !== null) throw new BeingDeleted("app", app);
      const record = changed({ created: Date.now(), access: false }, settings);
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, null)
        .check(removal.key, null)
        .set(current.key, record);
      const former = await this.#claimHost(operation, project, app, record.host);
      return { operation, result: { info: infoOf(project, app, record, owner.value), former } };
    });
    this.#forget(info);
    if (former !== undefined) this.#forget(former);
    return info;
  }

  /** The applications of a project in the order of their names; none where there is no such project. */
  async list(project: string): Promise<AppInfo[]> {
    const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
    if (owner.value === null) return [];
    const suffix = owner.value;
    const entries = this.#db.reader.list<AppRecord>({ prefix: prefixes.apps(project) });
    return await Array.fromAsync(
      entries,
      ({ key, value }) => infoOf(project, String(key.at(-1)), value, suffix),
    );
  }

  /** An application as it is in the store now. */
  async get(project: string, app: string): Promise<AppInfo | undefined> {
    const [owner, { value }] = await this.#readBoth(project, app);
    return owner.value === null || value === null
      ? undefined
      : infoOf(project, app, value, owner.value);
  }

  /** The same, believed for a few seconds, so that it costs no read. Takes whatever a caller sent. */
  async find(project: string, app: string): Promise<AppInfo | undefined> {
    if (!isProjectId(project) || appNameProblem(app) !== undefined) return undefined;
    const found = await this.#projects.findOwned(this.#known, idOf(project, app));
    return found === undefined ? undefined : withHostThatCounts(found.thing.info, found.owner);
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
    const change = await transact(this.#db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const record = changed(current.value, changes);
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, current.versionstamp)
        .set(current.key, record);
      const before: AppInfo = { project, app, ...current.value };
      let former: AppInfo | undefined;
      if (record.host !== before.host) {
        if (before.host !== undefined) operation.delete(keys.appHost(before.host));
        former = await this.#claimHost(operation, project, app, record.host);
      }
      const after = infoOf(project, app, record, owner.value);
      return { operation, result: { before, after, former } };
    });
    if (change === undefined) return undefined;
    const { before, after, former } = change;
    for (const one of [before, after, former]) if (one !== undefined) this.#forget(one);
    this.#revocations.notify();
    return after;
  }

  /** Removes an application, its keys with it; gives whether there was one. */
  async delete(project: string, app: string): Promise<boolean> {
    const removed = await transact(this.#db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const marker: DeletionMarker = { kind: "app", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(current.key, current.versionstamp)
        .delete(current.key)
        .set(keys.appDeletion(project, app), marker);
      const { host } = current.value;
      if (host !== undefined) operation.delete(keys.appHost(host));
      return { operation, result: { project, app, ...current.value } };
    });
    if (removed === undefined) return false;
    this.#forget(removed);
    this.#revocations.notify();
    try {
      await this.#remover.run(keys.appDeletion(project, app));
    } catch {
      // Without their application the keys open nothing: it is done, and what is left the sweeper does, or reports.
      this.#wake();
    }
    return true;
  }

  /**
   * Gives the host, if there is one, to the application; gives the application that had it and must lose it, as its owner
   * may have it no longer.
   *
   * @throws {AlreadyExists} if another application has the host.
   */
  async #claimHost(
    operation: Operation,
    project: string,
    app: string,
    host: string | undefined,
  ): Promise<AppInfo | undefined> {
    if (host === undefined) return undefined;
    const claim = await this.#db.reader.get<AppHostRecord>(keys.appHost(host));
    operation.check(claim.key, claim.versionstamp)
      .set(claim.key, { project, app } satisfies AppHostRecord);
    if (claim.value === null) return undefined;
    const holder = claim.value;
    const [owner, former] = await this.#readBoth(holder.project, holder.app);
    const isHeld = owner.value === null || former.value === null ||
      former.value.host !== host || hostCounts(former.value, owner.value);
    if (isHeld) throw new AlreadyExists("host", host);
    operation.check(owner.key, owner.versionstamp)
      .check(former.key, former.versionstamp)
      .set(former.key, changed(former.value, { host: null }));
    return { ...holder, ...former.value };
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

function changed(
  record: AppRecord,
  { upstream, host, isOwnersHost, access }: AppChanges,
): AppRecord {
  const after = { ...record, ...(access === undefined ? {} : { access }) };
  if (upstream === null) delete after.upstream;
  else if (upstream !== undefined) after.upstream = upstream;
  if (host === undefined) return after;
  delete after.isOwnersHost;
  if (host === null) delete after.host;
  else {
    after.host = host;
    if (isOwnersHost) after.isOwnersHost = true;
  }
  return after;
}

function infoOf(
  project: string,
  app: string,
  record: AppRecord,
  owner: { hostSuffix?: string },
): AppInfo {
  return withHostThatCounts({ project, app, ...record }, owner);
}

/** A host that the owner chose counts only while it is below the suffix that the project has now. */
function withHostThatCounts(info: AppInfo, owner: { hostSuffix?: string }): AppInfo {
  if (hostCounts(info, owner)) return info;
  const { host: _host, isOwnersHost: _isOwners, ...rest } = info;
  return rest;
}

function hostCounts(
  { host, isOwnersHost }: AppRecord,
  { hostSuffix }: { hostSuffix?: string },
): boolean {
  if (!isOwnersHost || host === undefined) return true;
  return hostSuffix !== undefined && isSubdomain(host, hostSuffix);
}
