import { parseHttpDate } from "../rules/dates.ts";
import { MAX_DELETE_NAMES } from "../rules/names.ts";
import type { PartSize } from "../rules/payloads.ts";
import { ANSWER_TIME, type Connection, SENT_ANSWER_TIME } from "./connection.ts";
import {
  type DriveInfo,
  type Drives,
  type FileInfo,
  type Opened,
  type Part,
  sha256Of,
  type WriteOptions,
} from "./drives.ts";
import { ClientError, FileChanged, FileExists, Refused, TemporaryFailure } from "./errors.ts";
import type { Retrier } from "./retrier.ts";

/** What a list tells of a file; of a directory only the name. */
interface ListedFile {
  name: string;
  size?: number;
  content_type?: string;
  etag?: string;
  modified?: string;
}

interface ListAnswer {
  names: string[];
  files?: ListedFile[];
  paging?: { last: string };
}

/** A directory of a drive has only its name, which ends with a slash. */
export type Entry = FileInfo | { name: string; size?: undefined };

/** The drives of a project behind a server. */
export class RemoteDrives implements Drives {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get identity(): string {
    return this.#connection.identity;
  }

  get retrier(): Retrier {
    return this.#connection.retrier;
  }

  async listDrives(): Promise<DriveInfo[]> {
    const call = { method: "GET", path: "" };
    const { drives } = await this.#connection.requestJson<
      { drives: { drive_name: string; files: number; bytes: number }[] }
    >(call);
    return drives.map(({ drive_name, files, bytes }) => ({ name: drive_name, files, bytes }));
  }

  async *listFiles(drive: string, prefix: string): AsyncIterable<FileInfo> {
    for await (const entry of this.entries(drive, prefix, true)) {
      if (entry.size !== undefined) yield entry;
    }
  }

  /** The files whose names begin with the prefix; unless `recursive`, up to the first slash behind it. */
  async *entries(drive: string, prefix: string, recursive: boolean): AsyncIterable<Entry> {
    let last: string | undefined;
    do {
      const query = new URLSearchParams({ details: "true", prefix, recursive: `${recursive}` });
      if (last !== undefined) query.set("last", last);
      const path = `${drivePath(drive)}/files?${query}`;
      const page = await this.#connection.requestJson<ListAnswer>({ method: "GET", path });
      yield* demandDetails(page).map(entryOf);
      last = page.paging?.last;
    } while (last !== undefined);
  }

