/**
 * What every operation of the API needs of a project key: one table, checked in one place before a handler runs.
 *
 * @module
 */
import type { Permission, Rights } from "../rules/rights.ts";

/** What an operation needs. A key of the project is accepted unless only the administrator may call it. */
export type Need =
  /** No credentials, or other ones than keys of a project; the operation checks them itself. */
  | { of: "anyone" }
  | { of: "administrator" }
  /** A key for the drive in the path, if there is one. The operation checks the names. */
  | { of: "drive"; permissions: readonly Permission[] }
  /** A key that may have limits of drives and names. The operation keeps to them. */
  | { of: "limited project"; permissions: readonly Permission[] }
  /** A key without limits of drives and names. */
  | { of: "whole project"; permissions: readonly Permission[] };

const anyone: Need = { of: "anyone" };
const administrator: Need = { of: "administrator" };
const drive = (...permissions: Permission[]): Need => ({ of: "drive", permissions });
const limited = (...permissions: Permission[]): Need => ({ of: "limited project", permissions });
const project = (...permissions: Permission[]): Need => ({ of: "whole project", permissions });

/** What each operation needs, by its id. An operation without a row refuses every key. */
export const needs: ReadonlyMap<string, Need> = new Map(Object.entries({
  listDrives: drive("list"),
  createDrive: drive("write"),
  listFiles: drive("list"),
  measureFiles: drive("list"),
  findExisting: drive("list"),
  listChanges: drive("list"),
  followLists: drive("list"),
  putFile: drive("write"),
  deleteFiles: drive("delete"),
  changeFile: drive("write"),
  downloadFile: drive("read"),
  showThumbnail: drive("read"),
  putThumbnail: drive("write"),
  copyFiles: drive("read", "write"),
  moveFiles: drive("read", "write", "delete"),
  createArchive: drive("read"),
  listFolders: drive("list"),
  createFolder: drive("write"),
  deleteFolder: drive("delete"),
  listTrash: drive("list"),
  restoreTrash: drive("write"),
  deleteTrash: drive("delete"),
  listUploads: drive("list"),
  startUpload: drive("write"),
  showUpload: drive("list"),
  completeUpload: drive("write"),
  abortUpload: drive("write"),
  putPart: drive("write"),
  // Links need more where they lead to a prefix: see `src/api/sharing/links.ts`.
  createLink: drive("read"),
  changeLink: drive("read"),
  listLinks: drive("list", "read"),
  revokeLink: drive("list", "read"),

  listProjects: administrator,
  createProject: administrator,
  showProject: limited("admin"),
  changeProject: project("admin"),
  deleteProject: administrator,
  deleteDrive: limited("admin", "delete"),
  showOwnKey: limited(),
  listProjectKeys: limited("admin"),
  createProjectKey: limited("admin"),
  revokeProjectKey: limited("admin"),
  listS3Keys: limited("admin"),
  createS3Key: limited("admin"),
  revokeS3Key: limited("admin"),

  showUsage: project("admin"),
  showServerUsage: administrator,
  showStatus: administrator,

  listEvents: project("admin"),
  listServerEvents: administrator,

  // Webhooks tell of what the permission to list shows.
  listWebhooks: limited("admin", "list"),
  createWebhook: limited("admin", "list"),
  changeWebhook: limited("admin", "list"),
  deleteWebhook: limited("admin", "list"),
  testWebhook: limited("admin", "list"),

  listApps: project("admin"),
  createApp: project("admin"),
  showApp: project("admin"),
  changeApp: project("admin"),
  deleteApp: project("admin"),
  showAccess: project("admin"),
  switchAccess: project("admin"),
  listAppKeys: project("admin"),
  createAppKey: project("admin"),
  revokeAppKey: project("admin"),

  createSignInCode: administrator,
  // Prefixes need `list` as well; the drive and the names are in the body.
  createDownload: limited("read"),
  openDownload: anyone,

  // A session shows and ends itself. Each key and the administrator's token have sessions of their own.
  showSession: anyone,
  signIn: anyone,
  signOut: anyone,
  listSessions: anyone,
  endSessions: anyone,
  endSession: anyone,

  // The owner is a caller among others here: see `authorize` in `src/gate/authorization.ts`.
  forwardAuth: anyone,
  openLink: anyone,
  unlockLink: anyone,
  showDashboard: anyone,
  showDashboardFile: anyone,
  showDescription: anyone,
  showHealth: anyone,
  showReadiness: anyone,
  showMetrics: anyone,
}));

/** Describes the 403 of an operation for keys of the project. */
export function forbiddenText(operation: string): string {
  const need = needs.get(operation);
  const permissions = need !== undefined && "permissions" in need ? need.permissions : [];
  if (permissions.length === 0) return "The key is of another project.";
  const names = permissions.map((permission) => `\`${permission}\``).join(" and ");
  const scope = need?.of === "drive"
    ? "is not for this drive or name"
    : "is limited to some drives or names";
  return `The key is of another project, or lacks the permission ${names}, or ${scope}.`;
}

/**
 * Checks that a key may call an operation at all. The drive and the names are parameters, which are checked later.
 *
 * @throws {RightMissing}
 * @throws {Error} if the operation has no row, or one of another kind of caller: a defect.
 */
export function requireRights(operation: string, rights: Rights): void {
  const need = needs.get(operation);
  if (need === undefined || !("permissions" in need)) {
    throw new Error(`What ${operation} needs of a key is not in src/api/permissions.ts`);
  }
  rights.require(...need.permissions);
  if (need.of === "whole project") rights.requireWholeProject();
}
