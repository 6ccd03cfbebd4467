import { createHash } from "node:crypto";

export interface DriveInfo {
  name: string;
  /** `null` for a key that is limited to some names of the drive. */
  files: number | null;
  bytes: number | null;
}

/** A file's metadata, as a listing returns it. */
export interface FileInfo {
  name: string;
  /** Bytes. */
  size: number;
  type: string;
  /** Changes with every write. */
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** When the copy that was uploaded was last modified, in milliseconds since 1970; absent if the uploader did not say. */
  mtime?: number | undefined;
  /** Base64; absent if the server does not know it. */
  sha256?: string | undefined;
}

/** Returns the modification time that a copy of a file gets: that of the copy which was uploaded, if it is known. */
export function copyTime(
  { mtime, modified }: { mtime?: number | undefined; modified: number },
): number {
  return mtime ?? modified;
}

/** Returns the SHA-256 of a stream of bytes in base64. */
export async function sha256OfStream(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
}
