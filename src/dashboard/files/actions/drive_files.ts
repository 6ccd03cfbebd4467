import { type Api, dataOf, pagesOf } from "../../core/api.ts";
import { type Entry, labelOf, type Place } from "../entry.ts";

/** The most items of one call ("1 to 1000"). */
const MAX_ITEMS = 1000;

/** A file that gets another name. */
export interface Renaming {
  from: string;
  to: string;
}

/** What a bulk operation did. */
export interface Outcome {
  done: string[];
  failed: { name: string; error: string }[];
}

/** Where files go: the same drive or another one of the project. */
export interface Target {
  drive: string;
  /** Empty, or with a slash at its end. */
  path: string;
}

/** What a bulk operation runs with. */
export interface Run {
  signal?: AbortSignal;
  /** Called with the number of files that are done. */
  onProgress?: (done: number) => void;
}

/** Everything below the selected entries. */
export interface Contents {
  files: string[];
  /** Folders that exist by themselves, the selected ones included. */
  folders: string[];
}

/** The operations on the files of a drive, in as few calls as possible. */
export class DriveFiles {
  readonly #api: Api;
  readonly #path: { project_id: string; drive_name: string };

  constructor(api: Api, { project, drive }: Pick<Place, "project" | "drive">) {
    this.#api = api;
    this.#path = { project_id: project, drive_name: drive };
  }

  get drive(): string {
    return this.#path.drive_name;
  }

