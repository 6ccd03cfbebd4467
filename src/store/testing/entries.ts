/**
 * What the store has in it: counting and damaging its entries.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { isByteKind, type Kind } from "../engine/records/kinds.ts";
import { Operation } from "../engine/operation.ts";
import {
  bytesVersion,
  type FileRecord,
  type Garbage,
  type ManifestPage,
} from "../engine/records.ts";
import type { DriveUsage } from "../quotas/usage.ts";
import { type KvReader, ReadQueue, type ReferenceOf } from "../reads/read_queue.ts";
import type { Store } from "../store.ts";
import { DRIVE, place } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

const UNCOUNTED = new Set([
  ...["project", "commit", "event", "server_event", "format", "byte_file", "store_id"],
  ...["daily_usage", "server_daily_usage", "usage_history", "project_usage"],
]);

/**
 * Returns how many entries of each kind the store has, after a check of the sums. Not counted are projects and their sums,
 * events, daily figures, the id of the store, entries that expire by themselves, and counters of open uploads that are 0.
 */
export async function keyKinds(bench: TestStore): Promise<Record<string, number>> {
  const { db } = bench;
  await assertSums(bench);
  const kinds: Record<string, number> = {};
  const versions = { chunk: new Set<string>(), checksums: new Set<string>() };
  for await (const { key, value } of allEntries(db)) {
    const [kind, , , last] = key;
    if (UNCOUNTED.has(String(kind))) continue;
    // The expiry of an entry that is counted itself.
    if (kind === "garbage" && ["entry", "link"].includes((value as Garbage).kind)) continue;
    if (last === "open_bytes" && value instanceof Deno.KvU64 && value.value === 0n) continue;
    if (kind === "chunk" || kind === "checksums") versions[kind].add(String(key[1]));
    if (kind === "checksums") continue;
    const shape = kind === "usage" ? `usage ${String(last)}` : String(kind);
    kinds[shape] = (kinds[shape] ?? 0) + 1;
  }
  assert(versions.checksums.isSubsetOf(versions.chunk), "There are checksums without chunks");
  return kinds;
}

/** Asserts that the sums of each project are those of its drives' counters and of its open uploads. */
export async function assertSums({ db }: TestStore): Promise<void> {
  const sums: Record<string, bigint> = {};
  const counted: Record<string, bigint> = {};
  const add = (to: Record<string, bigint>, project: unknown, counter: unknown, by: bigint) => {
    const name = `${project} ${counter}`;
    to[name] = (to[name] ?? 0n) + by;
    if (to[name] === 0n) delete to[name];
  };
  for await (const { key, value } of allEntries(db)) {
    const [kind, project] = key;
    if (kind === "upload") add(counted, project, "open_uploads", 1n);
    if (!(value instanceof Deno.KvU64)) continue;
    if (kind === "usage") add(counted, project, key[3], value.value);
    if (kind === "project_usage") add(sums, project, key[2], value.value);
  }
  assertEquals(sums, counted);
}

/** Asserts that the store has exactly these entries. */
export async function assertKeys(
  bench: TestStore,
  expected: Record<string, number>,
): Promise<void> {
  assertEquals(await keyKinds(bench), expected);
}

export async function drivesOf(store: Store, project: string): Promise<DriveUsage[]> {
  const page = { limit: Infinity, prefix: "", last: "" };
  return (await store.listDrives({ project, among: undefined, ...page })).drives;
}

/** Asserts that the counters are correct and have these values. @param metadata Bytes of metadata that count as well. */
export async function assertUsage(
  { store }: TestStore,
  expected: { files: number; bytes: number },
  metadata = 0,
): Promise<void> {
  const query = { ...DRIVE, limit: 1000, prefix: "", last: "" };
  const { entries } = await store.list(query, { recursive: true });
  const counted = {
    files: entries.length,
    bytes: entries.reduce((sum, { record }) => sum + (record?.size ?? 0), 0),
  };
  assertEquals(counted, expected);
  const [drive] = await drivesOf(store, DRIVE.project);
  const { files = 0, bytes = 0 } = drive ?? {};
  assertEquals({ files, bytes: bytes - metadata }, expected);
}

/** Returns the entries whose key or value contains a text, as text. */
export async function entriesWith({ db }: TestStore, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key, value } of allEntries(db)) {
    const shown = Deno.inspect([key, value], { depth: 9, breakLength: Infinity });
    if (shown.includes(text)) found.push(shown);
  }
  return found;
}

