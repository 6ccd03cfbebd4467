import { MAX_PARTS, MAX_PAYLOAD } from "../../rules/payloads.ts";
import { type Content, type FilePart, type Source, sourceOf } from "./content.ts";
import { Semaphore } from "../../rules/concurrency.ts";
import { headOf, type Place } from "./download.ts";
import { invalidArgument, KvdriveError } from "./error.ts";
import { conditionsOf, digestHeader, sha256Of } from "./headers.ts";
import { LONG_ANSWER_TIME, type Transport, unlessAborted, withTimeout } from "./transport.ts";
import type { StoredFile } from "./types.ts";
import {
  attributesOf,
  type FileAttributes,
  findOpenUpload,
  type InterruptedUpload,
  Uploads,
} from "./uploads.ts";

/** Parts in transfer at once: 4 × 10 MB of memory. */
const PARALLEL_PARTS = 4;

/** Milliseconds for which the abort of an upload that failed is waited for. */
const ABORT_TIME = 3000;

/**
 * How far an upload is.
 *
 * @example
 * ```ts
 * const show = ({ sent, total }: UploadProgress) => `${sent} of ${total ?? "?"} bytes`;
 * await photos.put("a.txt", "Hello", { onProgress: show });
 * ```
 */
export interface UploadProgress {
  /** Bytes that the server has. */
  sent: number;
  /** Bytes of the file; `undefined` for a stream whose length is not known. */
  total: number | undefined;
}

/**
 * How a file is stored.
 *
 * @example
 * ```ts
 * const options: PutOptions = { contentType: "text/plain", ifNoneMatch: "*" };
 * await photos.put("new.txt", "Hello", options); // fails if there is a file new.txt
 * ```
 */
export interface PutOptions extends FileAttributes {
  /** Store the file only if the present one has this ETag. */
  ifMatch?: string | undefined;
  /** `*`: store the file only if there is none. */
  ifNoneMatch?: string | undefined;
  /** The bytes of a stream, if you know them: another number of bytes is refused. */
  size?: number | undefined;
  /**
   * Whether an upload in parts that was interrupted goes on, of a `Blob`, bytes or text, or of a stream with `size`. Parts
   * that the server has are compared by their SHA-256 and not sent again. A failed upload stays open for it.
   */
  resume?: boolean | undefined;
  /** Is called when more bytes are stored. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Ends the upload. Nothing is stored then. */
  signal?: AbortSignal | undefined;
}

/** Where a program remembers its uploads in parts. */
export interface UploadMemory {
  /** Returns the upload to go on with; `undefined`: a new one is opened. */
  find(first: FilePart): Promise<InterruptedUpload | undefined>;
  /** Is told the id of an upload that was opened, and each part that is stored. */
  begin?(id: string): Promise<void>;
  addPart?(part: number, sha256: string | undefined): Promise<void>;
  /** Reports whether the upload cannot go on after a failure, beside those after which none can. */
  isOver?(error: unknown): boolean;
  /** Is told that the upload was aborted. */
  forget?(): Promise<void>;
}

/** What programs of this repository can do beyond `PutOptions`. */
export interface UploadControl {
  /** Limits the parts and small files in memory, of several uploads. */
  slots?: Semaphore;
  /** In place of `resume`. */
  memory?: UploadMemory;
  /** @throws {KvdriveError} if the content has changed. Is called before the file becomes visible. */
  verify?(): void;
}

/** A file that was stored. */
export interface StoredUpload {
  file: StoredFile;
  /** Bytes of the file. */
  size: number;
  /** Bytes of them that an interrupted upload had stored before. */
  resumed: number;
}

/** Stores a file: up to 10 MB in one request, more in parts. It is seen whole or not at all. */
export async function put(
  transport: Transport,
  place: Place,
  content: Content,
  options: PutOptions,
  control: UploadControl = {},
): Promise<StoredUpload> {
  const { signal } = options;
  signal?.throwIfAborted();
  const source = sourceOf(content, options);
  if (source.size !== undefined && source.size > MAX_PARTS * MAX_PAYLOAD) throw tooLarge();
  return await new FileUpload(transport, place, source, options, control).send();
}

class FileUpload {
  readonly #parts: AsyncGenerator<FilePart, void>;
  readonly #slots: Semaphore;
  readonly #memory: UploadMemory | undefined;
  /** The SHA-256 of the parts that the server has, by number. */
  readonly #stored = new Map<number, string | undefined>();
  /** Numbers of parts that need not be read. */
  readonly #unread = new Set<number>();
  #sent = 0;
  #resumed = 0;

