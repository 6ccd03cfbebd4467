import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { bytesOf, type FilePart, type Source } from "./content.ts";
import type { Place } from "./download.ts";
import { invalidArgument, KvdriveError, unlessMissing } from "./error.ts";
import { type Conditions, conditionsOf, digestHeader, sha256Of, timeOf } from "./headers.ts";
import { LONG_ANSWER_TIME, type Transport } from "./transport.ts";
import type { OpenUpload, ReceivedPart, Upload, UploadState } from "./types.ts";

/**
 * What is kept about a file.
 *
 * @example
 * ```ts
 * const attributes: FileAttributes = { contentType: "image/jpeg", expiresIn: 86_400 };
 * await photos.put("a.jpg", new Uint8Array(100), attributes);
 * ```
 */
export interface FileAttributes {
  /** The media type. Without it: that of a `Blob`, else the one for the name, else `application/octet-stream`. */
  contentType?: string | undefined;
  /** Seconds after which the file expires. */
  expiresIn?: number | undefined;
  /** When your own copy was last modified: a time, milliseconds since 1970, or RFC 3339. */
  mtime?: Date | number | string | undefined;
}

/** Returns the parts of a query that tell about a file. */
export function attributesOf(
  { expiresIn, mtime }: FileAttributes,
): Record<string, string | number | undefined> {
  return { expires_in: expiresIn, mtime: timeOf(mtime) };
}

/**
 * The uploads in parts of a drive. `put` uses them by itself; they are here for programs that send the parts of one file
 * from several places.
 *
 * @example
 * ```ts
 * const { upload_id } = await photos.uploads.start("a.txt", { contentType: "text/plain" });
 * await photos.uploads.putPart(upload_id, "a.txt", 1, "Hello");
 * await photos.uploads.complete(upload_id, "a.txt");
 * ```
 */
export class Uploads {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `drive.uploads`. */
  constructor(transport: Transport, drive: string) {
    this.#transport = transport;
    this.#path = [...transport.files, drive, "uploads"];
  }

  /** Lists the open uploads, the oldest first. */
  list(): AsyncIterable<OpenUpload> {
    return this.#transport.items({ path: this.#path }, "uploads");
  }

