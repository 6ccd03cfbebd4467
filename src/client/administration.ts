/**
 * The administration of a server: its projects, keys and applications. Fields are named as in the JSON of the HTTP API.
 *
 * @module
 */

/** A project and its usage. */
export interface ProjectUsage {
  project_id: string;
  name: string | null;
  created: string;
  /** `null` for no limit. */
  max_bytes: number | null;
  host_suffix: string | null;
  /** 0 if there is no trash. */
  trash_days: number;
  files: number;
  bytes: number;
  open_upload_bytes: number;
  trash_files: number;
  trash_bytes: number;
}

/** A project and its drives. */
export interface ProjectDetails extends ProjectUsage {
  drives: { drive_name: string; files: number; bytes: number }[];
}

/** A new project, and its first key. */
export interface CreatedProject {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  host_suffix: string | null;
  project_key: string;
  prefix: string;
}

export interface NewProject {
  project_id?: string | undefined;
  name?: string | undefined;
  max_bytes?: number | undefined;
}

/** `null` removes a setting. */
export interface ProjectChanges {
  max_bytes?: number | null | undefined;
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

/** What can be administered, on a server or in a store. Methods throw an error with one sentence for the user. */
export interface Administration {
  createProject(project: NewProject): Promise<CreatedProject>;
  listProjects(): Promise<ProjectUsage[]>;
  showProject(project: string): Promise<ProjectDetails>;
  changeProject(project: string, changes: ProjectChanges): Promise<ProjectDetails>;
  deleteProject(project: string): Promise<void>;

  createKey(
    project: string,
    key: NewProjectKey,
  ): Promise<ProjectKeyInfo & { project_key: string }>;
  listKeys(project: string): Promise<ProjectKeyInfo[]>;
  revokeKey(project: string, prefix: string): Promise<void>;

  createS3Key(
    project: string,
    key: NewS3Key,
  ): Promise<S3KeyInfo & { secret_access_key: string }>;
  listS3Keys(project: string): Promise<S3KeyInfo[]>;
  revokeS3Key(project: string, accessKeyId: string): Promise<void>;

  createApp(project: string, app: NewApp): Promise<App>;
  listApps(project: string): Promise<App[]>;
  showApp(project: string, app: string): Promise<App>;
  changeApp(project: string, app: string, changes: AppChanges): Promise<App>;
  deleteApp(project: string, app: string): Promise<void>;
  switchAccess(project: string, app: string, enabled: boolean): Promise<void>;

  createAppKey(
    project: string,
    app: string,
    key: { name: string; description?: string | undefined },
  ): Promise<AppKey & { api_key: string }>;
  listAppKeys(project: string, app: string): Promise<AppKey[]>;
  revokeAppKey(project: string, app: string, name: string): Promise<void>;

  /** Lists the newest events of a project, or of the server. */
  listEvents(project: string | undefined, limit: number): Promise<AuditEvent[]>;
  /** Lists the figures of the last days of a project, or of the server, the oldest first. */
  listUsage(project: string | undefined, days: number): Promise<UsageDay[]>;
}
