import { Refused, TemporaryFailure } from "./errors.ts";
import type { Connection } from "./connection.ts";

/** A link. It has either a name or a prefix. */
export interface Link {
  id: string;
  url: string;
  name?: string;
  prefix?: string;
  created: string;
  expires: string | null;
  download: boolean;
  has_password: boolean;
  max_downloads: number | null;
  downloads: number;
}

/** What a new link is to be. It has either a name or a prefix. */
export interface NewLink {
  name?: string;
  prefix?: string;
  /** Seconds. */
  expires_in?: number | undefined;
  download?: boolean;
  password?: string | undefined;
  max_downloads?: number | undefined;
}

/** A file in the trash. */
export interface TrashItem {
  id: string;
  name: string;
  size: number;
  content_type: string;
  deleted: string;
  expires: string;
  reason: "deleted" | "replaced";
}

/** An upload that is not complete. */
export interface OpenUpload {
  upload_id: string;
  name: string;
  created: string;
  expires: string;
}

/** What a project shares, its trash and its open uploads. */
export class RemoteSharing {
  constructor(
    private readonly connection: Connection,
  ) {}

  /** Creates a link. Its address is in the answer; a repeated request may leave a second link behind, which opens the same. */
  async createLink(drive: string, link: NewLink): Promise<Link> {
    return await this.#send("POST", drive, "/links", link);
  }

  listLinks(drive: string): AsyncIterable<Link> {
    return this.connection.items({ path: `${this.connection.drivePath(drive)}/links` }, "links");
  }

  /** Revokes a link, and reports whether the drive had it. */
  async revokeLink(drive: string, id: string): Promise<boolean> {
    return await this.#delete(drive, `/links/${encodeURIComponent(id)}`);
  }

  /** Lists the trash, the newest first. */
  listTrash(drive: string, prefix: string): AsyncIterable<TrashItem> {
    return this.connection.items({ path: `${this.connection.drivePath(drive)}/trash` }, "items", {
      prefix,
    });
  }

  /** Restores items, and returns why some were not. */
  async restore(
    drive: string,
    ids: readonly string[],
    overwrite: boolean,
  ): Promise<{ restored: string[]; failed: { id: string; error: string }[] }> {
    return await this.#send("POST", drive, "/trash/restore", { ids, overwrite });
  }

  /** Deletes all items of a drive for good, and returns their number. */
  async emptyTrash(drive: string): Promise<number> {
    return (await this.#send<{ deleted: number }>("DELETE", drive, "/trash", { all: true }))
      .deleted;
  }

  listUploads(drive: string): AsyncIterable<OpenUpload> {
    return this.connection.items(
      { path: `${this.connection.drivePath(drive)}/uploads` },
      "uploads",
    );
  }

  /** Aborts an upload, and reports whether it was open. */
  async abortUpload(drive: string, { upload_id, name }: OpenUpload): Promise<boolean> {
    const query = new URLSearchParams({ name });
    return await this.#delete(drive, `/uploads/${encodeURIComponent(upload_id)}?${query}`);
  }

  /**
   * Fetches files as a zip archive.
   *
   * @throws {TemporaryFailure} if it breaks off: it has to be fetched again from its beginning.
   */
  async *archive(
    drive: string,
    selection: { names: readonly string[]; prefixes: readonly string[] },
  ): AsyncIterable<Uint8Array> {
    const answer = await this.connection.request({
      method: "POST",
      path: `${this.connection.drivePath(drive)}/archive`,
      ...jsonBody(selection),
    });
    try {
      yield* answer.body ?? [];
    } catch (error) {
      const problem = `The connection to ${this.connection.origin} broke`;
      throw new TemporaryFailure(problem, 0, { cause: error });
    }
  }

  async #send<T>(method: string, drive: string, path: string, body: unknown): Promise<T> {
    const request = {
      method,
      path: `${this.connection.drivePath(drive)}${path}`,
      ...jsonBody(body),
    };
    return await this.connection.requestJson<T>(request);
  }

  async #delete(drive: string, path: string): Promise<boolean> {
    try {
      const request = { method: "DELETE", path: `${this.connection.drivePath(drive)}${path}` };
      await this.connection.requestEmpty(request);
      return true;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return false;
      throw error;
    }
  }
}

function jsonBody(body: unknown): { body: string; headers: Record<string, string> } {
  return { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
}
