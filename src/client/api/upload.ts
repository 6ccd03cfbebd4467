import { MAX_PARTS, MAX_PAYLOAD } from "../../rules/payloads.ts";
import { type Content, type FilePart, type Source, sourceOf } from "./content.ts";
import { headOf, type Place } from "./download.ts";
import { invalidArgument, KvdriveError } from "./error.ts";
import { conditionsOf, digestHeader, sha256Of, timeOf } from "./headers.ts";
import { LONG_ANSWER_TIME, type Transport, unlessAborted, withTimeout } from "./transport.ts";
import type { StoredFile, UploadState } from "./types.ts";
import { attributesOf, type FileAttributes, Uploads } from "./uploads.ts";

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

/** Stores a file: up to 10 MB in one request, more in parts. It is seen whole or not at all. */
export async function put(
  transport: Transport,
  place: Place,
  content: Content,
  options: PutOptions,
): Promise<StoredFile> {
  const { signal } = options;
  signal?.throwIfAborted();
  const source = sourceOf(content, options);
  if (source.size !== undefined && source.size > MAX_PARTS * MAX_PAYLOAD) throw tooLarge();
  return await new FileUpload(transport, place, source, options).send();
}

class FileUpload {
  readonly #parts: AsyncGenerator<FilePart, void>;
  /** The SHA-256 of the parts that the server has, by number. */
  readonly #stored = new Map<number, string | undefined>();
  /** Those that an interrupted upload had and that were compared before. */
  readonly #resumed = new Set<number>();
  #sent = 0;

  constructor(
    private readonly transport: Transport,
    private readonly place: Place,
    private readonly source: Source,
    private readonly options: PutOptions,
  ) {
    this.#parts = source.parts(this.#resumed);
  }

  async send(): Promise<StoredFile> {
    try {
      const first = await this.#next();
      if (first === undefined) throw new TypeError("There is always a first part");
      return first.isLast ? await this.#sendWhole(first.bytes) : await this.#sendParts(first);
    } finally {
      // A stream that does not answer must not keep the caller waiting.
      void this.#parts.return().catch(() => {});
    }
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

  async #sendParts(first: FilePart): Promise<StoredFile> {
    await this.#checkConditions();
    const uploads = new Uploads(this.transport, this.place.drive);
    const { name } = this.place;
    const found = this.options.resume ? await this.#findOpen(uploads, first) : undefined;
    const id = found?.upload_id ?? await this.#start(uploads);
    try {
      await this.#sendAll(uploads, id, first, found);
      if (found !== undefined) await this.#verify(uploads, id);
      const { project_id, drive_name, expires } = await uploads.complete(id, name, this.options);
      return { name, project_id, drive_name, ...(expires === undefined ? {} : { expires }) };
    } catch (error) {
      if (this.#isOver(error)) await this.#discard(id);
      throw error;
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
  }

  /** Reports whether an upload that failed cannot go on later. Until it is aborted, its bytes count towards the quota. */
  #isOver(error: unknown): boolean {
    if (this.options.resume !== true) return true;
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
    first: FilePart,
    found: UploadState | undefined,
  ): Promise<void> {
    const known = new Map(found?.parts.map(({ part, sha256 }) => [part, sha256]));
    const running = new Set<Promise<void>>();
    const abort = new AbortController();
    const onAbort = () => abort.abort(this.options.signal?.reason);
    this.options.signal?.addEventListener("abort", onAbort);
    let failure: { error: unknown } | undefined;
    const send = async ({ number, bytes }: FilePart): Promise<void> => {
      const sha256 = await sha256Of(bytes);
      if (known.has(number) && known.get(number) !== sha256) throw this.#conflict();
      if (!known.has(number)) {
        const { signal } = abort;
        await uploads.putPart(id, this.place.name, number, bytes, { sha256, signal });
      }
      this.#stored.set(number, sha256);
      this.#count(bytes.byteLength);
    };
    try {
      for (let part: FilePart | undefined = first; part !== undefined;) {
        if (part.number > MAX_PARTS) throw tooLarge();
        const task = send(part).catch((error: unknown) => {
          failure ??= { error };
          abort.abort(error);
        }).finally(() => running.delete(task));
        running.add(task);
        if (running.size >= PARALLEL_PARTS) await Promise.race(running);
        if (failure !== undefined) break;
        part = part.isLast ? undefined : await this.#next();
      }
    } catch (error) {
      abort.abort(error);
      failure ??= { error };
    } finally {
      await Promise.all(running);
      this.options.signal?.removeEventListener("abort", onAbort);
    }
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Returns an interrupted upload of the same content, with the parts that the server has. Another program may be sending
   * a file of this name at this moment, so an upload is taken over only if all that it has is the same.
   */
  async #findOpen(uploads: Uploads, first: FilePart): Promise<UploadState | undefined> {
    const { size } = this.source;
    if (size === undefined) {
      throw invalidArgument("A stream is resumed by its length: give its bytes as size");
    }
    try {
      for await (const { upload_id, name } of uploads.list()) {
        if (name !== this.place.name) continue;
        const state = await uploads.get(upload_id, name);
        if (state === undefined || !this.#isAlike(state, size)) continue;
        if (!await this.#hasSameParts(state, first)) continue;
        for (const { part, size } of state.parts) if (this.#resumed.has(part)) this.#count(size);
        return state;
      }
    } catch (error) {
      // A key that may not list starts from the beginning.
      if (!(error instanceof KvdriveError && error.status === 403)) throw error;
    }
    return undefined;
  }

  /** Reports whether an upload has the attributes of this one, and parts of a file of this size. */
  #isAlike(state: UploadState, size: number): boolean {
    const { contentType, expiresIn, mtime } = this.#attributes;
    const last = Math.ceil(size / MAX_PAYLOAD);
    return state.content_type === contentType && state.expires_in === expiresIn &&
      state.mtime === timeOf(mtime) &&
      state.parts.every(({ part, size: bytes }) =>
        part <= last && bytes === Math.min(MAX_PAYLOAD, size - (part - 1) * MAX_PAYLOAD)
      );
  }

  /** Compares the parts of an upload: all of them, or the first alone if that is all that can be read of a stream. */
  async #hasSameParts({ parts }: UploadState, first: FilePart): Promise<boolean> {
    const { source } = this;
    const compared = source.read === undefined ? parts.slice(0, 1) : parts;
    const stored = new Map<number, string>();
    for (const { part, sha256 } of compared) {
      const bytes = part === 1 ? first.bytes : await source.read?.(part);
      if (sha256 === undefined || bytes === undefined) return false;
      if (sha256 !== await sha256Of(bytes)) return false;
      stored.set(part, sha256);
    }
    // The first part is at hand: it is not sent again either.
    stored.delete(1);
    if (source.read === undefined) return compared.length > 0;
    for (const [part, sha256] of stored) {
      this.#stored.set(part, sha256);
      this.#resumed.add(part);
    }
    return compared.length > 0;
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
