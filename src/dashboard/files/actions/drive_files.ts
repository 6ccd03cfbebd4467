import { type Api, dataOf, pagesOf, type Schemas } from "../../core/api.ts";
import type { ErrorCode } from "../../core/api_error.ts";
import type { Entry, Place } from "../entry.ts";
import { compareEntries } from "../listing/order.ts";
import { freeNames, isName } from "./naming.ts";

/** The most items of one call ("1 to 1000"). */
const MAX_ITEMS = 1000;
/** The most items that one call restores under other names. */
const MAX_NAMES = 100;
/** A call takes less than this, in milliseconds. */
const MAX_CALL = 60_000;

export interface Renaming {
  from: string;
  to: string;
}

/** What changed in a folder, so that its list can follow without loading everything again. */
export interface FolderChange {
  /** Names that are gone, or were replaced. */
  removed: readonly string[];
  /** Whether entries may have appeared: the list loads them. */
  hasNew: boolean;
  /** An entry that got another name in its folder. */
  renamed?: Renaming;
  /** Names that are new: they are selected and shown once they are in the list. */
  added?: { drive: string; names: readonly string[] };
}

export interface Outcome {
  done: string[];
  failed: { name: string; error: string; code?: ErrorCode }[];
}

/** What became of one page of a folder. */
interface FolderPage extends Outcome {
  paging?: { last: string };
}

/** What an operation did that puts files into the trash. */
export interface Change extends Outcome {
  /** A time shortly before it, in milliseconds of the server's clock: that of the browser may differ. */
  since: number;
}

/** How files go to a drive. */
interface Way {
  isCopy: boolean;
  /** The drive. */
  to: string;
}

/** Where files go: the same drive or another one of the project. */
export interface Target {
  drive: string;
  /** Empty, or with a slash at its end. */
  path: string;
}

/** The operations on the files of a drive, in as few calls as possible. */
export class DriveFiles {
  readonly #path: { project_id: string; drive_name: string };

  constructor(private readonly api: Api, { project, drive }: Pick<Place, "project" | "drive">) {
    this.#path = { project_id: project, drive_name: drive };
  }

  get drive(): string {
    return this.#path.drive_name;
  }

