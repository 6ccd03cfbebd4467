import { invalidArgument, isTemporary, KvdriveError, unlessMissing } from "./error.ts";
import { type Conditions, conditionsOf } from "./headers.ts";
import { type ApiRequest, type Transport, withTimeout } from "./transport.ts";

/** Milliseconds for which the bytes of a file may stall. */
const IDLE_TIME = 60_000;

/**
 * Bytes `start` to, not including, `end` of a file, as `slice` has them.
 *
 * @example
 * ```ts
 * await photos.put("a.txt", "0123456789");
 * const range: ByteRange = { start: 2, end: 5 };
 * const file = await photos.get("a.txt", { range });
 * await file?.text(); // "234"
 * ```
 */
export interface ByteRange {
  start: number;
  /** The end of the file unless given. */
  end?: number | undefined;
}

/**
 * How a file is fetched.
 *
 * @example
 * ```ts
 * await photos.put("a.txt", "Hello");
 * const options: GetOptions = { range: { start: 1 }, signal: new AbortController().signal };
 * await photos.get("a.txt", options);
 * ```
 */
export interface GetOptions {
  /** Fetch these bytes only. */
  range?: ByteRange | undefined;
  /** Fail with status 412 if the file has another ETag. */
  ifMatch?: string | undefined;
  /** Fail with status 304 and the code `not_modified` if the file has this ETag. */
  ifNoneMatch?: string | undefined;
  /** Ends the download, also of the body. */
  signal?: AbortSignal | undefined;
}

/**
 * What a request for a file tells about it.
 *
 * @example
 * ```ts
 * await photos.put("a.txt", "Hello");
 * const head: FileHead | undefined = await photos.head("a.txt");
 * head?.size; // 5
 * ```
 */
export interface FileHead {
  name: string;
  /** Bytes of the whole file. */
  size: number;
  /** Changes with every write. */
  etag: string;
  contentType: string;
  /** When this version was written, to seconds. */
  modified: Date;
  /** When the copy that was stored was last modified, if who stored it said so. */
  mtime?: Date;
  /** The SHA-256 of the file in base64, if the server knows it. Pages of other origins cannot see it. */
  sha256?: string;
}

/** A file of a drive. */
export interface Place {
  drive: string;
  name: string;
}

/** Returns what the headers tell about a file; `undefined` if there is none. */
export async function headOf(
  transport: Transport,
  { drive, name }: Place,
  { signal, ...conditions }: Conditions & { signal?: AbortSignal | undefined },
): Promise<FileHead | undefined> {
  const path = [...transport.files, drive, "files", "download"];
  const headers = conditionsOf(conditions);
  const request = { method: "HEAD", path, query: { name }, headers, signal };
  const answer = await unlessMissing(transport.send(request), MISSING);
  return answer === undefined ? undefined : headIn(answer, name);
}

/** Fetches a file; `undefined` if there is none. */
export async function get(
  transport: Transport,
  { drive, name }: Place,
  options: GetOptions,
): Promise<DriveFile | undefined> {
  const path = [...transport.files, drive, "files", "download"];
  const request = { method: "GET", path, query: { name }, signal: options.signal };
  const open = (range: ByteRange | undefined): Promise<Response | undefined> => {
    const headers = { ...conditionsOf(options), Range: rangeHeader(range) };
    return unlessMissing(transport.send({ ...request, headers }), MISSING);
  };
  let answer = await open(options.range);
  if (answer?.status === 200 && answer.headers.get("content-length") === null) {
    // A proxy compresses whole files, and so hides the length; it leaves ranges as they are.
    await answer.body?.cancel();
    answer = await open({ start: 0 });
  }
  if (answer === undefined) return undefined;
  const head = headIn(answer, name);
  const range = rangeIn(answer, head.size);
  const body = new ResumableBody(transport, request, answer, { etag: head.etag, ...range });
  return new DriveFile(head, body.stream(), range);
}

const MISSING = ["file_not_found"] as const;

function rangeHeader(range: ByteRange | undefined): string | undefined {
  if (range === undefined) return undefined;
  const { start, end } = range;
  const isRange = Number.isSafeInteger(start) && start >= 0 &&
    (end === undefined || Number.isSafeInteger(end) && end > start);
  if (!isRange) {
    throw invalidArgument(
      `Bad range ${JSON.stringify(range)}: give whole numbers with start before end`,
    );
  }
  return `bytes=${start}-${end === undefined ? "" : end - 1}`;
}

/** `bytes 0-9/100` */
const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+)$/;

