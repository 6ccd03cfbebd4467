import {
  appJson,
  appKeyJson,
  driveJson,
  projectJson,
  projectKeyJson,
  projectUsageJson,
  s3KeyJson,
  sumOf,
} from "../../../api/admin/json.ts";
import type {
  Administration,
  App,
  AppChanges,
  AppKey,
  AuditEvent,
  CreatedProject,
  NewApp,
  NewProject,
  NewProjectKey,
  NewS3Key,
  ProjectChanges,
  ProjectDetails,
  ProjectKeyInfo,
  ProjectUsage,
  S3KeyInfo,
  UsageDay,
} from "../../../client/administration.ts";
import { isoSeconds } from "../../../rules/dates.ts";
import { HostRules, type ServerNames } from "../../../rules/hosts.ts";
import { appNameProblem, MAX_LIST } from "../../../rules/names.ts";
import { type KeyLimits, PERMISSIONS } from "../../../rules/rights.ts";
import { keyPrefix } from "../../../rules/secrets.ts";
import { DAY } from "../../../rules/units.ts";
import type { ListedEvent } from "../../../store/accounts/events.ts";
import type { ProjectInfo } from "../../../store/accounts/projects.ts";
import { AccessIsOff, BeingDeleted } from "../../../store/engine/errors.ts";
import type { Store } from "../../../store/store.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";

/** The administration of a store on this machine, next to a server that may use it. */
export class LocalAdministration implements Administration {
  readonly #store: Store;
  readonly #names: ServerNames;

  /** @param names The server's host names, as far as they are known: the server checks again by its own configuration. */
  constructor(store: Store, names: ServerNames) {
    this.#store = store;
    this.#names = names;
  }

  async createProject(
    { project_id, name, max_bytes }: NewProject,
  ): Promise<CreatedProject> {
    try {
      const { info, key } = await this.#store.projects.create(project_id, name, max_bytes);
      return { ...projectJson(info), project_key: key.text, prefix: keyPrefix(key) };
    } catch (error) {
      if (!(error instanceof BeingDeleted)) throw error;
      const problem = `A deleted project "${error.id}" is still being removed by the server`;
      throw new CommandError(`${problem}. Try again later, or choose another id`, { cause: error });
    }
  }

