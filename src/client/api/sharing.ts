import { unlessMissing } from "./error.ts";
import { fieldsOf } from "./headers.ts";
import { LONG_ANSWER_TIME, type Transport } from "./transport.ts";
import type { Folder, Link, LinkChanges, LinkOptions, RestoreResult, TrashItem } from "./types.ts";

/**
 * The links of a drive.
 *
 * @example
 * ```ts
 * const { id, url } = await photos.links.create({ name: "a.jpg", expiresIn: 3600 });
 * for await (const link of photos.links.list()) link.downloads;
 * await photos.links.change(id, { expiresIn: 86_400, password: "secret" });
 * await photos.links.delete(id); // true
 * ```
 */
export class Links {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `drive.links`. */
  constructor(transport: Transport, drive: string) {
    this.#transport = transport;
    this.#path = [...transport.files, drive, "links"];
  }

  /** Creates a link on a file or on all files of a prefix. It is not repeated if its answer was lost. */
  async create(options: LinkOptions): Promise<Link> {
    const request = { method: "POST", path: this.#path, json: fieldsOf(options) };
    return await this.#transport.json({ ...request, isUnrepeatable: true });
  }

  /** Lists the links, the newest first. */
  list(): AsyncIterable<Link> {
    return this.#transport.items({ path: this.#path }, "links");
  }

  /** Sets the given settings of a link, and leaves the others; `null` removes a limit. The address stays. */
  async change(id: string, changes: LinkChanges): Promise<Link> {
    const request = { method: "PATCH", path: [...this.#path, id], json: fieldsOf(changes) };
    return await this.#transport.json(request);
  }

  /** Revokes a link. Reports whether the drive had it. */
  async delete(id: string): Promise<boolean> {
    const request = { method: "DELETE", path: [...this.#path, id] };
    return await unlessMissing(this.#transport.json(request), ["link_not_found"]) !== undefined;
  }
}

/**
 * Folders that are kept although they may be empty. Their names end with a slash.
 *
 * @example
 * ```ts
 * await photos.folders.create("trip/2026/");
 * for await (const name of photos.folders.list({ prefix: "trip/" })) name; // "trip/2026/"
 * await photos.folders.delete("trip/2026/");
 * ```
 */
export class Folders {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `drive.folders`. */
  constructor(transport: Transport, drive: string) {
    this.#transport = transport;
    this.#path = [...transport.files, drive, "folders"];
  }

  /** Keeps a folder; does nothing if it is kept already. */
  async create(name: string): Promise<Folder> {
    return await this.#transport.json({ method: "POST", path: this.#path, json: { name } });
  }

  /** Lists the folders that are kept. */
  list({ prefix }: { prefix?: string | undefined } = {}): AsyncIterable<string> {
    return this.#transport.items({ path: this.#path, query: { prefix } }, "folders");
  }

  /** Keeps a folder no longer. Files in it stay. */
  async delete(name: string): Promise<Folder> {
    return await this.#transport.json({ method: "DELETE", path: this.#path, json: { name } });
  }
}

/**
 * The deleted and replaced files of a drive, while the trash of the project is on.
 *
 * @example
 * ```ts
 * for await (const { id } of photos.trash.list()) await photos.trash.restore([id]);
 * await photos.trash.empty(); // the number of files that are gone for good
 * ```
 */
export class Trash {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `drive.trash`. */
  constructor(transport: Transport, drive: string) {
    this.#transport = transport;
    this.#path = [...transport.files, drive, "trash"];
  }

  /** Lists the trash, the newest first. */
  list({ prefix }: { prefix?: string | undefined } = {}): AsyncIterable<TrashItem> {
    return this.#transport.items({ path: this.#path, query: { prefix } }, "items");
  }

  /** Gives files their names back. It is not repeated if its answer was lost. */
  async restore(
    ids: readonly string[],
    { overwrite }: { overwrite?: boolean | undefined } = {},
  ): Promise<RestoreResult> {
    if (ids.length === 0) return { restored: [], failed: [] };
    return await this.#transport.json({
      method: "POST",
      path: [...this.#path, "restore"],
      json: { ids, overwrite },
      timeout: LONG_ANSWER_TIME,
      isUnrepeatable: true,
    });
  }

  /** Gives the newest deleted file of each name that begins with a prefix its name back, unless a file has it now. */
  async restorePrefix(
    prefix: string,
  ): Promise<{ restored: number; failed: RestoreResult["failed"] }> {
    const all = { restored: 0, failed: [] as RestoreResult["failed"] };
    const pages = this.#transport.pages<RestoreResult>((last) => ({
      method: "POST",
      path: [...this.#path, "restore"],
      json: { prefix, last },
      timeout: LONG_ANSWER_TIME,
      isUnrepeatable: true,
    }));
    for await (const { restored, failed } of pages) {
      all.restored += restored.length;
      all.failed.push(...failed);
    }
    return all;
  }

  /** Deletes items for good. Returns their number. */
  async delete(ids: readonly string[]): Promise<number> {
    return ids.length === 0 ? 0 : await this.#delete({ ids });
  }

  /** Deletes everything in the trash for good. Returns the number of items. */
  async empty(): Promise<number> {
    return await this.#delete({ all: true });
  }

  async #delete(json: unknown): Promise<number> {
    const request = { method: "DELETE", path: this.#path, json, timeout: LONG_ANSWER_TIME };
    return (await this.#transport.json<{ deleted: number }>(request)).deleted;
  }
}
