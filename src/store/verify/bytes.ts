import { checksumPages, VersionCheck } from "../checksums.ts";
import { chunkCount } from "../chunks.ts";
import { keys, prefixes } from "../keys.ts";
import type { Place } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";

/** The bytes of one version, and what they are compared with. */
export interface VersionBytes {
  version: string;
  size: number;
  /** Of the bytes, in base64, where a record has it. */
  sha256?: string | undefined;
  /** Whether the chunks have checksums. */
  checksums?: true | undefined;
}

/** Told of bytes that were looked at. */
export type OnBytes = (bytes: Uint8Array) => void;

/** What is wrong with the chunks of one version, as the end of a sentence; `undefined` where nothing is. */
export function chunksProblem(
  snapshot: Snapshot,
  place: Place,
  bytes: VersionBytes,
  onBytes: OnBytes,
): string | undefined {
  const { version, size, sha256 } = bytes;
  const count = chunkCount(size);
  const check = new VersionCheck({ size, sha256, pages: pagesOf(snapshot, place, bytes) });
  for (const [index, piece] of snapshot.pieces(prefixes.chunks(place, version))) {
    // What is behind the last one no reader gets: the search for orphans finds it.
    if (index >= count) break;
    const problem = check.add(index, piece);
    if (problem !== undefined) return problem;
    onBytes(piece);
  }
  return check.end();
}

function pagesOf(
  snapshot: Snapshot,
  place: Place,
  { version, size, checksums }: VersionBytes,
): unknown[] | undefined {
  if (checksums === undefined) return undefined;
  const numbers = Array.from({ length: checksumPages(chunkCount(size)) }, (_, number) => number);
  return numbers.map((number) => snapshot.get(keys.checksums(place, version, number))?.value);
}
