import { PERMISSIONS } from "../rules/rights.ts";
import { Administration } from "./administration.ts";
import type { Connection } from "./connection.ts";
import type { Credentials } from "./credentials.ts";

/** What credentials are on a server. */
export interface Identity {
  administrator: boolean;
  /** `null` for the administrator, as is `prefix`. */
  project_id: string | null;
  prefix: string | null;
  permissions: readonly string[];
  /** `null` for all. */
  drives: string[] | null;
  name_prefix: string | null;
  expires: string | null;
}

/** Asks the server what credentials are. @throws {KvdriveError} with the status 401 if it does not know them. */
export async function readIdentity(
  connection: Connection,
  credentials: Credentials,
): Promise<Identity> {
  const administration = new Administration(connection);
  if (credentials.kind === "key") {
    return await administration.get<Identity>(["projects", credentials.project, "key"]);
  }
  // Only the administrator may read this.
  await administration.get(["events"], { limit: 1 });
  return ADMINISTRATOR;
}

const ADMINISTRATOR: Identity = {
  administrator: true,
  project_id: null,
  prefix: null,
  permissions: PERMISSIONS,
  drives: null,
  name_prefix: null,
  expires: null,
};

/** Describes an identity: "the project album (read, list; only the drive photos)". */
export function describeIdentity(identity: Identity): string {
  const { administrator, project_id, permissions, drives, name_prefix, expires } = identity;
  if (administrator) return "the administrator of all projects";
  const limits = [
    permissions.join(", "),
    ...(drives === null
      ? []
      : [`only ${drives.length === 1 ? "the drive" : "the drives"} ${drives.join(", ")}`]),
    ...(name_prefix === null ? [] : [`only names that begin with ${name_prefix}`]),
    ...(expires === null ? [] : [`until ${expires}`]),
  ];
  return `a key of the project ${project_id} (${limits.join("; ")})`;
}
