import { deadline } from "@std/async/deadline";
import { parseHttpDate, parseUtcTime, utcTime } from "../rules/dates.ts";
import { MAX_DELETE_NAMES } from "../rules/names.ts";
import { ANSWER_TIME, type Connection, SENT_ANSWER_TIME } from "./connection.ts";
import { type DriveInfo, type FileInfo, sha256Of, type WriteOptions } from "./drives.ts";
import {
  ClientError,
  FileChanged,
  FileExists,
  Refused,
  TemporaryFailure,
  unlessMissing,
} from "./errors.ts";
import type { Retrier } from "./retrier.ts";

/** A file or directory of a listing; a directory has a name only. */
interface ListedFile {
  name: string;
  size?: number;
  content_type?: string;
  etag?: string;
  modified?: string;
  mtime?: string;
}

/** A part of an upload that the server has. */
interface StoredPart {
  part: number;
  /** In base64. */
  sha256: string;
}

/** A drive as the server lists it. */
interface ListedDrive extends Omit<DriveInfo, "name"> {
  drive_name: string;
}

/** The limit of a project, and what counts towards it, in bytes. */
interface Quota {
  max_bytes: number | null;
  bytes: number;
  open_upload_bytes: number;
  trash_bytes: number;
}

/** A change of a name of a drive. */
export interface RemoteChange {
  id: string;
  at: string;
  type: "put" | "delete" | "move";
  name: string;
  from?: string;
  size?: number;
}

/** Changes, and the cursor after them. */
export interface ChangesPage {
  changes: RemoteChange[];
  last: string;
  more: boolean;
}

/** A file, or a directory, which has a name ending with a slash only. */
export type Entry = FileInfo | { name: string; size?: undefined };

/** The drives of a project on a server. Every method throws `ClientError`, and all but `read` repeat failed requests. */
export class RemoteDrives {
  constructor(readonly connection: Connection) {}

  /** Differs between any two projects, servers or stores. */
  get identity(): string {
    return this.connection.identity;
  }

  get retrier(): Retrier {
    return this.connection.retrier;
  }

  /** Lists the drives whose names start with a prefix, in name order. */
  async *listDrives(prefix?: string): AsyncIterable<DriveInfo> {
    const query: Record<string, string> = prefix === undefined ? {} : { prefix };
    const drives = this.connection.items<ListedDrive>({ path: [], query }, "drives");
    for await (const { drive_name: name, files, bytes } of drives) yield { name, files, bytes };
  }

  /**
   * Returns changes of a drive.
   *
   * @param query As the API has it: `since`, `limit`, `wait`.
   */
  async changes(drive: string, query: Record<string, string>): Promise<ChangesPage> {
    return await this.connection.requestJson({ method: "GET", path: [drive, "changes"], query });
  }

  /** Creates an empty drive. @throws {ClientError} if there is one of this name. */
  async createDrive(name: string): Promise<void> {
    let tries = 0;
    await this.connection.retrier.run(async () => {
      tries++;
      try {
        const request = { method: "POST", path: ["drives"], json: { name } } as const;
        const answer = await this.connection.send(request);
        await answer.body?.cancel();
      } catch (error) {
        // The answer to the first attempt may have been lost.
        if (error instanceof Refused && error.code === "drive_exists" && tries > 1) return;
        throw error;
      }
    });
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
    const query = { details: "true", prefix, recursive: `${recursive}` };
    const files = this.connection.items<ListedFile>({ path: [drive, "files"], query }, "files");
    for await (const file of files) yield entryOf(file);
  }