  async stat(drive: string, name: string): Promise<FileInfo | undefined> {
    try {
      const answer = await this.#connection.request({
        method: "HEAD",
        path: downloadPath(drive, name),
      });
      const { headers } = answer;
      const sha256 = digestIn(headers);
      return {
        name,
        size: Number(headers.get("content-length")),
        type: headers.get("content-type") ?? "",
        etag: (headers.get("etag") ?? "").replaceAll('"', ""),
        modified: (parseHttpDate(headers.get("last-modified") ?? "") ?? 0) * 1000,
        ...(sha256 === undefined ? {} : { sha256 }),
      };
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  async read(drive: string, file: FileInfo, from: number): Promise<Opened> {
    // "If-Match": what is fetched in several pieces is of one version, or none.
    const headers = {
      "If-Match": `"${file.etag}"`,
      ...(from === 0 ? {} : { Range: `bytes=${from}-` }),
    };
    try {
      const call = { method: "GET", path: downloadPath(drive, file.name), headers };
      const answer = await this.#connection.send(call);
      const begins = answer.status === 206
        ? Number(/^bytes (\d+)-/.exec(answer.headers.get("content-range") ?? "")?.[1])
        : 0;
      if (begins !== from) {
        await answer.body?.cancel();
        throw new ClientError(`The server did not send ${file.name} from byte ${from} on`);
      }
      return { bytes: this.#bytesOf(answer), sha256: digestIn(answer.headers) };
    } catch (error) {
      if (error instanceof Refused && [404, 412, 416].includes(error.status)) {
        throw new FileChanged("The file was changed or deleted meanwhile");
      }
      throw error;
    }
  }

  async putFile(
    drive: string,
    name: string,
    bytes: Uint8Array,
    { type, isNew }: WriteOptions,
  ): Promise<void> {
    const sha256 = sha256Of(bytes);
    const headers = {
      "Content-Type": type,
      "Content-Digest": `sha-256=:${sha256}:`,
      ...(isNew ? { "If-None-Match": "*" } : {}),
    };
    const path = `${drivePath(drive)}/files?${new URLSearchParams({ name })}`;
    const call = { method: "POST", path, headers, body: bytes, time: SENT_ANSWER_TIME };
    let tries = 0;
    try {
      await this.#connection.retrier.run(async () => {
        tries++;
        const answer = await this.#connection.send(call);
        await answer.body?.cancel();
      });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 412)) throw error;
      // An answer that was lost on its way: the file that is there is this one.
      const isOurs = tries > 1 && (await this.stat(drive, name))?.sha256 === sha256;
      if (!isOurs) throw new FileExists();
    }
  }

  async startUpload(drive: string, name: string, type: string): Promise<string> {
    const path = `${drivePath(drive)}/uploads?${new URLSearchParams({ name })}`;
    const call = { method: "POST", path, headers: { "Content-Type": type } };
    return (await this.#connection.requestJson<{ upload_id: string }>(call)).upload_id;
  }

  async partsOf(drive: string, name: string, id: string): Promise<PartSize[] | undefined> {
    try {
      const call = { method: "GET", path: uploadPath(drive, name, id) };
      return (await this.#connection.requestJson<{ parts: PartSize[] }>(call)).parts;
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
    const path = `${uploadPath(drive, name, id, "/parts")}&part=${number}`;
    // One client names the type only here; ours named it before, and here it counts for nothing.
    const headers = { "Content-Digest": `sha-256=:${sha256}:` };
    const time = SENT_ANSWER_TIME;
    await this.#connection.requestEmpty({ method: "POST", path, headers, body: bytes, time });
  }

  async complete(
    drive: string,
    name: string,
    id: string,
    { isNew }: { isNew: boolean },
  ): Promise<void> {
    const headers: Record<string, string> = isNew ? { "If-None-Match": "*" } : {};
    try {
      const path = uploadPath(drive, name, id);
      await this.#connection.requestEmpty({
        method: "PATCH",
        path,
        headers,
        time: SENT_ANSWER_TIME,
      });
    } catch (error) {
      throw error instanceof Refused && error.status === 412 ? new FileExists() : error;
    }
  }

  async abort(drive: string, name: string, id: string): Promise<void> {
    try {
      await this.#connection.requestEmpty({ method: "DELETE", path: uploadPath(drive, name, id) });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }

  /** Deletes files; gives the names of those that the server could not. */
  async remove(drive: string, names: readonly string[]): Promise<string[]> {
    const failed: string[] = [];
    for (let from = 0; from < names.length; from += MAX_DELETE_NAMES) {
      const body = JSON.stringify({ names: names.slice(from, from + MAX_DELETE_NAMES) });
      const path = `${drivePath(drive)}/files`;
      const answer = await this.#connection.requestJson<
        { failed: string[] | Record<string, string> }
      >(
        { method: "DELETE", path, body, time: SENT_ANSWER_TIME },
      );
      // A server that was started for another client gives reasons by name.
      failed.push(...(Array.isArray(answer.failed) ? answer.failed : Object.keys(answer.failed)));
    }
    return failed;
  }

  /** The bytes of an answer. Where they stop coming, it is given up, and can be asked for again. */
  async *#bytesOf(answer: Response): AsyncIterable<Uint8Array> {
    const reader = answer.body?.getReader();
    if (reader === undefined) return;
    try {
      for (;;) {
        const { done, value } = await inTime(reader.read(), this.#connection.origin);
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }
}

/** What a body gives next. @throws {TemporaryFailure} where it breaks off, or gives nothing for too long. */
async function inTime<T>(next: Promise<T>, origin: string): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => silence.reject(new TemporaryFailure(`Nothing more came from ${origin}`)),
    ANSWER_TIME,
  );
  try {
    return await Promise.race([next, silence.promise]);
  } catch (error) {
    if (error instanceof TemporaryFailure) throw error;
    throw new TemporaryFailure(`The connection to ${origin} broke`, 0, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** @throws {ClientError} for the two names that no address can have: they mean folders there. */
function drivePath(drive: string): string {
  if (drive === "." || drive === "..") {
    throw new ClientError(
      `The drive "${drive}" has no address: work with it beside the server, with --data`,
    );
  }
  return `/${encodeURIComponent(drive)}`;
}

function downloadPath(drive: string, name: string): string {
  return `${drivePath(drive)}/files/download?${new URLSearchParams({ name })}`;
}

function uploadPath(drive: string, name: string, id: string, more = ""): string {
  const query = new URLSearchParams({ name });
  return `${drivePath(drive)}/uploads/${encodeURIComponent(id)}${more}?${query}`;
}

function demandDetails({ names, files }: ListAnswer): ListedFile[] {
  if (files !== undefined || names.length === 0) return files ?? [];
  throw new ClientError("The server lists names alone: it is no kvdrive, or an older one");
}

function entryOf({ name, size, content_type = "", etag = "", modified = "" }: ListedFile): Entry {
  if (size === undefined) return { name };
  return { name, size, type: content_type, etag, modified: Date.parse(modified) || 0 };
}

function digestIn(headers: Headers): string | undefined {
  return /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get("repr-digest") ?? "")?.[1];
}
