import { type Api, dataOf } from "../../core/api.ts";
import { ApiError } from "../../core/api_error.ts";
import type { App } from "../../core/context.ts";
import { ticketsOf } from "../actions/tickets.ts";
import { type Entry, labelOf, type Place } from "../entry.ts";
import type { BrowserStore } from "./browser_store.ts";
import { picturedKind, shrinkFrame, shrinkImage } from "./small_picture.ts";

/** Larger images are not loaded for a thumbnail, in bytes. One that is uploaded gets it at once. */
const MAX_LOADED = 12_000_000;
/** Images that are loaded and decoded at once: each takes memory for its pixels. */
const MAX_RUNNING = 3;
/** Thumbnails in memory. */
const MAX_URLS = 400;

interface Job {
  run: () => Promise<void>;
  signal: AbortSignal;
}

/**
 * Loads the thumbnails that the server has, a few at a time, and keeps them in the browser by the version of their file.
 * Those that it lacks are made and stored there by whoever may write; others load no originals for it.
 */
export class Thumbnails {
  /** Addresses by key; `""` for an image that cannot be decoded. The first one is the oldest. */
  readonly #urls = new Map<string, string>();
  readonly #waiting: Job[] = [];
  #running = 0;

  constructor(
    private readonly app: Pick<App, "api" | "session">,
    private readonly store: BrowserStore,
  ) {}

  /** Returns whether a file may have a thumbnail here. */
  isPossible(entry: Entry): boolean {
    if (entry.kind === "folder" || entry.etag === undefined) return false;
    return entry.thumbnail === true || this.#kindToMake(entry) !== undefined;
  }

  /** Returns the address of a thumbnail that is in memory. */
  ready(place: Place, entry: Entry): string | undefined {
    return this.#urls.get(keyOf(place, entry));
  }

  /** Returns the address of a thumbnail; `""` if there is none. What is asked for last is made first. */
  async load(place: Place, entry: Entry, signal: AbortSignal): Promise<string> {
    const key = keyOf(place, entry);
    const kept = await this.store.get<Blob>("thumbnails", key);
    if (kept !== undefined) return this.#remember(key, kept);
    return await new Promise((resolve) => {
      const run = async () => {
        const ready = this.#urls.get(key);
        if (ready !== undefined) return resolve(ready);
        try {
          const image = await this.#stored(place, entry, signal) ??
            await this.#make(place, entry, signal);
          void this.store.put("thumbnails", key, image);
          resolve(this.#remember(key, image));
        } catch {
          // A file whose name or type is that of an image may be none.
          if (!signal.aborted) this.#urls.set(key, "");
          resolve("");
        }
      };
      this.#waiting.push({ run, signal });
      this.#next();
    });
  }

  /** Frees the memory. */
  close(): void {
    for (const url of this.#urls.values()) URL.revokeObjectURL(url);
    this.#urls.clear();
  }

  /** What a thumbnail can be made of; `undefined` if it cannot, or may not be stored. */
  #kindToMake(entry: Entry): "image" | "video" | undefined {
    const { size = 0, content_type = "" } = entry;
    const kind = picturedKind(labelOf(entry), { size, type: content_type });
    if (!this.app.session.may("write")) return undefined;
    return kind === "image" && size > MAX_LOADED ? undefined : kind;
  }

  /** Loads the thumbnail that the server has; `undefined` if it has none. */
  async #stored(place: Place, entry: Entry, signal: AbortSignal): Promise<Blob | undefined> {
    if (entry.thumbnail !== true) return undefined;
    try {
      return await dataOf(this.app.api.GET("/v1/{project_id}/{drive_name}/files/thumbnail", {
        params: callOf(place, entry.name),
        parseAs: "blob",
        signal,
      })) as Blob;
    } catch (error) {
      // The file has another version by now, or its thumbnail is damaged.
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Makes a thumbnail of the file and stores it. @throws If it cannot be made. */
  async #make(place: Place, entry: Entry, signal: AbortSignal): Promise<Blob> {
    const { name, etag = "" } = entry;
    const kind = this.#kindToMake(entry);
    if (kind === undefined) throw new Error("There is no thumbnail");
    const image = kind === "video"
      ? await shrinkFrame(await ticketsOf(this.app).addressOf(place, name), signal)
      : await shrinkImage(await downloadBlob(this.app.api, place, name, signal));
    // It is shown in any case. Another page may have stored one, or the file may have another version.
    putThumbnail(this.app.api, { ...place, name }, { etag, image }).catch(() => {});
    return image;
  }

  #next(): void {
    while (this.#running < MAX_RUNNING) {
      const job = this.#waiting.pop();
      if (job === undefined) return;
      if (job.signal.aborted) continue;
      this.#running++;
      void job.run().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  #remember(key: string, image: Blob): string {
    const before = this.#urls.get(key);
    if (before !== undefined) return before;
    const url = URL.createObjectURL(image);
    this.#urls.set(key, url);
    for (const [key, url] of this.#urls) {
      if (this.#urls.size <= MAX_URLS) break;
      URL.revokeObjectURL(url);
      this.#urls.delete(key);
    }
    return url;
  }
}

/** Loads a file into memory. @throws {ApiError} */
export async function downloadBlob(
  api: Api,
  { project, drive }: Place,
  name: string,
  signal: AbortSignal,
): Promise<Blob> {
  return await dataOf(api.GET("/v1/{project_id}/{drive_name}/files/download", {
    params: { path: { project_id: project, drive_name: drive }, query: { name } },
    parseAs: "blob",
    signal,
  })) as Blob;
}

/** Stores the thumbnail of a version of a file. @throws {ApiError} */
export async function putThumbnail(
  api: Api,
  { name, ...place }: Pick<Place, "project" | "drive"> & { name: string },
  { etag, image, signal }: { etag: string; image: Blob; signal?: AbortSignal },
): Promise<void> {
  const { path, query } = callOf(place, name);
  await api.PUT("/v1/{project_id}/{drive_name}/files/thumbnail", {
    params: { path, query, header: { "If-Match": `"${etag}"` } },
    body: image as unknown as string,
    bodySerializer: () => image,
    ...(signal === undefined ? {} : { signal }),
  });
}

function callOf({ project, drive }: Pick<Place, "project" | "drive">, name: string) {
  return { path: { project_id: project, drive_name: drive }, query: { name } };
}

function keyOf({ project, drive }: Place, { name, etag }: Entry): string {
  return JSON.stringify([project, drive, name, etag]);
}