  constructor(
    private readonly transport: Transport,
    private readonly place: Place,
    private readonly source: Source,
    private readonly options: PutOptions,
    private readonly control: UploadControl,
  ) {
    this.#parts = source.parts(this.#unread);
    this.#slots = control.slots ?? new Semaphore(PARALLEL_PARTS);
    this.#memory = control.memory ?? (options.resume ? this.#serverMemory() : undefined);
  }

  async send(): Promise<StoredUpload> {
    const release = await this.#slots.acquire();
    try {
      const first = await this.#next();
      if (first === undefined) throw new TypeError("There is always a first part");
      const file = first.isLast
        ? await this.#sendWhole(first.bytes)
        : await this.#sendParts(first, release);
      return { file, size: this.#sent, resumed: this.#resumed };
    } finally {
      release();
      // A stream that does not answer must not keep the caller waiting.
      void this.#parts.return().catch(() => {});
    }
  }

  /** The server knows the interrupted uploads. */
  #serverMemory(): UploadMemory {
    const { transport, place, source } = this;
    const find = (first: FilePart) =>
      findOpenUpload(transport, place, { source, first, attributes: this.#attributes });
    return { find };
  }

  get #attributes(): FileAttributes {
    const { contentType = this.source.type, expiresIn, mtime } = this.options;
    return { contentType, expiresIn, mtime };
  }

  async #next(): Promise<FilePart | undefined> {
    return (await unlessAborted(this.#parts.next(), this.options.signal)).value ?? undefined;
  }

  #count(bytes: number): void {
    this.#sent += bytes;
    this.options.onProgress?.({ sent: this.#sent, total: this.source.size });
  }

  async #sendWhole(bytes: Uint8Array): Promise<StoredFile> {
    const { signal } = this.options;
    const { drive, name } = this.place;
    const attributes = this.#attributes;
    const sha256 = await sha256Of(bytes);
    this.control.verify?.();
    let attempts = 0;
    try {
      const stored = await this.transport.json<StoredFile>({
        method: "POST",
        path: [...this.transport.files, drive, "files"],
        query: { name, ...attributesOf(attributes) },
        headers: {
          "Content-Type": attributes.contentType,
          "Content-Digest": digestHeader(sha256),
          ...conditionsOf(this.options),
        },
        bytes,
        signal,
        timeout: LONG_ANSWER_TIME,
        onAttempt: () => attempts++,
      });
      this.#count(bytes.byteLength);
      return stored;
    } catch (error) {
      const isLost = error instanceof KvdriveError && error.status === 412 && attempts > 1;
      if (!isLost || sha256 === undefined) throw error;
      // The condition may fail because an earlier attempt succeeded and its answer was lost: then the file is this one.
      const head = await headOf(this.transport, this.place, { signal });
      if (head?.sha256 !== sha256) throw error;
      return { name, project_id: this.transport.project, drive_name: drive };
    }
  }

  async #sendParts(first: FilePart, release: () => void): Promise<StoredFile> {
    await this.#checkConditions();
    const uploads = new Uploads(this.transport, this.place.drive);
    const { name } = this.place;
    const found = await this.#memory?.find(first);
    const id = found?.id ?? await this.#start(uploads);
    try {
      if (found !== undefined) this.#takeOver(found);
      else await this.#memory?.begin?.(id);
      await this.#sendAll(uploads, id, { first, release, found });
      if (found !== undefined) await this.#verify(uploads, id);
      this.control.verify?.();
      const { project_id, drive_name, expires } = await uploads.complete(id, name, this.options);
      return { name, project_id, drive_name, ...(expires === undefined ? {} : { expires }) };
    } catch (error) {
      if (this.#isOver(error)) await this.#discard(id);
      throw error;
    }
  }

  /** Counts the parts that need not be read. */
  #takeOver({ parts, compared }: InterruptedUpload): void {
    for (const [part, size] of compared) {
      this.#unread.add(part);
      this.#stored.set(part, parts.get(part));
      this.#resumed += size;
      this.#count(size);
    }
  }

  /** Opens an upload. One that the server opens although the caller has given up meanwhile is aborted. */
  async #start(uploads: Uploads): Promise<string> {
    const { signal } = this.options;
    const started = uploads.start(this.place.name, this.#attributes);
    try {
      return (await unlessAborted(started, signal)).upload_id;
    } catch (error) {
      if (!signal?.aborted) throw error;
      const late = await withTimeout(started, ABORT_TIME, "too late").catch(() => undefined);
      if (late !== undefined) await this.#discard(late.upload_id);
      throw error;
    }
  }

  /** Aborts the upload on the server, which ends it later by itself if it cannot be reached. */
  async #discard(id: string): Promise<void> {
    const { drive, name } = this.place;
    const path = [...this.transport.files, drive, "uploads", id];
    const request = { method: "DELETE", path, query: { name }, timeout: ABORT_TIME, retryFor: 0 };
    // The failure of the upload says more than one of the abort.
    await this.transport.json(request).catch(() => {});
    await this.#memory?.forget?.();
  }

