import type { App } from "../../core/context.ts";
import { labelOf } from "../../files/entry.ts";
import { picturedKind, shrinkFrame, shrinkImage } from "../../files/listing/small_picture.ts";
import { putThumbnail } from "../../files/listing/thumbnails.ts";
import type { ServerCalls, UploadTarget } from "./server_calls.ts";

/** How long storing a thumbnail may delay the end of its upload, in milliseconds. */
const MAX_DELAY = 10_000;

/** Makes a small picture of a file that was uploaded, if browsers can, and stores it with the file. */
export async function addThumbnail(
  { api }: Pick<App, "api">,
  server: Pick<ServerCalls, "etagOf">,
  target: UploadTarget,
  file: File,
  signal: AbortSignal,
): Promise<void> {
  const kind = picturedKind(labelOf(target), file);
  if (kind === undefined) return;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_DELAY)]);
  try {
    const image = kind === "image" ? await shrinkImage(file) : await frameOf(file, limit);
    const etag = await server.etagOf(target, file, limit);
    if (etag !== undefined) await putThumbnail(api, target, { etag, image, signal: limit });
  } catch {
    // The file may be no image, or the drive full: the file is stored all the same.
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
