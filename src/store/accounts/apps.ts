import { hostProblem, isSubdomain } from "../../rules/hosts.ts";
import { appNameProblem, isProjectId } from "../../rules/names.ts";
import type { Database } from "../engine/database.ts";
import { AlreadyExists, BeingDeleted, NoSuchProject } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Owned, ProjectCache } from "../engine/project_cache.ts";
import type { AppHostRecord, AppRecord, DeletionMarker, ProjectRecord } from "../engine/records.ts";
import type { EventName } from "./events.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import type { Deletions } from "./deletions.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import type { Revocations } from "./revocations.ts";

/** An application. `host` is present only while it counts. */
export interface AppInfo extends AppRecord {
  project: string;
  app: string;
}

/** The settings of a new application. */
export interface NewApp {
  upstream?: string | undefined;
  host?: string | undefined;
  /** Whether the owner chose the host. Such a host counts only while it is below the project's suffix. */
  isOwnersHost?: boolean | undefined;
  /** Whether access control is on; off unless given. */
  access?: boolean | undefined;
}

/** Settings of an application that can be changed. `null` removes a setting. */
export interface AppChanges {
  upstream?: string | null | undefined;
  host?: string | null | undefined;
  /** See `NewApp`. */
  isOwnersHost?: boolean | undefined;
  access?: boolean | undefined;
}

/** An application with the host of its record, even if that does not count. */
type CachedApp = Owned & { info: AppInfo };

/** The applications of all projects. */
export class AppStore {
  readonly #apps: TtlCache<CachedApp>;
  readonly #hosts: TtlCache<AppHostRecord>;