  async listProjects(): Promise<ProjectUsage[]> {
    const infos = await this.#store.projects.list();
    return await Array.fromAsync(infos, async (info) => {
      return projectUsageJson(info, await this.#store.drives(info.project));
    });
  }

  async showProject(project: string): Promise<ProjectDetails> {
    return await this.#detailsOf(await requireProject(this.#store, project));
  }

  async changeProject(
    project: string,
    { max_bytes, host_suffix, trash_days }: ProjectChanges,
  ): Promise<ProjectDetails> {
    await this.#checkHost("host-suffix", host_suffix);
    const changes = { maxBytes: max_bytes, hostSuffix: host_suffix, trashDays: trash_days };
    const info = await this.#store.projects.update(project, changes);
    if (info === undefined) throw noSuchProject(project);
    return await this.#detailsOf(info);
  }

  async deleteProject(project: string): Promise<void> {
    if (!await this.#store.projects.delete(project)) throw noSuchProject(project);
  }

  async createKey(
    project: string,
    key: NewProjectKey,
  ): Promise<ProjectKeyInfo & { project_key: string }> {
    const created = Date.now();
    const limits = limitsOf(key, created);
    const made = await this.#store.keys.create(project, { name: key.name, created, limits });
    if (made === undefined) throw noSuchProject(project);
    return { ...projectKeyJson(made), project_key: made.key.text };
  }

  async listKeys(project: string): Promise<ProjectKeyInfo[]> {
    await requireProject(this.#store, project);
    return (await this.#store.keys.list(project)).map(projectKeyJson);
  }

  async revokeKey(project: string, prefix: string): Promise<void> {
    if (await this.#store.keys.revoke(project, prefix)) return;
    throw new CommandError(`The project ${project} has no key with the prefix "${prefix}"`);
  }

  async createS3Key(
    project: string,
    { prefix, ...key }: NewS3Key,
  ): Promise<S3KeyInfo & { secret_access_key: string }> {
    const created = Date.now();
    const limits = limitsOf({ ...key, name_prefix: prefix }, created);
    const made = await this.#store.s3Keys.create(project, { name: key.name, created, limits });
    if (made === undefined) throw noSuchProject(project);
    return { ...s3KeyJson(made), secret_access_key: made.secret };
  }

  async listS3Keys(project: string): Promise<S3KeyInfo[]> {
    await requireProject(this.#store, project);
    return (await this.#store.s3Keys.list(project)).map(s3KeyJson);
  }

  async revokeS3Key(project: string, accessKeyId: string): Promise<void> {
    if (await this.#store.s3Keys.revoke(project, accessKeyId)) return;
    throw new CommandError(`The project ${project} has no S3 key ${quoteWord(accessKeyId)}`);
  }

  async createApp(
    project: string,
    { name, upstream, host, access }: NewApp,
  ): Promise<App> {
    await this.#checkHost("host", host);
    await requireProject(this.#store, project);
    const settings = { upstream, host, access: access.enabled };
    return appJson(await this.#store.apps.create(project, name, settings));
  }

  async listApps(project: string): Promise<App[]> {
    await requireProject(this.#store, project);
    return (await this.#store.apps.list(project)).map(appJson);
  }

  async showApp(project: string, app: string): Promise<App> {
    await requireProject(this.#store, project);
    const canBe = appNameProblem(app) === undefined;
    const info = canBe ? await this.#store.apps.get(project, app) : undefined;
    if (info === undefined) throw noSuchApp(project, app);
    return appJson(info);
  }

  async changeApp(project: string, app: string, { upstream, host }: AppChanges): Promise<App> {
    await this.#checkHost("host", host);
    await this.showApp(project, app);
    const info = await this.#store.apps.update(project, app, { upstream, host });
    if (info === undefined) throw noSuchApp(project, app);
    return appJson(info);
  }

  async deleteApp(project: string, app: string): Promise<void> {
    await this.showApp(project, app);
    if (!await this.#store.apps.delete(project, app)) throw noSuchApp(project, app);
  }

  async switchAccess(project: string, app: string, enabled: boolean): Promise<void> {
    await this.showApp(project, app);
    const changed = await this.#store.apps.update(project, app, { access: enabled });
    if (changed === undefined) throw noSuchApp(project, app);
  }

  async createAppKey(
    project: string,
    app: string,
    { name, description }: { name: string; description?: string | undefined },
  ): Promise<AppKey & { api_key: string }> {
    await this.showApp(project, app);
    const fields = { name, ...(description !== undefined && { description }) };
    try {
      const made = await this.#store.appKeys.create(project, app, fields);
      return { ...appKeyJson(made), api_key: made.text };
    } catch (error) {
      if (!(error instanceof AccessIsOff)) throw error;
      const enable = `turn it on with kvdrive access on ${project} ${app}`;
      throw new CommandError(`Access control of ${app} is off: ${enable}`, { cause: error });
    }
  }

  async listAppKeys(project: string, app: string): Promise<AppKey[]> {
    await this.showApp(project, app);
    return (await this.#store.appKeys.list(project, app)).map(appKeyJson);
  }

  async revokeAppKey(project: string, app: string, name: string): Promise<void> {
    if (await this.#store.appKeys.revoke(project, app, name)) return;
    throw new CommandError(`The application ${app} has no such key`);
  }

  async listEvents(project: string | undefined, limit: number): Promise<AuditEvent[]> {
    if (project !== undefined) await requireProject(this.#store, project);
    const found: ListedEvent[] = [];
    for (let last = ""; found.length < limit;) {
      const query = { limit: Math.min(limit - found.length, MAX_LIST), last };
      const { events, more } = project === undefined
        ? await this.#store.events.listServer(query)
        : await this.#store.events.list(project, query);
      found.push(...events);
      last = events.at(-1)?.id ?? "";
      if (!more) break;
    }
    return found.map(({ id, at, event, by, address, project: of, target }) => ({
      id,
      at: isoSeconds(at),
      event,
      by,
      address,
      target: project === undefined ? [of, target].filter(Boolean).join("/") : target ?? project,
    }));
  }

  async listUsage(project: string | undefined, days: number): Promise<UsageDay[]> {
    const info = project === undefined ? undefined : await requireProject(this.#store, project);
    const present = project === undefined
      ? await this.#store.usage()
      : await this.#store.drives(project);
    const { files, bytes } = sumOf(present);
    const listed = await this.#store.usageHistory.list({
      ...(info && { project: info.project, created: info.created }),
      days,
      stock: { files, bytes },
    });
    return listed.map(({ day, ...figures }) => ({
      date: new Date(day * DAY).toISOString().slice(0, "2026-11-22".length),
      ...figures,
    }));
  }

  async #detailsOf(info: ProjectInfo): Promise<ProjectDetails> {
    const drives = await this.#store.drives(info.project);
    return { ...projectUsageJson(info, drives), drives: drives.map(driveJson) };
  }

  /** @throws {UsageError} if no application may have a host name. */
  async #checkHost(option: string, host: string | null | undefined): Promise<void> {
    if (host === null || host === undefined) return;
    const problem = (await HostRules.load(this.#names)).problemOf(host);
    if (problem !== undefined) throw new UsageError(`The value of --${option} ${problem}`);
  }
}

/** The limits of a key that is created now, in milliseconds since 1970. */
function limitsOf(
  { permissions, drives, name_prefix, expires_in }: NewProjectKey,
  now: number,
): KeyLimits {
  return {
    ...(permissions && { permissions: PERMISSIONS.filter((one) => permissions.includes(one)) }),
    ...(drives && { drives }),
    ...(name_prefix !== undefined && { namePrefix: name_prefix }),
    ...(expires_in !== undefined && { expires: now + expires_in * 1000 }),
  };
}

/** Returns a project. @throws {CommandError} if there is none. */
export async function requireProject(store: Store, project: string): Promise<ProjectInfo> {
  const info = await store.projects.get(project);
  if (info === undefined) throw noSuchProject(project);
  return info;
}

function noSuchProject(project: string): CommandError {
  return new CommandError(`There is no project ${quoteWord(project)}: see kvdrive project list`);
}

function noSuchApp(project: string, app: string): CommandError {
  return new CommandError(
    `The project ${project} has no application ${quoteWord(app)}: see kvdrive app list`,
  );
}
