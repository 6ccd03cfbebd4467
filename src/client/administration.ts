/**
 * The administration of a server: its projects, keys and applications. Fields are named as in the JSON of the HTTP API.
 *
 * @module
 */
import { MAX_LIST } from "../rules/names.ts";
import type { ApiRequest, Connection } from "./connection.ts";
import { ClientError, Refused, TemporaryFailure } from "./errors.ts";

/** A project and its usage. */
export interface ProjectUsage {
  project_id: string;
  name: string | null;
  created: string;
  /** `null` for no limit. */
  max_bytes: number | null;
  max_files: number | null;
  host_suffix: string | null;
  /** 0 if there is no trash. */
  trash_days: number;
  files: number;
  bytes: number;
  open_upload_bytes: number;
  trash_files: number;
  trash_bytes: number;
}

/** A project and its first drives, 1000 at most. */
export interface ProjectDetails extends ProjectUsage {
  drives: { drive_name: string; files: number; bytes: number }[];
}

/** A new project, and its first key. */
export interface CreatedProject {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  max_files: number | null;
  host_suffix: string | null;
  project_key: string;
  prefix: string;
}

export interface NewProject {
  project_id?: string | undefined;
  name?: string | undefined;
  max_bytes?: number | undefined;
  max_files?: number | undefined;
}

/** `null` removes a setting. */
export interface ProjectChanges {
  max_bytes?: number | null | undefined;
  max_files?: number | null | undefined;
  host_suffix?: string | null | undefined;
  trash_days?: number | undefined;
}

/** A project key without its secret. */
export interface ProjectKeyInfo {
  prefix: string;
  name: string | null;
  permissions: readonly string[];
  /** `null` for all. */
  drives: readonly string[] | null;
  name_prefix: string | null;
  created: string;
  expires: string | null;
  last_used: string | null;
}

export interface NewProjectKey {
  name?: string | undefined;
  permissions?: readonly string[] | undefined;
  drives?: readonly string[] | undefined;
  name_prefix?: string | undefined;
  /** Seconds. */
  expires_in?: number | undefined;
}

/** An S3 key without its secret. */
export interface S3KeyInfo extends Omit<ProjectKeyInfo, "prefix" | "name_prefix"> {
  access_key_id: string;
  /** `null` for all names. */
  prefix: string | null;
  /** Whether the server can decrypt its secret. */
  usable: boolean;
}

export interface NewS3Key extends Omit<NewProjectKey, "name_prefix"> {
  prefix?: string | undefined;
}

/** An application. */
export interface App {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

/** `null` removes a setting. */
export interface AppChanges {
  upstream?: string | null | undefined;
  host?: string | null | undefined;
}

export interface NewApp {
  name: string;
  upstream: string;
  host?: string | undefined;
  access: { enabled: boolean };
}

/** A key of an application without its secret. */
export interface AppKey {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

/** An entry of an audit log. */
export interface AuditEvent {
  id: string;
  at: string;
  event: string;
  by: string;
  address: string;
  target: string;
}

/** The figures of one day. */
export interface UsageDay {
  date: string;
  files: number;
  bytes: number;
  requests: number;
  received: number;
  sent: number;
}

/** The administration of a server over its HTTP API. */
export class Administration {
  constructor(
    private readonly connection: Connection,
  ) {}

  async createProject(project: NewProject): Promise<CreatedProject> {
    return await this.#create("/projects", project);
  }

