import { deadline } from "@std/async/deadline";
import { parseHttpDate, parseUtcTime, utcTime } from "../rules/dates.ts";
import { MAX_DELETE_NAMES } from "../rules/names.ts";
import type { PartSize } from "../rules/payloads.ts";
import type { ProjectUsage } from "./administration.ts";
import { ANSWER_TIME, type Connection, SENT_ANSWER_TIME } from "./connection.ts";
import {
  type DriveInfo,
  type FileAttributes,
  type FileContent,
  type FileInfo,
  type Part,
  sha256Of,
  type WriteOptions,
} from "./drives.ts";
import { ClientError, FileChanged, FileExists, Refused, TemporaryFailure } from "./errors.ts";
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

/** A drive as the server lists it. */
interface ListedDrive extends Omit<DriveInfo, "name"> {
  drive_name: string;
}

/** A file, or a directory, which has a name ending with a slash only. */
export type Entry = FileInfo | { name: string; size?: undefined };

/** The drives of a project on a server. Every method throws `ClientError`, and all but `read` repeat failed requests. */
export class RemoteDrives {
  constructor(
    private readonly connection: Connection,
  ) {}

  /** Differs between any two projects, servers or stores. */
  get identity(): string {
    return this.connection.identity;
  }

  get retrier(): Retrier {
    return this.connection.retrier;
  }

  /** Lists the drives whose names start with a prefix, in name order. */
  async *listDrives(prefix?: string): AsyncIterable<DriveInfo> {
    const query = prefix === undefined ? {} : { prefix };
    const drives = this.connection.items<ListedDrive>({ path: "" }, "drives", query);
    for await (const { drive_name: name, files, bytes } of drives) yield { name, files, bytes };
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
    const path = `${this.connection.drivePath(drive)}/files`;
    const files = this.connection.items<ListedFile>({ path }, "files", query);
    for await (const file of files) yield entryOf(file);
  }

