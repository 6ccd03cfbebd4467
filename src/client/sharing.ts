import type { ErrorCode } from "../rules/error_codes.ts";
import { TemporaryFailure, unlessMissing } from "./errors.ts";
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

export interface TrashItem {
  id: string;
  name: string;
  size: number;
  content_type: string;
  deleted: string;
  expires: string;
  reason: "deleted" | "replaced";
}

/** An item that stays in the trash, and why. */
export interface NotRestored {
  id: string;
  error: string;
  code: ErrorCode;
}

export interface OpenUpload {
  upload_id: string;
  name: string;
  created: string;
  expires: string;
}

/** What a project shares, its trash and its open uploads. */
export class RemoteSharing {
  constructor(private readonly connection: Connection) {}

  /** Creates a link. Its address is in the answer; a repeated request may leave a second link behind, which opens the same. */
  async createLink(drive: string, json: NewLink): Promise<Link> {
    return await this.connection.requestJson({ method: "POST", path: [drive, "links"], json });
  }

  listLinks(drive: string): AsyncIterable<Link> {
    return this.connection.items({ path: [drive, "links"] }, "links");
  }

  /** Revokes a link, and reports whether the drive had it. */
  async revokeLink(drive: string, id: string): Promise<boolean> {
    return await this.#delete([drive, "links", id]);
  }

  /** Lists the trash, the newest first. */
  listTrash(drive: string, prefix: string): AsyncIterable<TrashItem> {
    return this.connection.items({ path: [drive, "trash"], query: { prefix } }, "items");
  }

  /** Restores items, and returns why some were not. */
  async restore(
    drive: string,
    ids: readonly string[],
    overwrite: boolean,
  ): Promise<{ restored: string[]; failed: NotRestored[] }> {
    const path = [drive, "trash", "restore"];
    return await this.connection.requestJson({ method: "POST", path, json: { ids, overwrite } });
  }

  /** Deletes all items of a drive for good, and returns their number. */
  async emptyTrash(drive: string): Promise<number> {
    const request = { method: "DELETE", path: [drive, "trash"], json: { all: true } };
    return (await this.connection.requestJson<{ deleted: number }>(request)).deleted;
  }

  listUploads(drive: string): AsyncIterable<OpenUpload> {
    return this.connection.items({ path: [drive, "uploads"] }, "uploads");
  }

  /** Aborts an upload, and reports whether it was open. */
  async abortUpload(drive: string, { upload_id, name }: OpenUpload): Promise<boolean> {
    return await this.#delete([drive, "uploads", upload_id], { name });
  }

  /**
   * Fetches files as a zip archive.
   *
   * @throws {TemporaryFailure} if it breaks off: it has to be fetched again from its beginning.
   */
  async *archive(
    drive: string,
    json: { names: readonly string[]; prefixes: readonly string[] },
  ): AsyncIterable<Uint8Array> {
    const path = [drive, "archive"];
    const answer = await this.connection.request({ method: "POST", path, json });
    try {
      yield* answer.body ?? [];
    } catch (error) {
      const problem = `The connection to ${this.connection.origin} broke`;
      throw new TemporaryFailure(problem, 0, { cause: error });
    }
  }

  async #delete(path: readonly string[], query: Record<string, string> = {}): Promise<boolean> {
    const answer = await unlessMissing(this.connection.request({ method: "DELETE", path, query }));
    await answer?.body?.cancel();
    return answer !== undefined;
  }
}