  async listProjects(): Promise<ProjectUsage[]> {
    return (await this.#get<{ projects: ProjectUsage[] }>("/projects")).projects;
  }

  async showProject(project: string): Promise<ProjectDetails> {
    return withoutDisk(await this.#get<ProjectDetails>(this.#path(project)));
  }

  async changeProject(project: string, changes: ProjectChanges): Promise<ProjectDetails> {
    const path = this.#path(project);
    return withoutDisk(await this.#set<ProjectDetails>("PATCH", path, changes));
  }

  async deleteProject(project: string): Promise<void> {
    await this.#delete(this.#path(project));
  }

  async deleteDrive(project: string, drive: string): Promise<void> {
    await this.#delete(this.#path(project, "drives", drive));
  }

  async createKey(
    project: string,
    key: NewProjectKey,
  ): Promise<ProjectKeyInfo & { project_key: string }> {
    return await this.#create(this.#path(project, "keys"), key);
  }

  async listKeys(project: string): Promise<ProjectKeyInfo[]> {
    return (await this.#get<{ keys: ProjectKeyInfo[] }>(this.#path(project, "keys"))).keys;
  }

  async revokeKey(project: string, prefix: string): Promise<void> {
    await this.#delete(this.#path(project, "keys", prefix));
  }

  async createS3Key(
    project: string,
    key: NewS3Key,
  ): Promise<S3KeyInfo & { secret_access_key: string }> {
    return await this.#create(this.#path(project, "s3-keys"), key);
  }

  async listS3Keys(project: string): Promise<S3KeyInfo[]> {
    const path = this.#path(project, "s3-keys");
    return (await this.#get<{ s3_keys: S3KeyInfo[] }>(path)).s3_keys;
  }

  async revokeS3Key(project: string, accessKeyId: string): Promise<void> {
    await this.#delete(this.#path(project, "s3-keys", accessKeyId));
  }

  async createApp(project: string, app: NewApp): Promise<App> {
    return await this.#create(this.#path(project, "apps"), app);
  }

  async listApps(project: string): Promise<App[]> {
    return (await this.#get<{ apps: App[] }>(this.#path(project, "apps"))).apps;
  }

  async showApp(project: string, app: string): Promise<App> {
    return await this.#get(this.#path(project, "apps", app));
  }

  async changeApp(project: string, app: string, changes: AppChanges): Promise<App> {
    return await this.#set("PATCH", this.#path(project, "apps", app), changes);
  }

  async deleteApp(project: string, app: string): Promise<void> {
    await this.#delete(this.#path(project, "apps", app));
  }

  async switchAccess(project: string, app: string, enabled: boolean): Promise<void> {
    await this.#set("PUT", this.#path(project, "apps", app, "access"), { enabled });
  }

  async createAppKey(
    project: string,
    app: string,
    key: { name: string; description?: string | undefined },
  ): Promise<AppKey & { api_key: string }> {
    return await this.#create(this.#path(project, "apps", app, "keys"), key);
  }

  async listAppKeys(project: string, app: string): Promise<AppKey[]> {
    return (await this.#get<{ keys: AppKey[] }>(this.#path(project, "apps", app, "keys"))).keys;
  }

  async revokeAppKey(project: string, app: string, name: string): Promise<void> {
    await this.#delete(this.#path(project, "apps", app, "keys", name));
  }

  async listEvents(project: string | undefined, limit: number): Promise<AuditEvent[]> {
    const path = project === undefined ? "/events" : this.#path(project, "events");
    const query = { limit: `${Math.min(limit, MAX_LIST)}` };
    const events: AuditEvent[] = [];
    const list = this.connection.items<AuditEvent>(requestOf("GET", path), "events", query);
    for await (const event of list) {
      if (events.push(event) === limit) break;
    }
    return events;
  }

  async listUsage(project: string | undefined, days: number): Promise<UsageDay[]> {
    const path = project === undefined ? "/usage" : this.#path(project, "usage");
    return (await this.#get<{ days: UsageDay[] }>(`${path}?days=${days}`)).days;
  }

  /** Returns the path of a project, or of something in it. */
  #path(...segments: string[]): string {
    return `/projects/${segments.map((segment) => this.connection.segment(segment)).join("/")}`;
  }

  async #get<T>(path: string): Promise<T> {
    return await this.connection.requestJson<T>(requestOf("GET", path));
  }

  /** Sends a change that may be repeated. */
  async #set<T>(method: string, path: string, body: unknown): Promise<T> {
    return await this.connection.requestJson<T>(requestOf(method, path, body));
  }

  /**
   * Creates something. A request whose answer was lost is not repeated, as it might create a second one.
   *
   * @throws {ClientError} if it is unknown what happened.
   */
  async #create<T>(path: string, body: unknown): Promise<T> {
    return await this.connection.retrier.run(async () => {
      try {
        const answer = await this.connection.send(requestOf("POST", path, body));
        return await answer.json() as T;
      } catch (error) {
        const hasAnswer = error instanceof Refused;
        if (hasAnswer || (error instanceof TemporaryFailure && isUndone(error))) throw error;
        const reason = error instanceof ClientError ? error.message : "The answer was cut off";
        throw new ClientError(
          `${reason}. It may have been created: look at the list before you repeat the command`,
          { cause: error },
        );
      }
    });
  }

  /** Deletes something. After a lost answer, its absence is the success. */
  async #delete(path: string): Promise<void> {
    let tries = 0;
    await this.connection.retrier.run(async () => {
      tries++;
      try {
        const answer = await this.connection.send(requestOf("DELETE", path));
        await answer.body?.cancel();
      } catch (error) {
        if (error instanceof Refused && error.status === 404 && tries > 1) return;
        throw error;
      }
    });
  }
}

/** Reports whether a request that failed for now has changed nothing: it was refused before it was looked at. */
function isUndone({ message }: TemporaryFailure): boolean {
  return /connection refused|answered (429|503)/.test(message);
}

function requestOf(method: string, path: string, body?: unknown): ApiRequest {
  return {
    method,
    path: `/admin/v1${path}`,
    isOfServer: true,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  };
}

/** The disk is that of all projects. */
function withoutDisk(
  { disk: _disk, ...details }: ProjectDetails & { disk?: unknown },
): ProjectDetails {
  return details;
}
