import { monotonicUlid } from "@std/ulid";
import { MINUTE } from "../../rules/units.ts";
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { FileRecord, Garbage, Layout, Place } from "../engine/records.ts";
import { chunkCount } from "./chunks.ts";

/** How long replaced bytes stay for readers in other processes; readers in this one are waited for. */
export const GARBAGE_GRACE = MINUTE;

/** Whether the digest of a file and the checksums of its chunks are known. */
export function isDigested({ layout, sha256 }: Pick<FileRecord, "layout" | "sha256">): boolean {
  return sha256 !== undefined && (layout.kind === "inline" || layout.checksums === true);
}

/** Adds to an operation that something is to be removed, from `due` (milliseconds since 1970) on. */
export function addGarbage(operation: Operation, garbage: Garbage, due: number): void {
  operation.set(keys.garbage(due, monotonicUlid()), garbage);
}

/** An entry that lives until a deadline. */
export interface ExpiringEntry {
  key: Deno.KvKey;
  value: unknown;
  /** Milliseconds since 1970. */
  deadline: number;
  /** With the deadline it names the entry of garbage, `keys.garbage(deadline, id)`. */
  id: string;
}

/**
 * Adds an entry that lives until a deadline. It is removed as garbage and not by Deno KV's own expiry, which ends the
 * process where the disk refuses a delete (denokv's `sqlite/lib.rs`: "KV collect expired failed").
 */
export function setExpiring(
  operation: Operation,
  { project, drive = "" }: { project: string; drive?: string },
  { key, value, deadline, id }: ExpiringEntry,
): void {
  const garbage: Garbage = { kind: "entry", project, drive, name: "", key };
  operation.set(key, value).set(keys.garbage(deadline, id), garbage);
}

/**
 * Adds what becomes of the bytes of a version that is replaced or deleted. What lies in one value goes at once, as it is
 * read together with its record; the rest stays for those who began to read it.
 */
export function discardContent(
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
      addGarbage(operation, { kind: "chunks", project, drive, name, version, chunks, file }, due);
      break;
    }
    case "manifest":
      addGarbage(operation, { kind: "manifest", project, drive, name, file }, due);
      break;
  }
}
