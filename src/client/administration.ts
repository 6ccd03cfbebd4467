import { PERMISSIONS } from "../rules/rights.ts";
import type { ApiRequest } from "./api/transport.ts";
import type { Connection, Credentials } from "./connection.ts";
import { ClientError, hasStatus, isTemporary, isUndone } from "./errors.ts";

/** The administration of a server over its HTTP API. Paths are given as segments after `/admin/v1`. */
export class Administration {
  constructor(private readonly connection: Connection) {}

  async get<T>(path: readonly string[], query: ApiRequest["query"] = {}): Promise<T> {
    return await this.#json({ method: "GET", path, query });
  }

  /** The items of a list, page by page. */
  items<T>(
    path: readonly string[],
    field: string,
    query: ApiRequest["query"],
  ): AsyncIterable<T> {
    return this.connection.transport.items<T>({ path: below(path), query }, field);
  }

  /** Sends a change that may be repeated. */
  async set<T>(method: "PATCH" | "PUT", path: readonly string[], json: unknown): Promise<T> {
    return await this.#json({ method, path, json });
  }

  /**
   * Creates something. A request whose answer was lost is not repeated, as it might create a second one.
   *
   * @throws {ClientError} if it is unknown what happened.
   */
  async create<T>(path: readonly string[], json: unknown): Promise<T> {
    return await createdBy(this.#json({ method: "POST", path, json, isUnrepeatable: true }));
  }

  /** Deletes something. After a lost answer, its absence is the success. */
  async delete(...path: string[]): Promise<void> {
    let tries = 0;
    try {
      await this.#json({ method: "DELETE", path, onAttempt: () => tries++ });
    } catch (error) {
      if (!hasStatus(error, 404) || tries === 1) throw error;
    }
  }

  async #json<T>(request: ApiRequest): Promise<T> {
    const path = below(request.path);
    return await this.connection.transport.json<T>({ ...request, path });
  }
}

function below(path: readonly string[]): string[] {
  return ["admin", "v1", ...path];
}

/** Returns what a request creates that is not repeated. @throws {ClientError} if it is unknown what happened. */
export async function createdBy<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!isTemporary(error) || isUndone(error)) throw error;
    throw new ClientError(
      `${error.message}. It may have been created: look at the list before you repeat the command`,
      { cause: error },
    );
  }
}

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
