import { type Api, dataOf, type Schemas } from "../core/api.ts";
import { ApiError } from "../core/api_error.ts";
import { inParallel } from "../core/concurrency.ts";
import { driveNames } from "../files/drive_filter.tsx";

export type FileChange = Schemas["Change"] & { drive: string };

/** Changes of a page (the server's maximum). */
const PAGE = 1000;
/** Changes that are kept in memory: the newest of all drives. */
export const MAX_CHANGES = 2000;
/** Pages of a drive that are read at once at most: the feed begins with the oldest. */
const MAX_PAGES = 50;

/** The newest changes of all drives of a project. Reading again continues where the last reading ended. */
export class FileChanges {
  #changes: FileChange[] = [];
  readonly #cursors = new Map<string, string>();
  /** Drives with more changes than were read, so that the newest are not known. */
  readonly #unread = new Set<string>();

  constructor(private readonly api: Api, private readonly project: string) {}

  /** @throws {ApiError} */
  async read(signal: AbortSignal): Promise<{
    drives: string[];
    changes: readonly FileChange[];
    unread: readonly string[];
  }> {
    const drives = await driveNames(this.api, this.project, signal);
    await inParallel(drives, (drive) => this.#readDrive(drive, signal));
    return { drives, changes: this.#newest(), unread: [...this.#unread] };
  }

  async #readDrive(drive: string, signal: AbortSignal): Promise<void> {
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const { changes, last, more } = await this.#page(drive, signal);
      this.#cursors.set(drive, last);
      this.#changes.push(...changes.map((change) => ({ ...change, drive })));
      if (this.#changes.length > 2 * MAX_CHANGES) this.#newest();
      if (!more) return void this.#unread.delete(drive);
    }
    this.#unread.add(drive);
  }

  async #page(drive: string, signal: AbortSignal): Promise<Schemas["ChangeList"]> {
    const since = this.#cursors.get(drive) ?? "0";
    const path = { project_id: this.project, drive_name: drive };
    try {
      const answer = await dataOf(this.api.GET("/v1/{project_id}/{drive_name}/changes", {
        params: { path, query: { since, limit: PAGE } },
        signal,
      }));
      // The text is the stream, which was not asked for.
      return answer as Schemas["ChangeList"];
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "changes_expired")) throw error;
      if (since === "0") throw error;
      // The feed was turned off and on: it begins again.
      this.#cursors.delete(drive);
      this.#changes = this.#changes.filter((change) => change.drive !== drive);
      return await this.#page(drive, signal);
    }
  }

  #newest(): readonly FileChange[] {
    this.#changes = this.#changes.toSorted((a, b) => a.at < b.at ? 1 : a.at > b.at ? -1 : 0)
      .slice(0, MAX_CHANGES);
    return this.#changes;
  }
}
