import type { Connection } from "./connection.ts";

/** What a server says of the credentials of a connection. */
export interface Identity {
  administrator: boolean;
  /** `null` for the administrator, as is `prefix`. */
  project_id: string | null;
  prefix: string | null;
  permissions: string[];
  /** `null` for all. */
  drives: string[] | null;
  name_prefix: string | null;
  expires: string | null;
}

/** Asks the server what the credentials are. @throws {Refused} with status 401 if it does not know them. */
export async function readIdentity(connection: Connection): Promise<Identity> {
  const path = "/admin/v1/whoami";
  return await connection.requestJson<Identity>({ method: "GET", path, isOfServer: true });
}

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