  /** Lists all files and folders below entries. @throws {ApiError} */
  async contentsOf(entries: readonly Entry[], { signal }: Run = {}): Promise<Contents> {
    const files: string[] = [];
    const folders: string[] = [];
    for (const { kind, name } of entries) {
      if (kind === "file") files.push(name);
      else {
        files.push(...await this.#names({ prefix: name }, signal));
        folders.push(...await this.#foldersBelow(name, signal));
      }
    }
    return { files, folders };
  }

  /** Moves or copies files. A target that exists is a failure, unless `overwrite` is set. @throws {ApiError} */
  async transfer(
    items: readonly Renaming[],
    { isCopy, to, overwrite = false, signal, onProgress }: Run & {
      isCopy: boolean;
      to?: string;
      overwrite?: boolean;
    },
  ): Promise<Outcome> {
    const outcome: Outcome = { done: [], failed: [] };
    const path = `/v1/{project_id}/{drive_name}/files/${isCopy ? "copy" : "move"}` as const;
    const otherDrive = to === undefined || to === this.drive ? {} : { to_drive: to };
    for (const batch of batchesOf(items)) {
      const body = { items: batch, overwrite, ...otherDrive };
      const options = { params: { path: this.#path }, body, ...withSignal(signal) };
      const { done, failed } = await dataOf(this.#api.POST(path, options)) as Outcome;
      outcome.done.push(...done);
      outcome.failed.push(...failed);
      onProgress?.(outcome.done.length + outcome.failed.length);
    }
    return outcome;
  }

  /** Deletes files. @throws {ApiError} */
  async remove(names: readonly string[], { signal, onProgress }: Run = {}): Promise<Outcome> {
    const outcome: Outcome = { done: [], failed: [] };
    for (const batch of batchesOf(names)) {
      const { deleted, failed } = await dataOf(
        this.#api.DELETE("/v1/{project_id}/{drive_name}/files", {
          params: { path: this.#path },
          body: { names: batch },
          ...withSignal(signal),
        }),
      );
      outcome.done.push(...deleted);
      outcome.failed.push(...failuresOf(failed));
      onProgress?.(outcome.done.length + outcome.failed.length);
    }
    return outcome;
  }

  /** Creates a folder that shows although no file is in it. @throws {ApiError} */
  async createFolder(name: string): Promise<void> {
    const options = { params: { path: this.#path }, body: { name } };
    await this.#api.POST("/v1/{project_id}/{drive_name}/folders", options);
  }

  /** Forgets folders; what is in them stays. @throws {ApiError} */
  async removeFolders(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const options = { params: { path: this.#path }, body: { name } };
      await this.#api.DELETE("/v1/{project_id}/{drive_name}/folders", options);
    }
  }

  /** Whether a file has exactly this name. @throws {ApiError} */
  async exists(name: string): Promise<boolean> {
    const query = { prefix: name, limit: 1 };
    const { names } = await dataOf(
      this.#api.GET("/v1/{project_id}/{drive_name}/files", {
        params: { path: this.#path, query },
      }),
    );
    return names[0] === name;
  }

  /** The names of the files and folders directly in a folder, as far as the first page has them. @throws {ApiError} */
  async labelsIn(path: string): Promise<Set<string>> {
    const query = { prefix: path, recursive: false, limit: MAX_ITEMS };
    const { names } = await dataOf(
      this.#api.GET("/v1/{project_id}/{drive_name}/files", {
        params: { path: this.#path, query },
      }),
    );
    return new Set(names.map((name) => labelOf({ name })));
  }

  /** The folders directly in a folder. @throws {ApiError} */
  async foldersIn(path: string, signal?: AbortSignal): Promise<string[]> {
    const names = await this.#names({ prefix: path, recursive: false }, signal);
    return names.filter((name) => name.endsWith("/"));
  }

  /** Gives deleted files back their names. @throws {ApiError} */
  async restore(names: readonly string[], since: number): Promise<Outcome> {
    const wanted = new Set(names);
    if (wanted.size === 0) return { done: [], failed: [] };
    const ids = new Map<string, string>();
    const pages = pagesOf((from) =>
      this.#api.GET("/v1/{project_id}/{drive_name}/trash", {
        params: { path: this.#path, query: { limit: MAX_ITEMS, ...from } },
      })
    );
    for await (const { items } of pages) {
      for (const { id, name, deleted } of items) {
        if (wanted.has(name) && !ids.has(name)) ids.set(name, id);
        // Items come newest first: what is older was deleted by another request.
        if (Date.parse(deleted) < since) wanted.clear();
      }
      if (ids.size >= wanted.size) break;
    }
    return await this.restoreItems([...ids.values()]);
  }

  /** Restores items of the trash. @throws {ApiError} */
  async restoreItems(ids: readonly string[], overwrite = false): Promise<Outcome> {
    const outcome: Outcome = { done: [], failed: [] };
    for (const batch of batchesOf(ids)) {
      const { restored, failed } = await dataOf(
        this.#api.POST("/v1/{project_id}/{drive_name}/trash/restore", {
          params: { path: this.#path },
          body: { ids: batch, overwrite },
        }),
      );
      outcome.done.push(...restored);
      outcome.failed.push(...failed.map(({ id, error }) => ({ name: id, error })));
    }
    return outcome;
  }

  async #names(
    query: { prefix: string; recursive?: boolean },
    signal?: AbortSignal,
  ): Promise<string[]> {
    const pages = pagesOf((from) =>
      this.#api.GET("/v1/{project_id}/{drive_name}/files", {
        params: { path: this.#path, query: { ...query, limit: MAX_ITEMS, ...from } },
        ...withSignal(signal),
      })
    );
    return (await Array.fromAsync(pages)).flatMap(({ names }) => names);
  }

  async #foldersBelow(prefix: string, signal?: AbortSignal): Promise<string[]> {
    const pages = pagesOf((from) =>
      this.#api.GET("/v1/{project_id}/{drive_name}/folders", {
        params: { path: this.#path, query: { prefix, limit: MAX_ITEMS, ...from } },
        ...withSignal(signal),
      })
    );
    return (await Array.fromAsync(pages)).flatMap(({ folders }) => folders);
  }
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** The server names failures in a list, or with their reasons. */
function failuresOf(failed: string[] | Record<string, string>): Outcome["failed"] {
  return Array.isArray(failed)
    ? failed.map((name) => ({ name, error: "The server could not delete it" }))
    : Object.entries(failed).map(([name, error]) => ({ name, error }));
}

function* batchesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += MAX_ITEMS) {
    yield items.slice(start, start + MAX_ITEMS);
  }
}