  /** Lists the folders that are kept although they may be empty. Their names end with a slash. */
  async *listFolders(drive: string, prefix = ""): AsyncIterable<string> {
    const path = `${this.connection.drivePath(drive)}/folders`;
    try {
      yield* this.connection.items<string>({ path }, "folders", { prefix });
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
    const body = JSON.stringify({ name });
    await this.connection.requestEmpty({
      method: "POST",
      path: `${this.connection.drivePath(drive)}/folders`,
      body,
    });
  }

  /** Returns the metadata of a file; `undefined` if it does not exist. */
  async stat(drive: string, name: string): Promise<FileInfo | undefined> {
    try {
      const answer = await this.connection.request({
        method: "HEAD",
        path: this.#downloadPath(drive, name),
      });
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
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Reads a version of a file between two offsets. @throws {FileChanged} if the version no longer exists. */
  async read(drive: string, file: FileInfo, from: number, end: number): Promise<FileContent> {
    // "If-Match" makes all pieces come from one version.
    const headers = {
      "If-Match": `"${file.etag}"`,
      ...rangeOf(file, from, end),
    };
    try {
      const request = { method: "GET", path: this.#downloadPath(drive, file.name), headers };
      const answer = await this.connection.send(request);
      const begins = answer.status === 206
        ? Number(/^bytes (\d+)-/.exec(answer.headers.get("content-range") ?? "")?.[1])
        : 0;
      if (begins !== from) {
        await answer.body?.cancel();
        throw new ClientError(`The server did not send ${file.name} from byte ${from}`);
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
    const headers = {
      "Content-Type": type,
      "Content-Digest": `sha-256=:${sha256}:`,
      ...(isNew ? { "If-None-Match": "*" } : {}),
    };
    const path = `${this.connection.drivePath(drive)}/files?${queryOf(name, mtime)}`;
    const request = { method: "POST", path, headers, body: bytes, timeout: SENT_ANSWER_TIME };
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
    const path = `/admin/v1/projects/${this.connection.project}`;
    try {
      const { max_bytes, bytes, open_upload_bytes, trash_bytes } = await this.connection
        .requestJson<ProjectUsage>({ method: "GET", path, isOfServer: true });
      return max_bytes === null ? Infinity : max_bytes - bytes - open_upload_bytes - trash_bytes;
    } catch (error) {
      // Keys with fewer rights may not know. The parts are refused then.
      if (error instanceof Refused) return Infinity;
      throw error;
    }
  }

  /** Starts a multipart upload and returns its id. */
  async startUpload(
    drive: string,
    name: string,
    { type, mtime }: FileAttributes,
  ): Promise<string> {
    const path = `${this.connection.drivePath(drive)}/uploads?${queryOf(name, mtime)}`;
    const request = { method: "POST", path, headers: { "Content-Type": type } };
    return (await this.connection.requestJson<{ upload_id: string }>(request)).upload_id;
  }

  /** Lists the stored parts of an upload; `undefined` if the upload is not open. */
  async partsOf(drive: string, name: string, id: string): Promise<PartSize[] | undefined> {
    try {
      const request = { method: "GET", path: this.#uploadPath(drive, name, id) };
      return (await this.connection.requestJson<{ parts: PartSize[] }>(request)).parts;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  async putPart(
    drive: string,
    name: string,
    id: string,
    { number, bytes, sha256 }: Part,
  ): Promise<void> {
    const path = `${this.#uploadPath(drive, name, id, "/parts")}&part=${number}`;
    // No content type: it was sent with the start of the upload.
    const headers = { "Content-Digest": `sha-256=:${sha256}:` };
    const timeout = SENT_ANSWER_TIME;
    await this.connection.requestEmpty({ method: "POST", path, headers, body: bytes, timeout });
  }

  /** Publishes an upload. @throws {FileExists} with `isNew`, if the file exists. */
  async complete(
    drive: string,
    name: string,
    id: string,
    { isNew }: { isNew: boolean },
  ): Promise<void> {
    const headers: Record<string, string> = isNew ? { "If-None-Match": "*" } : {};
    try {
      const path = this.#uploadPath(drive, name, id);
      await this.connection.requestEmpty({
        method: "PATCH",
        path,
        headers,
        timeout: SENT_ANSWER_TIME,
      });
    } catch (error) {
      throw error instanceof Refused && error.status === 412 ? new FileExists() : error;
    }
  }

  /** Deletes an open upload; does nothing if it is not open. */
  async abort(drive: string, name: string, id: string): Promise<void> {
    try {
      await this.connection.requestEmpty({
        method: "DELETE",
        path: this.#uploadPath(drive, name, id),
      });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }

  /** Deletes files, and returns the names of those that the server could not delete. */
  async remove(drive: string, names: readonly string[]): Promise<string[]> {
    const failed: string[] = [];
    for (let from = 0; from < names.length; from += MAX_DELETE_NAMES) {
      const body = JSON.stringify({ names: names.slice(from, from + MAX_DELETE_NAMES) });
      const path = `${this.connection.drivePath(drive)}/files`;
      const answer = await this.connection.requestJson<
        { failed: string[] | Record<string, string> }
      >(
        { method: "DELETE", path, body, timeout: SENT_ANSWER_TIME },
      );
      // A server with --failed-reasons answers an object of reasons by name.
      failed.push(...(Array.isArray(answer.failed) ? answer.failed : Object.keys(answer.failed)));
    }
    return failed;
  }

  #downloadPath(drive: string, name: string): string {
    return `${this.connection.drivePath(drive)}/files/download?${new URLSearchParams({ name })}`;
  }

  #uploadPath(drive: string, name: string, id: string, more = ""): string {
    const path = `${this.connection.drivePath(drive)}/uploads/${encodeURIComponent(id)}`;
    return `${path}${more}?${new URLSearchParams({ name })}`;
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
function queryOf(name: string, mtime: number | undefined): URLSearchParams {
  const time = mtime === undefined ? undefined : utcTime(mtime);
  return new URLSearchParams({ name, ...(time === undefined ? {} : { mtime: time }) });
}

function rangeOf({ size }: FileInfo, from: number, end: number): Record<string, string> {
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