  /** Opens an upload. Parts may be sent in any order and side by side. */
  async start(
    name: string,
    attributes: FileAttributes = {},
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Upload> {
    return await this.#transport.json({
      method: "POST",
      path: this.#path,
      query: { name, ...attributesOf(attributes) },
      headers: { "Content-Type": attributes.contentType },
      signal,
    });
  }

  /** Returns an open upload with the parts that the server has, and their SHA-256; `undefined` if it is not open. */
  async get(id: string, name: string): Promise<UploadState | undefined> {
    const path = [...this.#path, id];
    const query = { name, details: true };
    return await unlessMissing(this.#transport.json<UploadState>({ method: "GET", path, query }), [
      "upload_not_found",
      "upload_completed",
    ]);
  }

  /**
   * Sends a part: 5 to 10 MB; the last may be smaller. A part that is sent again replaces the earlier one.
   *
   * @param part Its number, from 1 on.
   */
  async putPart(
    id: string,
    name: string,
    part: number,
    content: string | ArrayBuffer | ArrayBufferView,
    { sha256, signal }: {
      /** The SHA-256 of the bytes in base64, if you know it. */
      sha256?: string | undefined;
      signal?: AbortSignal | undefined;
    } = {},
  ): Promise<ReceivedPart> {
    const bytes = bytesOf(content);
    if (bytes === undefined) throw invalidArgument("A part must be bytes or text");
    return await this.#transport.json({
      method: "POST",
      path: [...this.#path, id, "parts"],
      query: { name, part },
      headers: { "Content-Digest": digestHeader(sha256 ?? await sha256Of(bytes)) },
      bytes,
      signal,
      timeout: LONG_ANSWER_TIME,
    });
  }

  /** Makes the file of the parts 1 to n. */
  async complete(
    id: string,
    name: string,
    options: Conditions & { signal?: AbortSignal | undefined } = {},
  ): Promise<Upload> {
    return await this.#transport.json({
      method: "PATCH",
      path: [...this.#path, id],
      query: { name },
      headers: conditionsOf(options),
      signal: options.signal,
      timeout: LONG_ANSWER_TIME,
    });
  }

  /** Discards an upload. Reports whether it was open. */
  async abort(id: string, name: string): Promise<boolean> {
    const request = { method: "DELETE", path: [...this.#path, id], query: { name } };
    const found = unlessMissing(this.#transport.json<Upload>(request), ["upload_not_found"]);
    return await found !== undefined;
  }
}

/** An interrupted upload of the same content. */
export interface InterruptedUpload {
  id: string;
  /** The SHA-256 of the parts that the server has, by number. */
  parts: ReadonlyMap<number, string | undefined>;
  /** The bytes of those that were compared already, and need not be read, by number. */
  compared: ReadonlyMap<number, number>;
  /** Whether a part with other bytes is replaced. Otherwise the upload may be one of another program, and is left. */
  isOwn: boolean;
}

/** What is to be stored. */
interface Wanted {
  source: Source;
  first: FilePart;
  attributes: FileAttributes;
}

/**
 * Returns an interrupted upload of the same content, with the parts that the server has. Another program may be sending
 * a file of this name at this moment, so an upload is taken over only if all that it has is the same.
 */
export async function findOpenUpload(
  transport: Transport,
  place: Place,
  wanted: Wanted,
): Promise<InterruptedUpload | undefined> {
  const { size } = wanted.source;
  if (size === undefined) {
    throw invalidArgument("A stream is resumed by its length: give its bytes as size");
  }
  const uploads = new Uploads(transport, place.drive);
  try {
    for await (const { upload_id: id, name } of uploads.list()) {
      if (name !== place.name) continue;
      const state = await uploads.get(id, name);
      if (state === undefined || !isAlike(state, size, wanted.attributes)) continue;
      const compared = await sameParts(state, wanted);
      if (compared === undefined) continue;
      const parts = new Map(state.parts.map(({ part, sha256 }) => [part, sha256]));
      return { id, parts, compared, isOwn: false };
    }
  } catch (error) {
    // A key that may not list starts from the beginning.
    if (!(error instanceof KvdriveError && error.status === 403)) throw error;
  }
  return undefined;
}

/** Reports whether an upload has these attributes, and parts of a file of this size. */
function isAlike(
  state: UploadState,
  size: number,
  { contentType, expiresIn, mtime }: FileAttributes,
): boolean {
  const last = Math.ceil(size / MAX_PAYLOAD);
  return state.content_type === contentType && state.expires_in === expiresIn &&
    state.mtime === timeOf(mtime) &&
    state.parts.every(({ part, size: bytes }) =>
      part <= last && bytes === Math.min(MAX_PAYLOAD, size - (part - 1) * MAX_PAYLOAD)
    );
}

/**
 * Compares the parts of an upload: all of them, or the first alone if that is all that can be read of a stream.
 *
 * @returns The bytes of those that need not be read again; `undefined` if one differs, or there is none.
 */
async function sameParts(
  { parts }: UploadState,
  { source, first }: Wanted,
): Promise<Map<number, number> | undefined> {
  const compared = source.read === undefined ? parts.slice(0, 1) : parts;
  if (compared.length === 0) return undefined;
  const same = new Map<number, number>();
  for (const { part, sha256 } of compared) {
    const bytes = part === 1 ? first.bytes : await source.read?.(part);
    if (sha256 === undefined || bytes === undefined) return undefined;
    if (sha256 !== await sha256Of(bytes)) return undefined;
    // The first part is at hand.
    if (part !== 1) same.set(part, bytes.byteLength);
  }
  return same;
}
