import { unlessMissing } from "./error.ts";
import { conditionsOf } from "./headers.ts";
import type { Transport } from "./transport.ts";
import type { FileDetails } from "./types.ts";

const MISSING = ["file_not_found", "thumbnail_not_found"] as const;

/**
 * The thumbnails of the files of a drive: small pictures that callers make and store with a version of a file.
 *
 * @example
 * ```ts
 * await photos.put("a.jpg", "…");
 * const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]); // and so on
 * await photos.thumbnails.put("a.jpg", png);
 * const picture = await photos.thumbnails.get("a.jpg"); // undefined if there is none
 * picture?.type; // "image/png"
 * ```
 */
export class Thumbnails {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `drive.thumbnails`. */
  constructor(transport: Transport, drive: string) {
    this.#transport = transport;
    this.#path = [...transport.files, drive, "files", "thumbnail"];
  }

  /**
   * Stores a JPEG, PNG or WebP of at most 64 KiB, in place of an earlier one.
   *
   * @param options.ifMatch Only if the file has this ETag.
   */
  async put(
    name: string,
    image: Blob | Uint8Array<ArrayBuffer>,
    options: { ifMatch?: string | undefined } = {},
  ): Promise<FileDetails> {
    const bytes = new Uint8Array(await new Blob([image]).arrayBuffer());
    const request = { method: "PUT", path: this.#path, query: { name }, bytes };
    return await this.#transport.json({ ...request, headers: conditionsOf(options) });
  }

  /** Fetches the thumbnail of a file; `undefined` if the file has none, or there is no file. */
  async get(name: string, { signal }: { signal?: AbortSignal } = {}): Promise<Blob | undefined> {
    const request = { method: "GET", path: this.#path, query: { name }, signal };
    const answer = await unlessMissing(this.#transport.send(request), MISSING);
    return await answer?.blob();
  }
}
