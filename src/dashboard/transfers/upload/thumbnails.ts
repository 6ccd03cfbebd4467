import type { App } from "../../core/context.ts";
import { labelOf } from "../../files/entry.ts";
import { picturedKind, shrinkFrame, shrinkImage } from "../../files/listing/small_picture.ts";
import { putThumbnail } from "../../files/listing/thumbnails.ts";
import type { ServerCalls, UploadTarget } from "./server_calls.ts";

/** How long storing a thumbnail may delay the end of its upload, in milliseconds. */
const MAX_DELAY = 10_000;

/** Makes small pictures of files that were uploaded, one after the other, as each takes memory for its pixels. */
export class UploadThumbnails {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly app: Pick<App, "api">,
    private readonly server: Pick<ServerCalls, "etagOf">,
  ) {}

  /** Stores a small picture of a file that was sent, if browsers can make one. It never throws. */
  async add(target: UploadTarget, file: File, signal: AbortSignal): Promise<void> {
    const kind = picturedKind(labelOf(target), file);
    if (kind === undefined) return;
    const added = this.#last.then(() => this.#add(target, file, kind, signal)).catch(() => {
      // The file may be no image, or the drive full: the file is stored all the same.
    });
    this.#last = added;
    await added;
  }

  async #add(
    target: UploadTarget,
    file: File,
    kind: "image" | "video",
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_DELAY)]);
    const image = kind === "image" ? await shrinkImage(file) : await frameOf(file, limit);
    const etag = await this.server.etagOf(target, file, limit);
    if (etag === undefined) return;
    await putThumbnail(this.app.api, target, { etag, image, signal: limit });
  }
}

async function frameOf(video: File, signal: AbortSignal): Promise<Blob> {
  const address = URL.createObjectURL(video);
  try {
    return await shrinkFrame(address, signal);
  } finally {
    URL.revokeObjectURL(address);
  }
}
