import { MAX_DELETE_NAMES } from "../../rules/names.ts";
import {
  type Change,
  type ChangePage,
  changePage,
  type ChangePageOptions,
  changes,
} from "./changes.ts";
import type { Content } from "./content.ts";
import { type DriveFile, type FileHead, get, type GetOptions, headOf } from "./download.ts";
import { type Conditions, conditionsOf, fieldsOf } from "./headers.ts";
import { Folders, Links, Trash } from "./sharing.ts";
import { Thumbnails } from "./thumbnails.ts";
import { LONG_ANSWER_TIME, type Transport } from "./transport.ts";
import type {
  CopyResult,
  DeletedNames,
  FileChange,
  FileDetails,
  ListedEntry,
  NamePair,
  StoredFile,
} from "./types.ts";
import { put, type PutOptions } from "./upload.ts";
import { Uploads } from "./uploads.ts";

/** Names that are looked up by one request (the server's limit). */
const EXIST_BATCH = 1000;

/** Files that are copied or moved by one request: the server works on them one after another. */
const COPY_BATCH = 200;

/**
 * Which files are listed.
 *
 * @example
 * ```ts
 * const options: ListOptions = { prefix: "trip/", recursive: false };
 * for await (const entry of photos.list(options)) entry.name;
 * ```
 */
export interface ListOptions {
  /** Only names that begin with this. */
  prefix?: string | undefined;
  /** `false`: names are cut at the first slash after the prefix, so that a directory is listed once. */
  recursive?: boolean | undefined;
  /** Only names that contain this text, whatever its case. */
  contains?: string | undefined;
  /** Only names after this one. */
  last?: string | undefined;
  /** Ends the list with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/**
 * Where copied and moved files go.
 *
 * @example
 * ```ts
 * await photos.put("a.jpg", "…");
 * const options: CopyManyOptions = { toDrive: "archive", overwrite: true };
 * await photos.copyMany([{ from: "a.jpg", to: "2026/a.jpg" }], options);
 * ```
 */
export interface CopyManyOptions {
  /** The drive of the new names; this one unless given. */
  toDrive?: string | undefined;
  /** Whether files that have the new names are replaced. Otherwise they are an error (409, `file_exists`). */
  overwrite?: boolean | undefined;
}

/**
 * Where a copied or moved file goes.
 *
 * @example
 * ```ts
 * await photos.put("a.jpg", "…");
 * const { etag: ifMatch } = await photos.head("a.jpg") ?? {};
 * const options: CopyOptions = { toDrive: "archive", overwrite: true, ifMatch };
 * await photos.copy("a.jpg", "a.jpg", options);
 * ```
 */
export interface CopyOptions extends CopyManyOptions {
  /** Only if the source has this ETag. */
  ifMatch?: string | undefined;
}

/**
 * What became of the files of a prefix.
 *
 * @example
 * ```ts
 * await photos.put("trip/a.jpg", "…");
 * const { done, failed }: PrefixResult = await photos.movePrefix("trip/", "2026/trip/");
 * [done, failed.length]; // [1, 0]
 * ```
 */
export interface PrefixResult {
  /** The number of files. */
  done: number;
  /** Files with which it was not done, and why. */
  failed: CopyResult["failed"];
}

/**
 * The files of a drive.
 *
 * @example
 * ```ts
 * await photos.put("trip/a.jpg", new Blob(["…"], { type: "image/jpeg" }));
 * const file = await photos.get("trip/a.jpg"); // undefined if there is none
 * for await (const entry of photos.list({ prefix: "trip/" })) entry.size;
 * await photos.copy("trip/a.jpg", "trip/b.jpg");
 * await photos.move("trip/b.jpg", "b.jpg", { toDrive: "archive", overwrite: true });
 * await photos.delete("trip/a.jpg");
 * ```
 */
export class Drive {
  /** The name of the drive. */
  readonly name: string;
  readonly links: Links;
  readonly folders: Folders;
  readonly trash: Trash;
  readonly thumbnails: Thumbnails;
  readonly uploads: Uploads;
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `project.drive(name)`. */
  constructor(transport: Transport, name: string) {
    this.name = name;
    this.links = new Links(transport, name);
    this.folders = new Folders(transport, name);
    this.trash = new Trash(transport, name);
    this.thumbnails = new Thumbnails(transport, name);
    this.uploads = new Uploads(transport, name);
    this.#transport = transport;
    this.#path = [...transport.files, name];
  }