  /** Lists all files below entries, and the folders that exist by themselves with those among them. @throws {ApiError} */
  async contentsOf(entries: readonly Entry[]): Promise<{ files: string[]; folders: string[] }> {
    const files: string[] = [];
    const folders: string[] = [];
    for (const { kind, name } of entries) {
      if (kind === "file") files.push(name);
      else {
        files.push(...await this.#names({ prefix: name }));
        folders.push(...await this.foldersBelow(name));
      }
    }
    return { files, folders };
  }

  /** Moves or copies files. A target that exists is a failure, unless `overwrite` is set. @throws {ApiError} */
  async transfer(
    items: readonly Renaming[],
    { overwrite = false, ...way }: Way & { overwrite?: boolean },
  ): Promise<Change> {
    const outcome: Change = { done: [], failed: [], since: Infinity };
    for (const batch of batchesOf(items)) {
      await this.#transfer({ items: batch, overwrite }, way, outcome);
    }
    return outcome;
  }

  /** Moves or copies all that is in a folder, with the folders that exist by themselves. @throws {ApiError} */
  async transferFolder({ from, to }: Renaming, way: Way): Promise<Change> {
    const outcome: Change = { done: [], failed: [], since: Infinity };
    for (let last: string | undefined = ""; last !== undefined;) {
      last = await this.#transfer({ from_prefix: from, to_prefix: to, last }, way, outcome);
    }
    return outcome;
  }

  /** Returns where the next page of a folder begins. */
  async #transfer(
    what: Schemas["CopyManyRequest"] | Schemas["CopyPrefixRequest"],
    { isCopy, to }: Way,
    outcome: Change,
  ): Promise<string | undefined> {
    const path = `/v1/{project_id}/{drive_name}/files/${isCopy ? "copy" : "move"}` as const;
    const body = { ...what, ...(to === this.drive ? {} : { to_drive: to }) };
    const call = this.api.POST(path, { params: { path: this.#path }, body });
    const { done, failed, paging } = await dataOf(call) as FolderPage;
    outcome.since = Math.min(outcome.since, startOf((await call).response));
    outcome.done.push(...done);
    outcome.failed.push(...failed);
    return paging?.last;
  }

  /** Deletes files. @throws {ApiError} */
  async remove(names: readonly string[]): Promise<Change> {
    const outcome: Change = { done: [], failed: [], since: Infinity };
    for (const batch of batchesOf(names)) {
      const call = this.api.DELETE("/v1/{project_id}/{drive_name}/files", {
        params: { path: this.#path },
        body: { names: batch },
      });
      const { deleted, failed } = await dataOf(call);
      outcome.since = Math.min(outcome.since, startOf((await call).response));
      outcome.done.push(...deleted);
      outcome.failed.push(...failuresOf(failed));
    }
    return outcome;
  }

  /** Creates a folder that shows although no file is in it. @throws {ApiError} */
  async createFolder(name: string): Promise<void> {
    const options = { params: { path: this.#path }, body: { name } };
    await this.api.POST("/v1/{project_id}/{drive_name}/folders", options);
  }

  /** Folders below a name that exist by themselves, and that one, if it does. @throws {ApiError} */
  async foldersBelow(prefix: string): Promise<string[]> {
    const pages = pagesOf((from) =>
      this.api.GET("/v1/{project_id}/{drive_name}/folders", {
        params: { path: this.#path, query: { prefix, limit: MAX_ITEMS, ...from } },
      })
    );
    return (await Array.fromAsync(pages)).flatMap(({ folders }) => folders);
  }

  /** Forgets folders; what is in them stays. @throws {ApiError} */
  async removeFolders(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const options = { params: { path: this.#path }, body: { name } };
      await this.api.DELETE("/v1/{project_id}/{drive_name}/folders", options);
    }
  }

  /** Returns those of some names that exist. That of a folder ends with a slash. @throws {ApiError} */
  async existing(names: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const batch of batchesOf(names.filter(isName))) {
      const call = this.api.POST("/v1/{project_id}/{drive_name}/files/exist", {
        params: { path: this.#path },
        body: { names: batch },
      });
      for (const name of (await dataOf(call)).names) found.add(name);
    }
    return found;
  }

  /** Whether a file or a folder has a name; that of a folder may be without its slash. @throws {ApiError} */
  async isTaken(name: string): Promise<boolean> {
    return (await this.#taken([name])).size > 0;
  }

  /** Returns for each name one with a number that is free. @param used Names that are not; gets what was tried. @throws {ApiError} */
  async freeNames(names: readonly string[], used: Set<string> = new Set()): Promise<string[]> {
    return await freeNames(names, used, (names) => this.#taken(names));
  }

  /** Returns those of some names that a file or a folder has. */
  async #taken(names: readonly string[]): Promise<Set<string>> {
    const both = (name: string) => [name.replace(/\/$/, ""), name.replace(/\/?$/, "/")];
    const found = await this.existing(names.flatMap(both));
    return new Set(names.filter((name) => both(name).some((one) => found.has(one))));
  }

  /** The folders directly in a folder, in natural order. @throws {ApiError} */
  async foldersIn(path: string, signal: AbortSignal): Promise<string[]> {
    const names = await this.#names({ prefix: path, recursive: false }, signal);
    return names.filter((name) => name.endsWith("/"))
      .map((name): Entry => ({ kind: "folder", name }))
      .sort(compareEntries)
      .map(({ name }) => name);
  }

  /**
   * Gives deleted or replaced files back their names.
   *
   * @param since A time shortly before they went to the trash, in milliseconds of the server's clock.
   * @throws {ApiError}
   */
  async restore(names: readonly string[], since: number): Promise<Outcome> {
    const missing = new Set(names);
    if (missing.size === 0) return { done: [], failed: [] };
    const ids: string[] = [];
    for await (const { id, name } of this.#trashSince(since)) {
      if (missing.delete(name)) ids.push(id);
      if (missing.size === 0) break;
    }
    const { done, failed } = await this.restoreItems(ids);
    const others = [...missing].map((name) => ({ name, error: "it is not in the trash" }));
    return { done, failed: [...failed, ...others] };
  }

  /** Restores items of the trash. @param names The names that they get; those that they had without it. @throws {ApiError} */
  async restoreItems(
    ids: readonly string[],
    { overwrite = false, names }: { overwrite?: boolean; names?: readonly string[] | undefined } =
      {},
  ): Promise<Outcome> {
    const outcome: Outcome = { done: [], failed: [] };
    const size = names === undefined ? MAX_ITEMS : MAX_NAMES;
    for (let from = 0; from < ids.length; from += size) {
      const batch = ids.slice(from, from + size);
      const others = names && { names: names.slice(from, from + size) };
      const { restored, failed } = await dataOf(
        this.api.POST("/v1/{project_id}/{drive_name}/trash/restore", {
          params: { path: this.#path },
          body: { ids: batch, overwrite, ...others },
        }),
      );
      outcome.done.push(...restored);
      outcome.failed.push(...failed.map(({ id, ...failure }) => ({ name: id, ...failure })));
    }
    return outcome;
  }

  /** Deletes items of the trash for good; all of them without `ids`. @throws {ApiError} */
  async removeItems(ids?: readonly string[]): Promise<void> {
    const bodies = ids === undefined
      ? [{ all: true as const }]
      : [...batchesOf(ids)].map((ids) => ({ ids }));
    for (const body of bodies) {
      const options = { params: { path: this.#path }, body };
      await this.api.DELETE("/v1/{project_id}/{drive_name}/trash", options);
    }
  }

  /** The items that went to the trash since a time, newest first. @throws {ApiError} */
  async *#trashSince(since: number): AsyncGenerator<{ id: string; name: string }> {
    const pages = pagesOf((from) =>
      this.api.GET("/v1/{project_id}/{drive_name}/trash", {
        params: { path: this.#path, query: { limit: MAX_ITEMS, ...from } },
      })
    );
    for await (const { items } of pages) {
      for (const item of items) {
        if (Date.parse(item.deleted) < since) return;
        yield item;
      }
    }
  }

  async #names(
    query: { prefix: string; recursive?: boolean },
    signal: AbortSignal | null = null,
  ): Promise<string[]> {
    const pages = pagesOf((from) =>
      this.api.GET("/v1/{project_id}/{drive_name}/files", {
        params: { path: this.#path, query: { ...query, limit: MAX_ITEMS, ...from } },
        signal,
      })
    );
    return (await Array.fromAsync(pages)).flatMap(({ names }) => names);
  }
}

/** A time before the server began to answer, by its own clock. */
function startOf({ headers }: Response): number {
  const time = Date.parse(headers.get("Date") ?? "");
  return (Number.isNaN(time) ? Date.now() : time) - MAX_CALL;
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
