import { createHash } from "node:crypto";
import { CHUNK } from "../../drive/limits.ts";
import { chunkCount } from "../chunks.ts";
import { prefixes } from "../keys.ts";
import type { Place } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";

/**
 * What is wrong with the chunks of one version, as the end of a sentence; `undefined` where nothing is.
 *
 * @param sha256 The digest of the bytes, in base64, where one is known. Without it no byte is read.
 * @param onBytes Told of bytes that were looked at.
 */
export function chunksProblem(
  snapshot: Snapshot,
  place: Place,
  { version, size, sha256 }: { version: string; size: number; sha256?: string | undefined },
  onBytes: (count: number) => void,
): string | undefined {
  const prefix = prefixes.chunks(place, version);
  const hash = sha256 === undefined ? undefined : createHash("sha256");
  const count = chunkCount(size);
  let next = 0;
  for (const [index, piece] of piecesOf(snapshot, prefix, hash !== undefined)) {
    // What is behind the last one nobody reads: it is somebody else's matter.
    if (index >= count) break;
    if (index !== next) break;
    const length = typeof piece === "number" ? piece : piece.byteLength;
    const wanted = Math.min(CHUNK, size - index * CHUNK);
    if (length !== wanted) {
      return `chunk ${index} of ${count} has ${length} bytes instead of ${wanted}`;
    }
    if (typeof piece !== "number") hash?.update(piece);
    onBytes(length);
    next++;
  }
  if (next < count) return `chunk ${next} of ${count} is missing`;
  if (hash !== undefined && hash.digest("base64") !== sha256) {
    return "its bytes are not those that were stored: their SHA-256 is another one";
  }
  return undefined;
}

function piecesOf(
  snapshot: Snapshot,
  prefix: Deno.KvKey,
  isRead: boolean,
): Iterable<[index: number, piece: number | Uint8Array]> {
  return isRead ? snapshot.pieces(prefix) : snapshot.pieceSizes(prefix);
}