  /** @param wake Wakes the sweeper, which finishes deletions. */
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly revocations: Revocations,
    private readonly deletions: Deletions,
    private readonly events: EventLog,
    private readonly wake: () => void,
  ) {
    this.#apps = new TtlCache((id) => this.#readApp(id), { cachesAbsence: true });
    this.#hosts = new TtlCache((host) => this.#readHost(host), { cachesAbsence: true });
  }

  /**
   * Creates an application.
   *
   * @throws {NoSuchProject}
   * @throws {AlreadyExists} if the project has one with this name, or another application has the host.
   * @throws {BeingDeleted} while the keys of an earlier application with this name are being deleted.
   */
  async create(
    project: string,
    app: string,
    settings: NewApp,
    actor: Actor = COMMAND_LINE,
  ): Promise<AppInfo> {
    const { info, former } = await transact(this.db, async () => {
      const [owner, current, deletion] = await this.db.reader.getMany<
        [ProjectRecord, AppRecord, DeletionMarker]
      >([keys.project(project), keys.app(project, app), keys.appDeletion(project, app)]);
      if (owner.value === null) throw new NoSuchProject(project);
      if (current.value !== null) throw new AlreadyExists("app", app);
      if (deletion.value !== null) throw new BeingDeleted("app", app);
      const record = changed({ created: Date.now(), access: false }, settings);
      const operation = new Operation().unchanged(owner)
        .check(current.key, null)
        .check(deletion.key, null)
        .set(current.key, record);
      this.events.record(operation, actor, { event: "app.created", project, target: app });
      if (record.access) {
        this.events.record(operation, actor, { event: "access.enabled", project, target: app });
      }
      const former = await this.#claimHost(operation, project, app, record.host);
      return { operation, result: { info: infoOf(project, app, record, owner.value), former } };
    });
    this.#forget(info);
    if (former !== undefined) this.#forget(former);
    return info;
  }

  /** Returns the applications of a project in the order of their names; none if there is no such project. */
  async list(project: string): Promise<AppInfo[]> {
    const owner = await this.db.reader.get<ProjectRecord>(keys.project(project));
    if (owner.value === null) return [];
    const suffix = owner.value;
    const entries = this.db.reader.list<AppRecord>({ prefix: prefixes.all("app", project) });
    return await Array.fromAsync(
      entries,
      ({ key, value }) => infoOf(project, String(key.at(-1)), value, suffix),
    );
  }

  /** Reads an application from the store. Returns `undefined` if there is none with this name. */
  async get(project: string, app: string): Promise<AppInfo | undefined> {
    const [owner, { value }] = await this.#readBoth(project, app);
    return owner.value === null || value === null
      ? undefined
      : infoOf(project, app, value, owner.value);
  }

  /** Returns what `get` does, cached for `KEY_CACHE_TTL`. The arguments may be any text that a caller sent. */
  async find(project: string, app: string): Promise<AppInfo | undefined> {
    if (!isProjectId(project) || appNameProblem(app) !== undefined) return undefined;
    const found = await this.projects.findOwned(this.#apps, idOf(project, app));
    return found === undefined ? undefined : withEffectiveHost(found.thing.info, found.owner);
  }

  /** Returns the application with a host name (in lower case), cached for `KEY_CACHE_TTL`. Any text may be given. */
  async findByHost(host: string): Promise<AppInfo | undefined> {
    if (hostProblem(host) !== undefined) return undefined;
    const owner = await this.#hosts.get(host);
    const info = owner === undefined ? undefined : await this.find(owner.project, owner.app);
    return info?.host === host ? info : undefined;
  }

  /**
   * Changes the given settings in one operation. Returns `undefined` if there is no such application.
   *
   * @throws {AlreadyExists} if another application has the host.
   */
  async update(
    project: string,
    app: string,
    changes: AppChanges,
    actor: Actor = COMMAND_LINE,
  ): Promise<AppInfo | undefined> {
    const change = await transact(this.db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const record = changed(current.value, changes);
      const operation = new Operation().unchanged(owner, current)
        .set(current.key, record);
      for (const event of changeEvents(current.value, record)) {
        this.events.record(operation, actor, { event, project, target: app });
      }
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
    this.revocations.notify();
    return after;
  }

  /** Deletes an application and its keys. Returns whether there was one with this name. */
  async delete(project: string, app: string, actor: Actor = COMMAND_LINE): Promise<boolean> {
    const deleted = await transact(this.db, async () => {
      const [owner, current] = await this.#readBoth(project, app);
      if (owner.value === null || current.value === null) return { result: undefined };
      const marker: DeletionMarker = { kind: "app", since: Date.now() };
      const operation = new Operation().unchanged(owner, current)
        .delete(current.key)
        .set(keys.appDeletion(project, app), marker);
      this.events.record(operation, actor, { event: "app.deleted", project, target: app });
      const { host } = current.value;
      if (host !== undefined) operation.delete(keys.appHost(host));
      return { operation, result: { project, app, ...current.value } };
    });
    if (deleted === undefined) return false;
    this.#forget(deleted);
    this.revocations.notify();
    try {
      await this.deletions.run(keys.appDeletion(project, app));
    } catch {
      // The keys open nothing without their application. The sweeper deletes the rest, or reports why it cannot.
      this.wake();
    }
    return true;
  }

  /** Drops an application from the cache. */
  forget(project: string, app: string): void {
    this.#apps.forget(idOf(project, app));
  }

  /**
   * Adds that an application gets a host, if one is given. Returns the application that loses it, if there is one: its
   * owner chose the host below a suffix that the project no longer has.
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
    const claim = await this.db.reader.get<AppHostRecord>(keys.appHost(host));
    operation.unchanged(claim)
      .set(claim.key, { project, app } satisfies AppHostRecord);
    if (claim.value === null) return undefined;
    const holder = claim.value;
    const [owner, former] = await this.#readBoth(holder.project, holder.app);
    const isHeld = owner.value === null || former.value === null ||
      former.value.host !== host || isEffectiveHost(former.value, owner.value);
    if (isHeld) throw new AlreadyExists("host", host);
    operation.unchanged(owner, former)
      .set(former.key, changed(former.value, { host: null }));
    return { ...holder, ...former.value };
  }

  async #readHost(host: string): Promise<AppHostRecord | undefined> {
    const [{ value }] = await this.db.reads.get<[AppHostRecord]>([keys.appHost(host)]);
    return value ?? undefined;
  }

  async #readApp(id: string): Promise<CachedApp | undefined> {
    const [project = "", app = ""] = id.split("/");
    const [owner, { value }] = await this.#readBoth(project, app);
    if (owner.value === null || value === null) return undefined;
    return { project, projectCreated: owner.value.created, info: { project, app, ...value } };
  }

  async #readBoth(
    project: string,
    app: string,
  ): Promise<[Deno.KvEntryMaybe<ProjectRecord>, Deno.KvEntryMaybe<AppRecord>]> {
    return await this.db.reads.get<[ProjectRecord, AppRecord]>([
      keys.project(project),
      keys.app(project, app),
    ]);
  }

  #forget({ project, app, host }: AppInfo): void {
    this.forget(project, app);
    if (host !== undefined) this.#hosts.forget(host);
  }
}

/** Returns the cache key of an application. Neither a project id nor an application name contains a slash. */
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

/** Yields the events of a change; none if it changes nothing. */
function* changeEvents(before: AppRecord, after: AppRecord): Generator<EventName> {
  if (after.upstream !== before.upstream || after.host !== before.host) yield "app.changed";
  if (after.access !== before.access) yield after.access ? "access.enabled" : "access.disabled";
}

function infoOf(
  project: string,
  app: string,
  record: AppRecord,
  owner: { hostSuffix?: string },
): AppInfo {
  return withEffectiveHost({ project, app, ...record }, owner);
}

/** Returns an application without its host if that does not count. */
function withEffectiveHost(info: AppInfo, owner: { hostSuffix?: string }): AppInfo {
  if (isEffectiveHost(info, owner)) return info;
  const { host: _host, isOwnersHost: _isOwners, ...rest } = info;
  return rest;
}

/** A host that the owner chose counts only while it is below the suffix of the project. */
function isEffectiveHost(
  { host, isOwnersHost }: AppRecord,
  { hostSuffix }: { hostSuffix?: string },
): boolean {
  if (!isOwnersHost || host === undefined) return true;
  return hostSuffix !== undefined && isSubdomain(host, hostSuffix);
}
