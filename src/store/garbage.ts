import { monotonicUlid } from "@std/ulid";
import { GARBAGE_GRACE } from "../drive/limits.ts";
import { chunkCount } from "./chunks.ts";
import { keys } from "./keys.ts";
import type { Operation } from "./operation.ts";
import type { FileRecord, Garbage, Layout, Place } from "./records.ts";

/** Whether the digest of a file and the checksums of its chunks are known. */
export function isDigested({ layout, sha256 }: Pick<FileRecord, "layout" | "sha256">): boolean {
  return sha256 !== undefined && (layout.kind === "inline" || layout.checksums === true);
}

/** Adds to an operation that something is to be removed, from `due` (milliseconds since 1970) on. */
export function throwAway(operation: Operation, garbage: Garbage, due: number): void {
  operation.set(keys.garbage(due, monotonicUlid()), garbage);
}

/**
 * Adds what becomes of the bytes of a version that is replaced or deleted. What lies in one value goes at once, as it is
 * read together with its record; the rest stays for those who began to read it.
 */
export function discardLayout(
  operation: Operation,
  place: Place,
  record: FileRecord,
  next: Layout | undefined,
): void {
  const { layout, version: file, size } = record;
  if (!isDigested(record)) operation.delete(keys.undigested(place));
  const { project, drive, name } = place;
  const due = Date.now() + GARBAGE_GRACE;
  switch (layout.kind) {
    case "inline":
      // A new value takes the place of the old one.
      if (next?.kind !== "inline") operation.delete(keys.content(place));
      break;
    case "chunks": {
      const { version } = layout;
      const chunks = chunkCount(size);
      throwAway(operation, { kind: "chunks", project, drive, name, version, chunks, file }, due);
      break;
    }
    case "manifest":
      throwAway(operation, { kind: "manifest", project, drive, name, file }, due);
      break;
  }
}