  /** Lists the folders that are kept although they may be empty. Their names end with a slash. */
  async *listFolders(drive: string, prefix = ""): AsyncIterable<string> {
    const list = { path: [drive, "folders"], query: { prefix } };
    try {
      yield* this.connection.items<string>(list, "folders");
    } catch (error) {
      // Servers of earlier versions keep no folders.
      if (!(error instanceof Refused && [404, 405].includes(error.status))) throw error;
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
    const path = [drive, "folders"];
    await this.connection.requestEmpty({ method: "POST", path, json: { name } });
  }

  /** Stops keeping a folder. Files in it stay. */
  async deleteFolder(drive: string, name: string): Promise<void> {
    const path = [drive, "folders"];
    await this.connection.requestEmpty({ method: "DELETE", path, json: { name } });
  }

  /** Returns the metadata of a file; `undefined` if it does not exist. */
  async stat(drive: string, name: string): Promise<FileInfo | undefined> {
    const request = { method: "HEAD", path: [drive, "files", "download"], query: { name } };
    const answer = await unlessMissing(this.connection.request(request));
    if (answer === undefined) return undefined;
    const { headers } = answer;
    const sha256 = digestIn(headers);
    const mtime = parseUtcTime(headers.get("x-kvdrive-mtime") ?? "");
    return {
      name,
      size: Number(headers.get("content-length")),
      type: headers.get("content-type") ?? "",
      etag: (headers.get("etag") ?? "").replaceAll('"', ""),
      modified: (parseHttpDate(headers.get("last-modified") ?? "") ?? 0) * 1000,
      ...(mtime === undefined ? {} : { mtime }),
      ...(sha256 === undefined ? {} : { sha256 }),
    };
  }

  /**
   * Reads a version of a file between two offsets.
   *
   * @returns The bytes, and the SHA-256 of the whole file in base64 if the server knows it.
   * @throws {FileChanged} if the version no longer exists.
   */
  async read(
    drive: string,
    { name, size, etag }: FileInfo,
    from: number,
    end: number,
  ): Promise<{ bytes: AsyncIterable<Uint8Array>; sha256: string | undefined }> {
    // "If-Match" makes all pieces come from one version.
    const headers = { "If-Match": `"${etag}"`, ...rangeOf(size, from, end) };
    const path = [drive, "files", "download"];
    try {
      const answer = await this.connection.send({ method: "GET", path, query: { name }, headers });
      const begins = answer.status === 206
        ? Number(/^bytes (\d+)-/.exec(answer.headers.get("content-range") ?? "")?.[1])
        : 0;
      if (begins !== from) {
        await answer.body?.cancel();
        throw new ClientError(`The server did not send ${name} from byte ${from}`);
      }
      return { bytes: this.#bytesOf(answer), sha256: digestIn(answer.headers) };
    } catch (error) {
      if (error instanceof Refused && [404, 412, 416].includes(error.status)) {
        throw new FileChanged("The file was changed or deleted during the download");
      }
      throw error;
    }
  }

  /** Writes a file of at most 10 MB. @throws {FileExists} with `isNew`, if the file exists. */
  async putFile(
    drive: string,
    name: string,
    bytes: Uint8Array,
    { type, mtime, isNew }: WriteOptions,
  ): Promise<void> {
    const sha256 = sha256Of(bytes);
    const request = {
      method: "POST",
      path: [drive, "files"],
      query: queryOf(name, mtime),
      headers: {
        "Content-Type": type,
        "Content-Digest": `sha-256=:${sha256}:`,
        ...(isNew ? { "If-None-Match": "*" } : {}),
      },
      bytes,
      timeout: SENT_ANSWER_TIME,
    };
    let tries = 0;
    try {
      await this.connection.retrier.run(async () => {
        tries++;
        const answer = await this.connection.send(request);
        await answer.body?.cancel();
      });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 412)) throw error;
      // An earlier attempt succeeded and its answer was lost: the existing file is this one.
      const isOurs = tries > 1 && (await this.stat(drive, name))?.sha256 === sha256;
      if (!isOurs) throw new FileExists();
    }
  }

  /** Returns the bytes that the quota of the project has room for; `Infinity` if that is not known. */
  async room(): Promise<number> {
    const request = { method: "GET", path: ["projects", this.connection.project] };
    try {
      const { max_bytes, bytes, open_upload_bytes, trash_bytes } = await this.connection
        .requestJson<Quota>({ ...request, isAdmin: true });
      return max_bytes === null ? Infinity : max_bytes - bytes - open_upload_bytes - trash_bytes;
    } catch (error) {
      // Keys with fewer rights may not know. The parts are refused then.
      if (error instanceof Refused) return Infinity;
      throw error;
    }
  }

  /** Starts a multipart upload and returns its id. */
  async startUpload(drive: string, name: string, { type, mtime }: WriteOptions): Promise<string> {
    const headers = { "Content-Type": type };
    const query = queryOf(name, mtime);
    const request = { method: "POST", path: [drive, "uploads"], query, headers };
    return (await this.connection.requestJson<{ upload_id: string }>(request)).upload_id;
  }