  /** Stores a file of any size, in place of an earlier one. It is seen whole or not at all. */
  async put(name: string, content: Content, options: PutOptions = {}): Promise<StoredFile> {
    return (await put(this.#transport, { drive: this.name, name }, content, options)).file;
  }

  /** Fetches a file; `undefined` if there is none. */
  async get(name: string, options: GetOptions = {}): Promise<DriveFile | undefined> {
    return await get(this.#transport, { drive: this.name, name }, options);
  }

  /** Returns what `get` tells about a file, without its bytes; `undefined` if there is none. */
  async head(
    name: string,
    options: Omit<GetOptions, "range"> = {},
  ): Promise<FileHead | undefined> {
    return await headOf(this.#transport, { drive: this.name, name }, options);
  }

  /** Returns what lists tell about a file; `undefined` if there is none. The key needs the permission `list`. */
  async details(name: string): Promise<FileDetails | undefined> {
    const query = { prefix: name, limit: 1, details: true };
    const request = { method: "GET", path: [...this.#path, "files"], query };
    const { files } = await this.#transport.json<{ files: FileDetails[] }>(request);
    return files.find((file) => file.name === name);
  }

  /** Lists all files, or those of a prefix, in the order of the UTF-8 bytes of their names. */
  list({ signal, ...query }: ListOptions = {}): AsyncIterable<ListedEntry> {
    const path = [...this.#path, "files"];
    return this.#transport.items({ path, query: { ...query, details: true }, signal }, "files");
  }

  /** Deletes files. Names that do not exist count as deleted. */
  async delete(...names: string[]): Promise<DeletedNames> {
    const all: DeletedNames = { deleted: [], failed: [] };
    for (const batch of batchesOf(names, MAX_DELETE_NAMES)) {
      const { deleted, failed } = await this.#transport.json<Deletion>({
        method: "DELETE",
        path: [...this.#path, "files"],
        json: { names: batch },
        timeout: LONG_ANSWER_TIME,
      });
      all.deleted.push(...deleted);
      all.failed.push(...namesOf(failed));
    }
    return all;
  }

  /** Returns those of some names that exist. A name with a slash at its end is that of a folder. */
  async existing(...names: string[]): Promise<string[]> {
    const found: string[] = [];
    for (const batch of batchesOf(names, EXIST_BATCH)) {
      const path = [...this.#path, "files", "exist"];
      const request = { method: "POST", path, json: { names: batch } };
      found.push(...(await this.#transport.json<{ names: string[] }>(request)).names);
    }
    return found;
  }

  /** Counts the files whose names begin with a prefix, and their bytes. */
  async measure(
    { prefix }: { prefix?: string | undefined } = {},
  ): Promise<{ files: number; bytes: number }> {
    const path = [...this.#path, "files", "size"];
    const all = { files: 0, bytes: 0 };
    const pages = this.#transport.pages<typeof all & { paging?: { last: string } }>((last) => ({
      method: "GET",
      path,
      query: { prefix, last },
    }));
    for await (const { files, bytes } of pages) {
      all.files += files;
      all.bytes += bytes;
    }
    return all;
  }

  /** Deletes all files and kept folders whose names begin with a prefix. Returns the number of names. */
  async deletePrefix(prefix: string): Promise<{ deleted: number; failed: string[] }> {
    const all = { deleted: 0, failed: [] as string[] };
    const pages = this.#transport.pages<Deletion>((last) => ({
      method: "DELETE",
      path: [...this.#path, "files"],
      json: { prefix, last },
      timeout: LONG_ANSWER_TIME,
    }));
    for await (const { deleted, failed } of pages) {
      all.deleted += deleted.length;
      all.failed.push(...namesOf(failed));
    }
    return all;
  }

  /** Copies all files whose names begin with a prefix; the rest of each name stays. */
  async copyPrefix(from: string, to: string, options: CopyManyOptions = {}): Promise<PrefixResult> {
    return await this.#relocatePrefix("copy", from, to, options);
  }

  /** Moves all files whose names begin with a prefix; the rest of each name stays. Each file is moved atomically. */
  async movePrefix(from: string, to: string, options: CopyManyOptions = {}): Promise<PrefixResult> {
    return await this.#relocatePrefix("move", from, to, options);
  }

  /** Changes when a file expires, its content type, or both. */
  async change(
    name: string,
    change: FileChange,
    conditions: Conditions = {},
  ): Promise<FileDetails> {
    return await this.#transport.json({
      method: "PATCH",
      path: [...this.#path, "files"],
      query: { name },
      headers: conditionsOf(conditions),
      json: fieldsOf(change),
      isUnrepeatable: Object.values(conditions).some((one) => one !== undefined),
    });
  }

  /** Copies a file in the time of a small write. Unless with `overwrite`, it is not repeated if its answer was lost. */
  async copy(from: string, to: string, options: CopyOptions = {}): Promise<StoredFile> {
    return await this.#relocate("copy", { from, to }, options);
  }

  /** Moves a file in one atomic step. It is not repeated if its answer was lost. */
  async move(from: string, to: string, options: CopyOptions = {}): Promise<StoredFile> {
    return await this.#relocate("move", { from, to }, options);
  }

  /** Copies files. The failure of one does not keep the others from it. */
  async copyMany(items: readonly NamePair[], options: CopyManyOptions = {}): Promise<CopyResult> {
    return await this.#relocateMany("copy", items, options);
  }

  /** Moves files. The failure of one does not keep the others from it. */
  async moveMany(items: readonly NamePair[], options: CopyManyOptions = {}): Promise<CopyResult> {
    return await this.#relocateMany("move", items, options);
  }

  /** Fetches files as a zip archive: those with these names, and all whose names begin with one of the prefixes. */
  async archive(
    { signal, ...selection }: {
      names?: readonly string[] | undefined;
      prefixes?: readonly string[] | undefined;
      signal?: AbortSignal | undefined;
    },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const path = [...this.#path, "archive"];
    const request = { method: "POST", path, json: selection, signal, timeout: LONG_ANSWER_TIME };
    const { body } = await this.#transport.send(request);
    return body ?? new Blob([]).stream();
  }

  /**
   * Returns changes as they happen, until the signal is aborted; connections that break are made again. The project must
   * keep changes (`changeDays`).
   */
  changes(
    options: { since?: string | number | undefined; signal?: AbortSignal | undefined } = {},
  ): AsyncIterable<Change> {
    return changes(this.#transport, this.name, options);
  }

  /** Returns the changes after a cursor by now, and the cursor after them. */
  async changePage(options: ChangePageOptions = {}): Promise<ChangePage> {
    return await changePage(this.#transport, this.name, options);
  }

  async #relocate(
    kind: "copy" | "move",
    pair: NamePair,
    { ifMatch, ...options }: CopyOptions,
  ): Promise<StoredFile> {
    return await this.#transport.json({
      method: "POST",
      path: [...this.#path, "files", kind],
      headers: conditionsOf({ ifMatch }),
      json: { ...pair, ...fieldsOf(options) },
      isUnrepeatable: kind === "move" || options.overwrite !== true,
    });
  }

  async #relocatePrefix(
    kind: "copy" | "move",
    from_prefix: string,
    to_prefix: string,
    options: CopyManyOptions,
  ): Promise<PrefixResult> {
    const all: PrefixResult = { done: 0, failed: [] };
    const pages = this.#transport.pages<CopyResult>((last) => ({
      method: "POST",
      path: [...this.#path, "files", kind],
      json: { from_prefix, to_prefix, ...fieldsOf(options), last },
      timeout: LONG_ANSWER_TIME,
      isUnrepeatable: kind === "move" || options.overwrite !== true,
    }));
    for await (const { done, failed } of pages) {
      all.done += done.length;
      all.failed.push(...failed);
    }
    return all;
  }

  async #relocateMany(
    kind: "copy" | "move",
    items: readonly NamePair[],
    options: CopyManyOptions,
  ): Promise<CopyResult> {
    const all: CopyResult = { done: [], failed: [] };
    for (const batch of batchesOf(items, COPY_BATCH)) {
      const { done, failed } = await this.#transport.json<CopyResult>({
        method: "POST",
        path: [...this.#path, "files", kind],
        json: { items: batch, ...fieldsOf(options) },
        timeout: LONG_ANSWER_TIME,
        isUnrepeatable: kind === "move" || options.overwrite !== true,
      });
      all.done.push(...done);
      all.failed.push(...failed);
    }
    return all;
  }
}

/** What a deletion answers. A server with --failed-reasons answers an object of reasons by name. */
interface Deletion {
  deleted: string[];
  failed: string[] | Record<string, string>;
  paging?: { last: string };
}

function namesOf(failed: Deletion["failed"]): string[] {
  return Array.isArray(failed) ? failed : Object.keys(failed);
}

function* batchesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
