import { extensionOf } from "./kinds.ts";

/** Larger images are not decoded, in bytes: each takes memory for its pixels. */
const MAX_IMAGE = 50_000_000;
/** The width of a thumbnail in pixels, and its height at most. */
const SIDE = 320;
/** Bytes that a thumbnail should have at most: a page of 500 then has 8 MB. */
const WANTED = 16_384;
/** Bytes that the server takes at most. */
const MAX_BYTES = 65_536;
/** Qualities of the encoder, which are tried until the picture is small enough. */
const QUALITIES = [0.8, 0.6, 0.4, 0.2];
/** Safari encodes no WebP, and makes a PNG in its place. */
const TYPES = ["image/webp", "image/jpeg"];
/** The moment of a video that is shown, in seconds; videos often begin black. */
const MOMENT = 1;
/** How long a video may take to show a frame, in milliseconds. */
const FRAME_TIME = 20_000;

/** What browsers decode without running anything. */
const IMAGES = new Set(["jpg", "jpeg", "png", "gif", "webp", "avif", "bmp"]);
const IMAGE_TYPE = /^image\/(jpeg|png|gif|webp|avif|bmp)\b/;
const VIDEOS = new Set(["mp4", "m4v", "mov", "webm", "ogv", "mkv"]);
const VIDEO_TYPE = /^video\/(mp4|webm|ogg|quicktime|x-matroska)\b/;

/** Returns of what a small picture can be made; `undefined` if the browser cannot make one. */
export function picturedKind(
  label: string,
  { size, type }: { size: number; type: string },
): "image" | "video" | undefined {
  if (size === 0) return undefined;
  const extension = extensionOf(label);
  if (VIDEOS.has(extension) || VIDEO_TYPE.test(type)) return "video";
  const isImage = IMAGES.has(extension) || IMAGE_TYPE.test(type);
  return isImage && size <= MAX_IMAGE ? "image" : undefined;
}

/** Makes a small picture of an image. @throws If it cannot be decoded. */
export async function shrinkImage(image: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(image, { resizeWidth: SIDE, resizeQuality: "medium" });
  try {
    return await encode(bitmap);
  } finally {
    bitmap.close();
  }
}

/** Makes a small picture of a frame of a video. @throws If it cannot be decoded, or not in time. */
export async function shrinkFrame(address: string, signal: AbortSignal): Promise<Blob> {
  const video = document.createElement("video");
  const leaving = AbortSignal.any([signal, AbortSignal.timeout(FRAME_TIME)]);
  const when = (event: string) =>
    new Promise<void>((resolve, reject) => {
      leaving.throwIfAborted();
      leaving.addEventListener("abort", () => reject(leaving.reason));
      video.addEventListener("error", () => reject(new Error("The video cannot be decoded")));
      video.addEventListener(event, () => resolve(), { once: true });
    });
  video.muted = true;
  video.playsInline = true;
  video.preload = "auto";
  try {
    const loaded = when("loadeddata");
    video.src = address;
    await loaded;
    const { duration } = video;
    const seeked = when("seeked");
    // A recording may not say how long it is.
    video.currentTime = Math.min(MOMENT, Number.isFinite(duration) ? duration / 2 : 0);
    await seeked;
    const bitmap = await createImageBitmap(video, { resizeWidth: SIDE, resizeQuality: "medium" });
    try {
      return await encode(bitmap);
    } finally {
      bitmap.close();
    }
  } finally {
    // Stops the download.
    video.removeAttribute("src");
    video.load();
  }
}

/** Encodes the middle of an image. */
async function encode(bitmap: ImageBitmap): Promise<Blob> {
  const canvas = new OffscreenCanvas(SIDE, Math.min(bitmap.height, SIDE));
  canvas.getContext("2d")?.drawImage(bitmap, 0, (canvas.height - bitmap.height) / 2);
  let smallest: Blob | undefined;
  for (const type of TYPES) {
    for (const quality of QUALITIES) {
      const blob = await canvas.convertToBlob({ type, quality });
      if (blob.type !== type) break;
      if (blob.size <= WANTED) return blob;
      smallest = blob;
    }
    if (smallest !== undefined && smallest.size <= MAX_BYTES) return smallest;
  }
  throw new Error("The picture has too many bytes");
}