  /** Reports whether an upload that failed cannot go on later. Until it is aborted, its bytes count towards the quota. */
  #isOver(error: unknown): boolean {
    if (this.#memory === undefined || this.#memory.isOver?.(error)) return true;
    if (!(error instanceof KvdriveError)) return false;
    return ["source_changed", "upload_conflict"].includes(error.code) || error.status === 412;
  }

  /** Checks early what the last request enforces, so that no parts are sent in vain. */
  async #checkConditions(): Promise<void> {
    const { ifMatch, ifNoneMatch, signal } = this.options;
    let requestId: string | undefined;
    if (ifMatch === undefined && ifNoneMatch === undefined) return;
    try {
      const head = await headOf(this.transport, this.place, { ifMatch, ifNoneMatch, signal });
      if (head !== undefined || ifMatch === undefined) return;
    } catch (error) {
      if (!(error instanceof KvdriveError)) throw error;
      // A key that may not read learns it in the end.
      if (error.status !== 304 && error.status !== 412) return;
      requestId = error.requestId;
    }
    throw new KvdriveError(
      "The file is not the one of ifMatch, or there is one in spite of ifNoneMatch: nothing was stored",
      { status: 412, code: "precondition_failed", requestId },
    );
  }

  /** Sends the parts, several at once. A failure is thrown once all running requests have ended. */
  async #sendAll(
    uploads: Uploads,
    id: string,
    { first, release, found }: {
      first: FilePart;
      /** Releases the slot of the first part. */
      release: () => void;
      found: InterruptedUpload | undefined;
    },
  ): Promise<void> {
    const running = new Set<Promise<void>>();
    const abort = new AbortController();
    const onAbort = () => abort.abort(this.options.signal?.reason);
    this.options.signal?.addEventListener("abort", onAbort);
    let failure: { error: unknown } | undefined;
    const fail = (error: unknown) => {
      failure ??= { error };
      abort.abort(error);
    };
    const start = (part: FilePart, release: () => void): void => {
      const task = this.#sendPart(uploads, id, { part, found, signal: abort.signal }).catch(fail)
        .finally(() => {
          running.delete(task);
          release();
        });
      running.add(task);
    };
    try {
      start(first, release);
      for (let isLast = false; !isLast && failure === undefined;) {
        const release = await this.#slots.acquire();
        try {
          const part = failure === undefined ? await this.#next() : undefined;
          isLast = part?.isLast ?? true;
          if (part === undefined) release();
          else if (part.number > MAX_PARTS) throw tooLarge();
          else start(part, release);
        } catch (error) {
          release();
          throw error;
        }
      }
    } catch (error) {
      fail(error);
    } finally {
      await Promise.all(running);
      this.options.signal?.removeEventListener("abort", onAbort);
    }
    if (failure !== undefined) throw failure.error;
  }

  async #sendPart(
    uploads: Uploads,
    id: string,
    { part: { number, bytes }, found, signal }: {
      part: FilePart;
      found: InterruptedUpload | undefined;
      signal: AbortSignal;
    },
  ): Promise<void> {
    const sha256 = await sha256Of(bytes);
    const isThere = found?.parts.has(number) === true;
    const isSame = isThere && found?.parts.get(number) === sha256;
    if (isThere && !isSame && !found?.isOwn) throw this.#conflict();
    if (isSame) this.#resumed += bytes.byteLength;
    else {
      await uploads.putPart(id, this.place.name, number, bytes, { sha256, signal });
      await this.#memory?.addPart?.(number, sha256);
    }
    this.#stored.set(number, sha256);
    this.#count(bytes.byteLength);
  }

  /** Checks that no other client sent parts to the upload meanwhile. */
  async #verify(uploads: Uploads, id: string): Promise<void> {
    const state = await uploads.get(id, this.place.name);
    // One that is not open is refused by its completion.
    if (state === undefined) return;
    const isSame = state.parts.length === this.#stored.size &&
      state.parts.every(({ part, sha256 }) => this.#stored.get(part) === sha256);
    if (!isSame) throw this.#conflict();
  }

  #conflict(): KvdriveError {
    return new KvdriveError(
      `The interrupted upload of ${this.place.name} has other content by now: nothing was stored. Try again`,
      { code: "upload_conflict" },
    );
  }
}

function tooLarge(): KvdriveError {
  return invalidArgument(`The file is too large: it has more than ${MAX_PARTS} parts of 10 MB`);
}