  /** Lists the stored parts of an upload; `undefined` if the upload is not open. */
  async partsOf(drive: string, name: string, id: string): Promise<StoredPart[] | undefined> {
    const query = { name, details: "true" };
    const request = { method: "GET", path: [drive, "uploads", id], query };
    const found = this.connection.requestJson<{ parts: StoredPart[] }>(request);
    return (await unlessMissing(found))?.parts;
  }

  /** Sends a part of an upload. @param sha256 Of the bytes, in base64. */
  async putPart(
    drive: string,
    name: string,
    id: string,
    { number, bytes, sha256 }: { number: number; bytes: Uint8Array; sha256: string },
  ): Promise<void> {
    await this.connection.requestEmpty({
      method: "POST",
      path: [drive, "uploads", id, "parts"],
      query: { name, part: `${number}` },
      // No content type: it was sent with the start of the upload.
      headers: { "Content-Digest": `sha-256=:${sha256}:` },
      bytes,
      timeout: SENT_ANSWER_TIME,
    });
  }

  /** Publishes an upload. @throws {FileExists} with `isNew`, if the file exists. */
  async complete(drive: string, name: string, id: string, isNew: boolean): Promise<void> {
    const request = { method: "PATCH", path: [drive, "uploads", id], query: { name } };
    const headers: Record<string, string> = isNew ? { "If-None-Match": "*" } : {};
    try {
      await this.connection.requestEmpty({ ...request, headers, timeout: SENT_ANSWER_TIME });
    } catch (error) {
      throw error instanceof Refused && error.status === 412 ? new FileExists() : error;
    }
  }

  /** Deletes an open upload; does nothing if it is not open. */
  async abort(drive: string, name: string, id: string): Promise<void> {
    const request = { method: "DELETE", path: [drive, "uploads", id], query: { name } };
    await unlessMissing(this.connection.requestEmpty(request));
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
      const json = { names: files.slice(from, from + MAX_DELETE_NAMES) };
      const request = { method: "DELETE", path: [drive, "files"], json, timeout: SENT_ANSWER_TIME };
      const answer = await this.connection.requestJson<
        { failed: string[] | Record<string, string> }
      >(request);
      // A server with --failed-reasons answers an object of reasons by name.
      failed.push(...(Array.isArray(answer.failed) ? answer.failed : Object.keys(answer.failed)));
    }
    for (const name of names) if (name.endsWith("/")) await this.deleteFolder(drive, name);
    return failed;
  }

  /** Reads a response body. @throws {TemporaryFailure} if it breaks off or stalls. */
  async *#bytesOf(answer: Response): AsyncIterable<Uint8Array> {
    const reader = answer.body?.getReader();
    if (reader === undefined) return;
    try {
      for (;;) {
        const { done, value } = await nextChunk(reader.read(), this.connection.origin);
        if (done) return;
        yield* this.connection.limiter?.pace(value) ?? [value];
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }
}

/** Waits for the next chunk of a body. @throws {TemporaryFailure} if it breaks off, or stalls for `ANSWER_TIME`. */
async function nextChunk<T>(next: Promise<T>, origin: string): Promise<T> {
  try {
    return await deadline(next, ANSWER_TIME);
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const problem = isLate ? `${origin} stopped sending` : `The connection to ${origin} broke`;
    throw new TemporaryFailure(problem, 0, { cause: error });
  }
}

/** Returns the query of a call that makes a file. A time that the server does not accept is left out. */
function queryOf(name: string, mtime: number | undefined): Record<string, string> {
  const time = mtime === undefined ? undefined : utcTime(mtime);
  return { name, ...(time === undefined ? {} : { mtime: time }) };
}

function rangeOf(size: number, from: number, end: number): Record<string, string> {
  if (end < size) return { Range: `bytes=${from}-${end - 1}` };
  return from === 0 ? {} : { Range: `bytes=${from}-` };
}

function entryOf(file: ListedFile): Entry {
  const { name, size, content_type = "", etag = "", modified = "" } = file;
  if (size === undefined) return { name };
  const mtime = parseUtcTime(file.mtime ?? "");
  return {
    name,
    size,
    type: content_type,
    etag,
    modified: Date.parse(modified) || 0,
    ...(mtime === undefined ? {} : { mtime }),
  };
}

function digestIn(headers: Headers): string | undefined {
  return /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get("repr-digest") ?? "")?.[1];
}
