import { DELETION_BATCH } from "../accounts/deletions.ts";
import type { Database } from "../engine/database.ts";
import { Operation } from "../engine/operation.ts";
import type { Place } from "../engine/records.ts";
import type { SnapshotEntry } from "./snapshot.ts";

/** The part of the store that a problem is about, for programs. */
export type ProblemKind =
  /** The structure of the database's file. */
  | "database"
  /** The bytes of a file, and of a part of an open upload. */
  | "file"
  | "part"
  /** Entries that cannot be read, although the structure of the database's file is sound. */
  | "entry"
  /** Data without an owner. */
  | "orphan"
  /** Counts of the files that share bytes. */
  | "references"
  /** Counters, and their sums. */
  | "usage"
  /** Entries by which another entry is found. */
  | "index"
  /** The lists of the garbage collector and of running writes. */
  | "journal"
  /** Entries that this version does not know. */
  | "unknown";

/** An inconsistency in the store. */
export interface Problem {
  kind: ProblemKind;
  /** A sentence without its period. */
  message: string;
  /** The project, drive and file concerned. */
  project?: string;
  drive?: string;
  name?: string;
  /** Absent if only a person can decide what to do. */
  repair?: Repair;
}

/** How a problem is repaired. Each operation checks that the entries concerned are as they were when it was found. */
export interface Repair {
  /** What the repair has done, as a sentence without its period: `The chunks were removed`. */
  done: string;
  /** The operations in the order in which they must be committed. */
  operations: () => Iterable<Operation>;
  /** Whether the operations delete chunks and checksums, and nothing else. */
  isOfBytes?: true;
}

/** How many times a repair looks again for problems that others have changed in between. */
export const REPAIR_ROUNDS = 5;

/**
 * Repairs all problems that have a repair and whose entries have not changed since.
 *
 * @returns The problems that were repaired.
 */
export async function repair(db: Database, problems: readonly Problem[]): Promise<Problem[]> {
  const repaired: Problem[] = [];
  for (const problem of problems) {
    if (problem.repair !== undefined && await commitAll(db, problem.repair)) repaired.push(problem);
  }
  return repaired;
}

async function commitAll(db: Database, { operations, isOfBytes }: Repair): Promise<boolean> {
  for (const operation of operations()) {
    const outcome = isOfBytes ? db.commitBytes(operation) : db.commitBulk(operation);
    if (!(await outcome).ok) return false;
  }
  return true;
}

/** Returns a problem that one operation repairs. @param done See `Repair`. */
export function repairable(
  problem: Omit<Problem, "repair">,
  operation: Operation,
  done: string,
): Problem {
  return { ...problem, repair: { done, operations: () => [operation] } };
}

/** Returns the operation that deletes an entry unless it has changed. */
export function deleteUnchanged(
  { key, versionstamp }: Pick<SnapshotEntry, "key" | "versionstamp">,
): Operation {
  return new Operation().check(key, versionstamp).delete(key);
}

/**
 * Returns the repair that deletes many entries, in batches that hold up no requests.
 *
 * @param keys All of them: the snapshot is gone when the repair begins.
 * @param owner The key of what would own them, which must not exist then.
 */
export function deleteAll(keys: readonly Deno.KvKey[], owner: Deno.KvKey, done: string): Repair {
  return { done, operations: () => deletions(keys, () => new Operation().check(owner, null)) };
}

/**
 * Returns the repair that deletes chunks and checksums, in such batches. Those of a version without an owner never get
 * one: only the write that stores them can publish them, and its journal entry was gone.
 */
export function deleteBytes(keys: readonly Deno.KvKey[], done: string): Repair {
  return { done, operations: () => deletions(keys, () => new Operation()), isOfBytes: true };
}

function* deletions(keys: readonly Deno.KvKey[], begin: () => Operation): Generator<Operation> {
  for (let start = 0; start < keys.length; start += DELETION_BATCH) {
    const batch = begin();
    for (const key of keys.slice(start, start + DELETION_BATCH)) batch.delete(key);
    yield batch;
  }
}

/** Returns the file, folder or item whose key this is, with its drive. */
export function placeOf(key: Deno.KvKey): Place {
  const [, project = "", drive = "", name = ""] = key.map(String);
  return { project, drive, name };
}

/** Returns a drive as messages name it. */
export function driveText({ project, drive }: { project: string; drive: string }): string {
  return `drive ${JSON.stringify(drive)} of project ${project}`;
}
