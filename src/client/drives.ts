import { createHash } from "node:crypto";
import { parseUtcTime } from "../rules/dates.ts";
import { MAX_DELETE_NAMES } from "../rules/names.ts";
import type { Drive } from "./api/drive.ts";
import type { ListedEntry } from "./api/types.ts";
import type { Connection } from "./connection.ts";
import { ClientError, hasStatus, isTemporary, KvdriveError, unlessMissing } from "./errors.ts";

export interface DriveInfo {
  name: string;
  /** `null` for a key that is limited to some names of the drive. */
  files: number | null;
  bytes: number | null;
}

/** A file's metadata, as a listing returns it. */
export interface FileInfo {
  name: string;
  /** Bytes. */
  size: number;
  type: string;
  /** Changes with every write. */
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** When the copy that was uploaded was last modified, in milliseconds since 1970; absent if the uploader did not say. */
  mtime?: number | undefined;
  /** Base64; absent if the server does not know it. */
  sha256?: string | undefined;
}

/** Returns the modification time that a copy of a file gets: that of the copy which was uploaded, if it is known. */
export function copyTime(
  { mtime, modified }: { mtime?: number | undefined; modified: number },
): number {
  return mtime ?? modified;
}

/** Returns the SHA-256 of a stream of bytes in base64. */
export async function sha256OfStream(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
}

/** A file, or a directory, which has a name ending with a slash only. */
export type Entry = FileInfo | { name: string; size?: undefined };

/** The drives of a project on a server. */
export class RemoteDrives {
  constructor(readonly connection: Connection) {}

  /** Differs between any two projects, servers or stores. */
  get identity(): string {
    return this.connection.identity;
  }

  /** The typed client of a drive. */
  drive(name: string): Drive {
    return this.connection.client.drive(name);
  }

  /** Lists the drives whose names start with a prefix, in name order. */
  async *listDrives(prefix?: string): AsyncIterable<DriveInfo> {
    const drives = this.connection.client.drives({ prefix });
    for await (const { drive_name: name, files, bytes } of drives) yield { name, files, bytes };
  }

  /** Creates an empty drive. @throws {KvdriveError} if there is one of this name. */
  async createDrive(name: string): Promise<void> {
    const { transport } = this.connection;
    const path = [...transport.files, "drives"];
    let tries = 0;
    try {
      const request = { method: "POST", path, json: { name }, onAttempt: () => tries++ };
      await transport.json(request);
    } catch (error) {
      // The answer to the first attempt may have been lost.
      const exists = error instanceof KvdriveError && error.code === "drive_exists";
      if (!exists || tries === 1) throw error;
    }
  }

  /** Returns a drive. @throws {ClientError} if there is none of this name. */
  async require(drive: string): Promise<DriveInfo> {
    // Its name is the first one of those that begin with it.
    for await (const first of this.listDrives(drive)) {
      if (first.name === drive) return first;
      break;
    }
    throw new ClientError(`There is no drive "${drive}" in this project`);
  }

  /** Lists the files whose names start with a prefix, in name order. */
  async *listFiles(drive: string, prefix: string): AsyncIterable<FileInfo> {
    for await (const entry of this.entries(drive, prefix, true)) {
      if (entry.size !== undefined) yield entry;
    }
  }

  /** Lists files by a prefix of their names; unless `recursive`, names are cut at the first slash after the prefix. */
  async *entries(drive: string, prefix: string, recursive: boolean): AsyncIterable<Entry> {
    for await (const file of this.drive(drive).list({ prefix, recursive })) yield entryOf(file);
  }

  /** Lists the folders that are kept although they may be empty. Their names end with a slash. */
  async *listFolders(drive: string, prefix = ""): AsyncIterable<string> {
    try {
      yield* this.drive(drive).folders.list({ prefix });
    } catch (error) {
      // Servers of earlier versions keep no folders.
      if (!hasStatus(error, 404, 405)) throw error;
    }
  }

  /** Reports whether something is in a folder, or the drive keeps the folder. */
  async hasFolder(drive: string, folder: string): Promise<boolean> {
    for await (const _ of this.entries(drive, folder, false)) return true;
    for await (const _ of this.listFolders(drive, folder)) return true;
    return false;
  }

  /** Keeps a folder; does nothing if it is kept already. */
  async createFolder(drive: string, name: string): Promise<void> {
    await this.drive(drive).folders.create(name);
  }

  /** Stops keeping a folder. Files in it stay. */
  async deleteFolder(drive: string, name: string): Promise<void> {
    await this.drive(drive).folders.delete(name);
  }

  /** Returns the metadata of a file; `undefined` if it does not exist. */
  async stat(drive: string, name: string): Promise<FileInfo | undefined> {
    const head = await unlessMissing(this.drive(drive).head(name));
    if (head === undefined) return undefined;
    const { size, contentType: type, etag, modified, mtime, sha256 } = head;
    const times = { modified: modified.getTime(), mtime: mtime?.getTime() };
    return { name, size, type, etag, ...times, sha256 };
  }

  /** Returns the bytes that the quota of the project has room for; `Infinity` if that is not known. */
  async room(): Promise<number> {
    try {
      const { max_bytes, bytes, open_upload_bytes, trash_bytes } = await this.connection.client
        .details();
      return max_bytes === null ? Infinity : max_bytes - bytes - open_upload_bytes - trash_bytes;
    } catch (error) {
      // Keys with fewer rights may not know. The parts are refused then.
      if (error instanceof KvdriveError && !isTemporary(error)) return Infinity;
      throw error;
    }
  }

  /** Fetches files as a zip archive. One that breaks off has to be fetched again from its beginning. */
  async *archive(
    drive: string,
    selection: { names: readonly string[]; prefixes: readonly string[] },
  ): AsyncIterable<Uint8Array> {
    const body = await this.drive(drive).archive(selection);
    try {
      yield* body;
    } catch (error) {
      throw this.connection.transport.broken(error);
    }
  }

  /**
   * Deletes files, and stops keeping folders, whose names end with a slash.
   *
   * @returns The names of files that the server could not delete.
   */
  async remove(drive: string, names: readonly string[]): Promise<string[]> {
    const failed: string[] = [];
    const files = names.filter((name) => !name.endsWith("/"));
    for (let from = 0; from < files.length; from += MAX_DELETE_NAMES) {
      const some = files.slice(from, from + MAX_DELETE_NAMES);
      failed.push(...(await this.drive(drive).delete(...some)).failed);
    }
    for (const name of names) if (name.endsWith("/")) await this.deleteFolder(drive, name);
    return failed;
  }
}

function entryOf(entry: ListedEntry): Entry {
  const { name, size, content_type = "", etag = "", modified = "" } = entry;
  if (size === undefined) return { name };
  const times = { modified: Date.parse(modified) || 0, mtime: parseUtcTime(entry.mtime ?? "") };
  return { name, size, type: content_type, etag, ...times };
}
