import { patternBytes } from "../bytes.ts";

/** What the images that may be thumbnails begin with, by content type. */
export const SIGNATURES = {
  "image/jpeg": [0xff, 0xd8, 0xff, 0xe0],
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  "image/webp": [0x52, 0x49, 0x46, 0x46, 1, 2, 0, 0, 0x57, 0x45, 0x42, 0x50],
} as const;

/** Bytes that begin like an image. @param size At least those of the signature. */
export function imageBytes(
  size: number,
  type: keyof typeof SIGNATURES = "image/webp",
  seed = 1,
): Uint8Array<ArrayBuffer> {
  const image = patternBytes(size, seed);
  image.set(SIGNATURES[type]);
  return image;
}
