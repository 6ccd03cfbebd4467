import type { ApiRequest } from "./api/transport.ts";
import type { Connection } from "./connection.ts";
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