function headIn({ status, headers }: Response, name: string): FileHead {
  const [, , , whole] = CONTENT_RANGE.exec(headers.get("content-range") ?? "") ?? [];
  const length = whole ?? headers.get("content-length");
  if (length === null) {
    throw new KvdriveError(
      "The answer has no length: a proxy in front of the server changes it. Turn off its compression",
      { status, code: "invalid_answer", requestId: headers.get("x-request-id") ?? undefined },
    );
  }
  const mtime = headers.get("x-kvdrive-mtime");
  const [, sha256] = /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get("repr-digest") ?? "") ?? [];
  return {
    name,
    size: Number(length),
    etag: (headers.get("etag") ?? "").replace(/^W\//, "").replaceAll('"', ""),
    contentType: headers.get("content-type") ?? "application/octet-stream",
    modified: new Date(headers.get("last-modified") ?? 0),
    ...(mtime === null ? {} : { mtime: new Date(mtime) }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

function rangeIn({ status, headers }: Response, size: number): { start: number; end: number } {
  if (status !== 206) return { start: 0, end: size };
  const [, first, last] = CONTENT_RANGE.exec(headers.get("content-range") ?? "") ?? [];
  return { start: Number(first), end: Number(last) + 1 };
}

/**
 * A file that is fetched. Its body is read once, by `body` or by one of the methods. A connection that breaks is resumed
 * with the same version; bytes of another one are never mixed in.
 *
 * @example
 * ```ts
 * await photos.put("a.txt", "Hello");
 * const file: DriveFile | undefined = await photos.get("a.txt");
 * if (file !== undefined) {
 *   file.size; // 5
 *   await file.text(); // "Hello"
 * }
 * ```
 */
export class DriveFile implements FileHead {
  readonly name: string;
  /** Bytes of the whole file, also if a range is fetched. */
  readonly size: number;
  /** Changes with every write. */
  readonly etag: string;
  readonly contentType: string;
  /** When this version was written, to seconds. */
  readonly modified: Date;
  /** When the copy that was stored was last modified, if who stored it said so. */
  readonly mtime?: Date;
  /** The SHA-256 of the file in base64, if the server knows it. Pages of other origins cannot see it. */
  readonly sha256?: string;
  /** The bytes that are fetched. */
  readonly range: { start: number; end: number };
  /** The bytes, as they arrive. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;

  /** Use `drive.get`. */
  constructor(
    head: FileHead,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    range: { start: number; end: number },
  ) {
    this.name = head.name;
    this.size = head.size;
    this.etag = head.etag;
    this.contentType = head.contentType;
    this.modified = head.modified;
    if (head.mtime !== undefined) this.mtime = head.mtime;
    if (head.sha256 !== undefined) this.sha256 = head.sha256;
    this.body = body;
    this.range = range;
  }

  /** Reads all bytes. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  /** Reads all bytes. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    return await new Response(this.body).arrayBuffer();
  }

  /** Reads all bytes as a `Blob` of the file's content type. */
  async blob(): Promise<Blob> {
    return new Blob([await this.arrayBuffer()], { type: this.contentType });
  }

  /** Reads all bytes as UTF-8. */
  async text(): Promise<string> {
    return await new Response(this.body).text();
  }

  /** Reads all bytes as JSON. */
  async json(): Promise<unknown> {
    return await new Response(this.body).json();
  }
}

/** The bytes of one version of a file. */
class ResumableBody {
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  #at: number;

  constructor(
    private readonly transport: Transport,
    private readonly request: ApiRequest,
    answer: Response,
    private readonly version: { etag: string; start: number; end: number },
  ) {
    this.#reader = answer.body?.getReader();
    this.#at = version.start;
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { signal } = this.request;
    let stop: (() => void) | undefined;
    return new ReadableStream({
      start: (controller) => {
        const onAbort = () => {
          controller.error(signal?.reason);
          void this.#drop(signal?.reason);
        };
        stop = () => signal?.removeEventListener("abort", onAbort);
        signal?.addEventListener("abort", onAbort, { once: true });
      },
      pull: async (controller) => {
        try {
          const bytes = await this.transport.retrier.run(() => this.#next(), { signal });
          if (signal?.aborted) return;
          if (bytes !== undefined) return controller.enqueue(bytes);
          stop?.();
          controller.close();
        } catch (error) {
          stop?.();
          throw error;
        }
      },
      cancel: async (reason) => {
        stop?.();
        await this.#drop(reason);
      },
    }, { highWaterMark: 0 });
  }

  /** Returns the next bytes; `undefined` at the end. After a failure it goes on at the same place. */
  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { end } = this.version;
    this.#reader ??= await this.#reopen();
    const bytes = this.#reader && await this.#read(this.#reader);
    const at = this.#at + (bytes?.byteLength ?? 0);
    if (bytes === undefined ? at === end : at <= end) {
      this.#at = at;
      return bytes;
    }
    await this.#drop(undefined);
    if (at > end) {
      const message = "The file is longer than the server said";
      throw new KvdriveError(message, { code: "file_changed" });
    }
    throw this.transport.broken(new Error("it ended early"));
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      return (await withTimeout(reader.read(), IDLE_TIME, "it stopped sending")).value;
    } catch (error) {
      this.#reader = undefined;
      await reader.cancel(error).catch(() => {});
      this.request.signal?.throwIfAborted();
      throw this.transport.broken(error);
    }
  }

  async #reopen(): Promise<ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined> {
    const { etag, end } = this.version;
    if (this.#at === end) return undefined;
    const headers = {
      ...conditionsOf({ ifMatch: etag }),
      Range: rangeHeader({ start: this.#at, end }),
    };
    try {
      const request = { ...this.request, headers };
      const answer = await this.transport.attempt(request, (one) => Promise.resolve(one));
      const { start } = rangeIn(answer, NaN);
      if (start === this.#at) return answer.body?.getReader();
      await answer.body?.cancel();
    } catch (error) {
      if (!(error instanceof KvdriveError) || isTemporary(error)) throw error;
      const { status, requestId } = error;
      if (![404, 412, 416].includes(status)) throw error;
      throw new KvdriveError("The file was replaced or deleted during the download", {
        status,
        code: "file_changed",
        requestId,
      });
    }
    throw new KvdriveError("The server does not send the rest of the file", {
      code: "invalid_answer",
    });
  }

  async #drop(reason: unknown): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.cancel(reason).catch(() => {});
  }
}