/** The same without the audit logs, which name what is gone. */
export async function dataWith(bench: TestStore, text: string): Promise<string[]> {
  const found = await entriesWith(bench, text);
  return found.filter((entry) => !/^\[ \[ "(server_)?event"/.test(entry));
}

/** Returns how many reads of the store some work takes. */
export async function countReads({ db }: TestStore, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  // Single entries may be read by a reader that has no other name.
  let isInside = false;
  const counted = (object: object, read: () => unknown) => (...args: unknown[]) => {
    if (isInside) return Reflect.apply(read, object, args);
    count++;
    isInside = true;
    try {
      return Reflect.apply(read, object, args);
    } finally {
      isInside = false;
    }
  };
  const single = [db.reads, db.bytes.reads].filter((reads) => !(reads instanceof ReadQueue));
  const restore = [...new Set<object>([...readersOf(db), ...single])].map((object) => {
    const { get, getMany, getReferenced, list } = object as Record<string, () => unknown>;
    const own = Object.entries({ get, getMany, getReferenced, list })
      .filter((each): each is [string, () => unknown] => each[1] !== undefined);
    Object.assign(
      object,
      Object.fromEntries(own.map(([name, read]) => [name, counted(object, read)])),
    );
    return () => Object.assign(object, Object.fromEntries(own));
  });
  try {
    await work();
  } finally {
    for (const each of restore) each();
  }
  return count;
}

/** Returns what reads the files of a store. */
export function readersOf(db: Database): Set<KvReader> {
  return new Set([db.reader, db.bytes.reader]);
}

/** Makes a database read an entry and the one that it refers to one after the other, as a remote store does. */
export function readSeparately({ reads }: Database, between = () => Promise.resolve()): void {
  reads.getReferenced = async <T, R>(key: Deno.KvKey, referenceOf: ReferenceOf<T>) => {
    const [first] = await reads.get<[T]>([key]);
    const reference = first.value === null ? undefined : referenceOf(first.value);
    if (reference === undefined) return [first, undefined];
    await between();
    const [second] = await reads.get<[R]>([reference]);
    return [first, second];
  };
}

/** Returns the versions that the bytes of a file are stored under: one for each part of a file with a manifest. */
export async function bytesVersions({ db }: TestStore, name: string): Promise<string[]> {
  const { value } = await db.reader.get<FileRecord>(keys.file(place(name)));
  assert(value !== null, `There is no file ${name}`);
  const version = bytesVersion(value);
  if (value.layout.kind !== "manifest") return [version];
  const pages = db.reader.list<ManifestPage>({ prefix: prefixes.all("manifest", version) });
  return (await Array.fromAsync(pages)).flatMap((page) => page.value.versions);
}

/** Changes the last entry of a kind among the bytes of a file. Deletes it if `edit` returns `undefined`. */
export async function damageBytes(
  bench: TestStore,
  kind: "content" | "chunk" | "checksums",
  name: string,
  edit: (value: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined,
): Promise<void> {
  const version = (await bytesVersions(bench, name)).at(-1) ?? "";
  await damageEntry(bench, [kind, version], edit);
}

/** Changes the entry with a key, or else the last one with that prefix. Deletes it if `edit` returns `undefined`. */
export async function damageEntry(
  { db }: TestStore,
  prefix: Deno.KvKey,
  edit: (value: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined,
): Promise<void> {
  const reader = readerOf(db, prefix);
  const exact = await reader.get<Uint8Array<ArrayBuffer>>(prefix);
  const below = reader.list<Uint8Array<ArrayBuffer>>({ prefix }, { reverse: true, limit: 1 });
  const [entry] = exact.value === null ? await Array.fromAsync(below) : [exact];
  assert(entry !== undefined, `There is nothing to damage: ${prefix.join()}`);
  const edited = edit(entry.value);
  if (edited === undefined) await deleteEntry(db, entry.key);
  else await setEntry(db, entry.key, edited);
}

export async function versionstampsOf({ db }: TestStore, kind: Kind): Promise<string[]> {
  const entries = db.reader.list({ prefix: prefixes.all(kind) });
  return await Array.fromAsync(entries, ({ versionstamp }) => versionstamp);
}

/** Sets an entry, past all rules of the store. */
export async function setEntry(db: Database, key: Deno.KvKey, value: unknown): Promise<void> {
  await commitEntry(db, key, new Operation().set(key, value));
}

/** Deletes an entry, past all rules of the store. */
export async function deleteEntry(db: Database, key: Deno.KvKey): Promise<void> {
  await commitEntry(db, key, new Operation().delete(key));
}

async function commitEntry(db: Database, key: Deno.KvKey, operation: Operation): Promise<void> {
  await (isOfBytes(key) ? db.commitBytes(operation) : db.commit(operation));
}

function isOfBytes([kind]: Deno.KvKey): boolean {
  return isByteKind(kind);
}

/** Returns what reads the entries of a key's kind. */
export function readerOf(db: Database, key: Deno.KvKey): KvReader {
  return isOfBytes(key) ? db.bytes.reader : db.reader;
}

/** Yields all entries of a store: its records, then its chunks and checksums. */
export async function* allEntries(db: Database): AsyncGenerator<Deno.KvEntry<unknown>> {
  yield* db.reader.list({ prefix: [] });
  if (db.bytes.isSeparate) yield* db.bytes.reader.list({ prefix: [] });
}

/** Returns the same bytes with one bit changed. */
export function flipBit(value: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return value.with(0, (value[0] ?? 0) ^ 1);
}

export const ALL_EVENTS = { limit: 1000, last: "" };

/** Returns the events of the project, the oldest first, as `name target`. */
export async function eventsOf({ store }: TestStore, project = "p"): Promise<string[]> {
  const { events } = await store.events.list(project, ALL_EVENTS);
  return events.map(({ event, target }) => target === undefined ? event : `${event} ${target}`)
    .reverse();
}

/** The same of the server, as `name project target`. */
export async function serverEventsOf({ store }: TestStore): Promise<string[]> {
  const { events } = await store.events.listServer(ALL_EVENTS);
  return events.map(({ event, project = "", target = "" }) => `${event} ${project} ${target}`)
    .reverse();
}

/** Returns the number of entries below a prefix. */
export async function countEntries(
  { db }: Pick<TestStore, "db">,
  prefix: Deno.KvKey,
): Promise<number> {
  return (await Array.fromAsync(readerOf(db, prefix).list({ prefix }))).length;
}
