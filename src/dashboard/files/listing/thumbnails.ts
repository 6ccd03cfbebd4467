import { type Api, dataOf } from "../../core/api.ts";
import { type Entry, labelOf, type Place } from "../entry.ts";
import type { BrowserStore } from "./browser_store.ts";
import { extensionOf } from "./kinds.ts";

/** Larger images are not loaded for a thumbnail, in bytes. */
const MAX_IMAGE = 12_000_000;
/** Images that are loaded and decoded at once: each takes memory for its pixels. */
const MAX_RUNNING = 3;
/** Thumbnails in memory. */
const MAX_URLS = 400;
/** The width of a thumbnail in pixels, and its height at most. */
const SIDE = 320;

/** What browsers decode without running anything. */
const DECODABLE = new Set(["jpg", "jpeg", "png", "gif", "webp", "avif", "bmp"]);
const DECODABLE_TYPE = /^image\/(jpeg|png|gif|webp|avif|bmp)\b/;

export function hasThumbnail(entry: Entry): boolean {
  const { kind, size = 0, etag, content_type = "" } = entry;
  if (kind === "folder" || etag === undefined || size === 0 || size > MAX_IMAGE) return false;
  return DECODABLE.has(extensionOf(labelOf(entry))) || DECODABLE_TYPE.test(content_type);
}

interface Job {
  run: () => Promise<void>;
  signal: AbortSignal;
}

/** Makes thumbnails of images, a few at a time, and keeps them in the browser by the version of their file. */
export class Thumbnails {
  /** Addresses by key; `""` for an image that cannot be decoded. The first one is the oldest. */
  readonly #urls = new Map<string, string>();
  readonly #waiting: Job[] = [];
  #running = 0;

  constructor(private readonly api: Api, private readonly store: BrowserStore) {}

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
          const made = await shrink(await downloadBlob(this.api, place, entry.name, signal));
          void this.store.put("thumbnails", key, made);
          resolve(this.#remember(key, made));
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

function keyOf({ project, drive }: Place, { name, etag }: Entry): string {
  return JSON.stringify([project, drive, name, etag]);
}

async function shrink(image: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(image, { resizeWidth: SIDE, resizeQuality: "medium" });
  try {
    const canvas = new OffscreenCanvas(SIDE, Math.min(bitmap.height, SIDE));
    canvas.getContext("2d")?.drawImage(bitmap, 0, (canvas.height - bitmap.height) / 2);
    return await canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
  } finally {
    bitmap.close();
  }
}
