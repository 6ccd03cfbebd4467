/**
 * The garbage journal: what no file refers to any more, and when it may be deleted. The operation that replaces or
 * deletes something adds an entry; `GarbageCollector` deletes what the entries name.
 *
 * @module
 */
import { monotonicUlid } from "@std/ulid";
import { MINUTE } from "../../rules/units.ts";
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { Garbage } from "../engine/records.ts";

/**
 * How long replaced bytes are kept for readers in other processes, in milliseconds. Longer reads have a lease
 * (`OpenVersions`).
 */
export const GARBAGE_GRACE = MINUTE;

/** Adds a journal entry to an operation: the garbage may be deleted from `due` (milliseconds since 1970) on. */
export function addGarbage(operation: Operation, garbage: Garbage, due: number): void {
  operation.set(keys.garbage(due, monotonicUlid()), garbage);
}

/** An entry of the store that expires. */
export interface ExpiringEntry {
  key: Deno.KvKey;
  value: unknown;
  /** Milliseconds since 1970. */
  deadline: number;
  /** Together with the deadline it names the journal entry, `keys.garbage(deadline, id)`. */
  id: string;
}

/**
 * Adds an entry that is deleted after its deadline. It is garbage rather than an entry with an expiry of Deno KV,
 * because that ends the process when the disk refuses the delete (denokv, `sqlite/lib.rs`: "KV collect expired
 * failed").
 */
export function setExpiring(
  operation: Operation,
  { project, drive = "" }: { project: string; drive?: string },
  { key, value, deadline, id }: ExpiringEntry,
): void {
  const garbage: Garbage = { kind: "entry", project, drive, name: "", key };
  operation.set(key, value).set(keys.garbage(deadline, id), garbage);
}
