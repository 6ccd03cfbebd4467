import type { ApiRequest, Connection } from "./connection.ts";
import { ClientError, Refused, TemporaryFailure } from "./errors.ts";

/** The administration of a server over its HTTP API. Paths are given as segments after `/admin/v1`. */
export class Administration {
  constructor(private readonly connection: Connection) {}

  async get<T>(path: readonly string[], query: Record<string, string> = {}): Promise<T> {
    return await this.connection.requestJson<T>({ method: "GET", path, isAdmin: true, query });
  }

  /** The items of a list, page by page. */
  items<T>(
    path: readonly string[],
    field: string,
    query: Record<string, string>,
  ): AsyncIterable<T> {
    return this.connection.items<T>({ path, isAdmin: true, query }, field);
  }

  /** Sends a change that may be repeated. */
  async set<T>(method: "PATCH" | "PUT", path: readonly string[], json: unknown): Promise<T> {
    return await this.connection.requestJson<T>({ method, path, isAdmin: true, json });
  }

  /**
   * Creates something. A request whose answer was lost is not repeated, as it might create a second one.
   *
   * @throws {ClientError} if it is unknown what happened.
   */
  async create<T>(path: readonly string[], json: unknown): Promise<T> {
    return await this.connection.retrier.run(async () => {
      try {
        const answer = await this.connection.send({ method: "POST", path, isAdmin: true, json });
        return await answer.json() as T;
      } catch (error) {
        const isUnknown = error instanceof TemporaryFailure
          ? !error.isUndone
          : !(error instanceof ClientError);
        if (!isUnknown) throw error;
        const reason = error instanceof ClientError ? error.message : "The answer was cut off";
        throw new ClientError(
          `${reason}. It may have been created: look at the list before you repeat the command`,
          { cause: error },
        );
      }
    });
  }

  /** Deletes something. After a lost answer, its absence is the success. */
  async delete(...path: string[]): Promise<void> {
    const request: ApiRequest = { method: "DELETE", path, isAdmin: true };
    let tries = 0;
    await this.connection.retrier.run(async () => {
      tries++;
      try {
        const answer = await this.connection.send(request);
        await answer.body?.cancel();
      } catch (error) {
        if (error instanceof Refused && error.status === 404 && tries > 1) return;
        throw error;
      }
    });
  }
}
