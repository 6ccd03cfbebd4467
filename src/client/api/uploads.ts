import { bytesOf } from "./content.ts";
import { invalidArgument, unlessMissing } from "./error.ts";
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
