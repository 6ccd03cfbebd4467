import { MAX_LIST } from "../rules/names.ts";
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
} from "./administration.ts";
import type { ApiRequest, Connection } from "./connection.ts";
import { ClientError, Refused, TemporaryFailure } from "./errors.ts";

/** The administration of a server over its HTTP API. */
export class RemoteAdministration implements Administration {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async createProject(project: NewProject): Promise<CreatedProject> {
    return await this.#create("/projects", project);
  }

  async listProjects(): Promise<ProjectUsage[]> {
    return (await this.#get<{ projects: ProjectUsage[] }>("/projects")).projects;
  }

  async showProject(project: string): Promise<ProjectDetails> {
    return withoutDisk(await this.#get<ProjectDetails>(projectPath(project)));
  }

  async changeProject(project: string, changes: ProjectChanges): Promise<ProjectDetails> {
    const path = projectPath(project);
    return withoutDisk(await this.#set<ProjectDetails>("PATCH", path, changes));
  }

  async deleteProject(project: string): Promise<void> {
    await this.#delete(projectPath(project));
  }

  async deleteDrive(project: string, drive: string): Promise<void> {
    await this.#delete(projectPath(project, "drives", drive));
  }

  async createKey(
    project: string,
    key: NewProjectKey,
  ): Promise<ProjectKeyInfo & { project_key: string }> {
    return await this.#create(projectPath(project, "keys"), key);
  }

  async listKeys(project: string): Promise<ProjectKeyInfo[]> {
    return (await this.#get<{ keys: ProjectKeyInfo[] }>(projectPath(project, "keys"))).keys;
  }

  async revokeKey(project: string, prefix: string): Promise<void> {
    await this.#delete(projectPath(project, "keys", prefix));
  }

  async createS3Key(
    project: string,
    key: NewS3Key,
  ): Promise<S3KeyInfo & { secret_access_key: string }> {
    return await this.#create(projectPath(project, "s3-keys"), key);
  }

  async listS3Keys(project: string): Promise<S3KeyInfo[]> {
    const path = projectPath(project, "s3-keys");
    return (await this.#get<{ s3_keys: S3KeyInfo[] }>(path)).s3_keys;
  }

  async revokeS3Key(project: string, accessKeyId: string): Promise<void> {
    await this.#delete(projectPath(project, "s3-keys", accessKeyId));
  }

  async createApp(project: string, app: NewApp): Promise<App> {
    return await this.#create(projectPath(project, "apps"), app);
  }

  async listApps(project: string): Promise<App[]> {
    return (await this.#get<{ apps: App[] }>(projectPath(project, "apps"))).apps;
  }

  async showApp(project: string, app: string): Promise<App> {
    return await this.#get(projectPath(project, "apps", app));
  }

  async changeApp(project: string, app: string, changes: AppChanges): Promise<App> {
    return await this.#set("PATCH", projectPath(project, "apps", app), changes);
  }

  async deleteApp(project: string, app: string): Promise<void> {
    await this.#delete(projectPath(project, "apps", app));
  }

  async switchAccess(project: string, app: string, enabled: boolean): Promise<void> {
    await this.#set("PUT", projectPath(project, "apps", app, "access"), { enabled });
  }

  async createAppKey(
    project: string,
    app: string,
    key: { name: string; description?: string },
  ): Promise<AppKey & { api_key: string }> {
    return await this.#create(projectPath(project, "apps", app, "keys"), key);
  }

  async listAppKeys(project: string, app: string): Promise<AppKey[]> {
    return (await this.#get<{ keys: AppKey[] }>(projectPath(project, "apps", app, "keys"))).keys;
  }

  async revokeAppKey(project: string, app: string, name: string): Promise<void> {
    await this.#delete(projectPath(project, "apps", app, "keys", name));
  }

  async listEvents(project: string | undefined, limit: number): Promise<AuditEvent[]> {
    const list = requestOf(
      "GET",
      project === undefined ? "/events" : projectPath(project, "events"),
    );
    const events: AuditEvent[] = [];
    const query = { limit: `${Math.min(limit, MAX_LIST)}` };
    for await (const event of this.#connection.items<AuditEvent>(list, "events", query)) {
      if (events.push(event) === limit) break;
    }
    return events;
  }

  async listUsage(project: string | undefined, days: number): Promise<UsageDay[]> {
    const path = project === undefined ? "/usage" : projectPath(project, "usage");
    return (await this.#get<{ days: UsageDay[] }>(`${path}?days=${days}`)).days;
  }

  async #get<T>(path: string): Promise<T> {
    return await this.#connection.requestJson<T>(requestOf("GET", path));
  }

  /** Sends a change that may be repeated. */
  async #set<T>(method: string, path: string, body: unknown): Promise<T> {
    return await this.#connection.requestJson<T>(requestOf(method, path, body));
  }

  /**
   * Creates something. A request whose answer was lost is not repeated, as it might create a second one.
   *
   * @throws {ClientError} if it is unknown what happened.
   */
  async #create<T>(path: string, body: unknown): Promise<T> {
    return await this.#connection.retrier.run(async () => {
      try {
        const answer = await this.#connection.send(requestOf("POST", path, body));
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
    await this.#connection.retrier.run(async () => {
      tries++;
      try {
        const answer = await this.#connection.send(requestOf("DELETE", path));
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

function projectPath(...segments: string[]): string {
  return `/projects/${segments.map(segmentOf).join("/")}`;
}

/** @throws {ClientError} for "." and "..", which URLs cannot have as a segment. */
function segmentOf(text: string): string {
  if (text === "." || text === "..") {
    throw new ClientError(
      `The name "${text}" has no URL: use --data on the machine of the server`,
    );
  }
  return encodeURIComponent(text);
}

/** The disk is that of all projects. */
function withoutDisk(
  { disk: _disk, ...details }: ProjectDetails & { disk?: unknown },
): ProjectDetails {
  return details;
}
