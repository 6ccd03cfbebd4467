/**
 * The format of a store: a number that grows with every change after which older versions of kvdrive would misread it.
 *
 * Every opener compares the number of the store with `FORMAT`. A server converts an older store (`store/upgrade/`);
 * other writers refuse it. What only reads (`verify`, `backup`, `restore`) checks the bytes of files in it,
 * which are the same in every format, and leaves it as it is. A newer store is refused by all of them.
 *
 * @module
 */
import type { KvReader } from "../reads/read_queue.ts";
import type { Database } from "./database.ts";
import { keys, prefixes } from "./keys.ts";
import { Operation } from "./operation.ts";

/** The format that this version reads and writes. */
export const FORMAT = 4;

/** The format of stores without a number, which earlier versions made. */
export const FIRST_FORMAT = 1;

/** Converts a store of an older format to `FORMAT`. */
export interface Convert {
  (db: Database): Promise<void>;
  /** Throws, and changes nothing, if the disk has too little space for that. */
  requireSpace?(db: Database): Promise<void>;
}

/** Adds that a store has a format. The number is a counter, because the form of counters never changes. */
export function setFormat(operation: Operation, format: number): Operation {
  return operation.set(keys.format(), new Deno.KvU64(BigInt(format)));
}

/** Returns the format that an entry states. */
export function formatIn(value: Deno.KvU64 | null | undefined): number {
  return value instanceof Deno.KvU64 ? Number(value.value) : FIRST_FORMAT;
}

/** Returns the format of a store. An empty store gets the present one. */
export async function formatOf(db: Database): Promise<number> {
  while (true) {
    // In this order: who makes a store writes its format before anything else.
    const isNew = await isEmpty(db.reader);
    const { key, value, versionstamp } = await db.reader.get<Deno.KvU64>(keys.format());
    if (versionstamp !== null) return formatIn(value);
    if (!isNew) return FIRST_FORMAT;
    // A refusal means that another process was faster.
    await db.commit(setFormat(new Operation().check(key, null), FORMAT));
  }
}

/** Returns whether a store is new. Markers of commits do not count: they belong to no format. */
export async function isEmpty(reader: KvReader): Promise<boolean> {
  for await (const { key } of reader.list({ prefix: prefixes.all() }, { batchSize: 10 })) {
    if (key[0] !== "commit") return false;
  }
  return true;
}

/** Returns why a store cannot be used and what helps, as the end of a sentence; `undefined` if it has `FORMAT`. */
export function formatProblem(format: number): string | undefined {
  if (format === FORMAT) return undefined;
  return format < FORMAT ? olderFormat(format) : newerFormat(format);
}

function olderFormat(format: number): string {
  return `it has format ${format}, and this version of kvdrive writes format ${FORMAT}; ` +
    "make a backup of it, then start the server, which converts the store";
}

function newerFormat(format: number): string {
  return `it has format ${format}, which a newer version of kvdrive made, and this version ` +
    `knows formats up to ${FORMAT}; use the newer version, or restore a backup from before its upgrade`;
}
