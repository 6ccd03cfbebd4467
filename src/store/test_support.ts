import { assert, assertEquals } from "@std/assert";
import { GARBAGE_GRACE, MAX_LIST_BATCH, WRITE_LEASE } from "../drive/limits.ts";
import { Damages } from "./damages.ts";
import { Database, openDatabase, openMemoryDatabase } from "./database.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { FileRecord, Garbage, Place } from "./records.ts";
import { Readers } from "./readers.ts";
import { Reachability } from "./reachability.ts";
import { remoteCommits } from "./remote_commits.ts";
import { openRemoteDatabase } from "./remote_database.ts";
import { Scrub } from "./scrub.ts";
import { Store } from "./store.ts";

/** A store to test, with a look inside. */
export interface Bench {
  store: Store;
  db: Database;
}

/** A way to open an empty store. */
export interface Backend {
  name: string;
  use(work: (bench: Bench) => Promise<void>): Promise<void>;
}

/** Makes the project that the cases write to. */
export async function addProject(db: Database, project = DRIVE.project): Promise<void> {
  await db.commit(new Operation().set(keys.project(project), { created: Date.now() }));
}

function fail(error: unknown): never {
  throw error;
}

async function useDatabase(db: Database, work: (bench: Bench) => Promise<void>): Promise<void> {
  const store = new Store(db, { onError: fail });
  try {
    await addProject(db);
    await work({ store, db });
  } finally {
    await store.close();
  }
}

/** A store in memory behind a network that loses the answer to every third commit. */
async function openForgetfulDatabase(): Promise<Database> {
  const kv = await Deno.openKv(":memory:");
  let commits = 0;
  loseAnswers(kv, () => ++commits % 3 === 0);
  const reachability = new Reachability(() => kv.get([""]));
  return new Database(kv, kv, { commits: remoteCommits(() => kv, reachability) });
}

/**
 * Makes a handle behave as one of a store behind a network whose answers are lost now and then: the client sends the
 * operation again, and gives what comes of that.
 */
export function loseAnswers(kv: Deno.Kv, isLost: () => boolean): void {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const first = atomic();
    const again = atomic();
    const both =
      <T extends unknown[]>(call: (operation: Deno.AtomicOperation, ...args: T) => void) =>
      (...args: T) => {
        for (const operation of [first, again]) call(operation, ...args);
        return sent;
      };
    const sent = Object.assign(Object.create(Object.getPrototypeOf(first)), {
      check: both((operation, ...args: Parameters<Deno.AtomicOperation["check"]>) =>
        operation.check(...args)
      ),
      set: both((operation, ...args: Parameters<Deno.AtomicOperation["set"]>) =>
        operation.set(...args)
      ),
      delete: both((operation, ...args: Parameters<Deno.AtomicOperation["delete"]>) =>
        operation.delete(...args)
      ),
      sum: both((operation, ...args: Parameters<Deno.AtomicOperation["sum"]>) =>
        operation.sum(...args)
      ),
      commit: async () => {
        const outcome = await first.commit();
        return isLost() ? await again.commit() : outcome;
      },
    }) as Deno.AtomicOperation;
    return sent;
  };
}

/** A store over KV Connect that is there for the tests, one of which uses it at a time. */
const SHARED = Deno.env.get("KVDRIVE_TEST_KV");

/** Takes all that the test before has left. */
async function empty(db: Database): Promise<void> {
  let operation = new Operation();
  for await (const { key } of db.reader.list({ prefix: [] }, { batchSize: MAX_LIST_BATCH })) {
    const step = new Operation().delete(key);
    if (!operation.hasRoomFor(step)) {
      await db.commitBulk(operation);
      operation = new Operation();
    }
    operation.add(step);
  }
  await db.commitBulk(operation);
}

const remote: Backend = {
  name: "remote",
  use: async (work) => {
    const db = await openRemoteDatabase({ url: SHARED });
    await empty(db);
    await useDatabase(db, work);
  },
};

/** Every store that the program can run on: each has to pass the same cases. */
export const BACKENDS: readonly Backend[] = [
  { name: "memory", use: async (work) => await useDatabase(await openMemoryDatabase(), work) },
  {
    name: "file",
    use: async (work) => {
      const folder = await Deno.makeTempDir({ prefix: "kvdrive-store-" });
      try {
        await useDatabase(await openDatabase(folder), work);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  },
  {
    name: "lost answers",
    use: async (work) => await useDatabase(await openForgetfulDatabase(), work),
  },
  ...(SHARED === undefined ? [] : [remote]),
];

export const DRIVE = { project: "p", drive: "d" };

export function place(name: string): Place {
  return { ...DRIVE, name };
}

/** Bytes that differ from those of another seed. */
export function bytes(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8) * 7 + seed * 101) & 0xff);
}

/** A body that comes in pieces of an awkward length. */
export async function* inPieces(data: Uint8Array, length = 50_001): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < data.byteLength; i += length) {
    await Promise.resolve();
    yield data.subarray(i, i + length);
  }
}

/** A body that breaks after some bytes. */
export async function* broken(size: number): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes(size));
  throw new Error("The sender left");
}

export const ANYWAY = { type: "a/b", condition: () => true, accept: () => {} };

export async function put({ store }: Bench, name: string, data: Uint8Array): Promise<FileRecord> {
  const record = await store.files.put(place(name), inPieces(data), ANYWAY);
  if (record === "refused") throw new Error("A write without a condition was refused");
  return record;
}

/** All bytes of a file as a download gives them; `undefined` without one. */
export async function read({ store }: Bench, name: string): Promise<Uint8Array | undefined> {
  const file = await store.files.open(place(name));
  if (file === undefined) return undefined;
  using open = file;
  const pieces = await Array.fromAsync(await open.read({ start: 0, end: open.record.size }));
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Sends a part of an upload. */
export async function putPart(
  { store }: Bench,
  name: string,
  id: string,
  part: number,
  data: Uint8Array,
): Promise<void> {
  const body = inPieces(data);
  await store.uploads.putPart(place(name), { id, part, type: undefined }, body, () => {});
}

/** Stores a file anywhere. */
export async function putAt({ store }: Bench, place: Place, data: Uint8Array): Promise<void> {
  await store.files.put(place, inPieces(data), ANYWAY);
}

/** Starts an upload and sends parts of some sizes; gives its id. */
export async function upload(
  { store }: Bench,
  place: Place,
  parts: readonly number[],
): Promise<string> {
  const id = await store.uploads.start(place, undefined);
  for (const [i, size] of parts.entries()) {
    const named = { id, part: i + 1, type: undefined };
    await store.uploads.putPart(place, named, inPieces(bytes(size)), () => {});
  }
  return id;
}

/** Sweeps as if all deadlines that are set now were over. */
export async function sweepLater({ store }: Bench): Promise<void> {
  await store.sweeper.sweep(Date.now() + WRITE_LEASE + GARBAGE_GRACE);
}

/** How many entries of each kind there are, without the projects, what ends by itself, and counters of open uploads that are 0. Versions and ids differ from run to run, so they are not told. */
export async function keyKinds({ db }: Bench): Promise<Record<string, number>> {
  const kinds: Record<string, number> = {};
  const versions = { chunk: new Set<string>(), checksums: new Set<string>() };
  for await (const { key, value } of db.reader.list({ prefix: [] })) {
    const [kind, , , last] = key;
    if (kind === "project" || kind === "commit") continue;
    // The deadline of an entry that is counted itself.
    if (kind === "garbage" && (value as Garbage).kind === "entry") continue;
    if (last === "open_bytes" && value instanceof Deno.KvU64 && value.value === 0n) continue;
    const version = key.slice(1, 5).join("\0");
    if (kind === "chunk" || kind === "checksums") versions[kind].add(version);
    if (kind === "checksums") continue;
    const shape = kind === "usage" ? `usage ${String(last)}` : String(kind);
    kinds[shape] = (kinds[shape] ?? 0) + 1;
  }
  assert(versions.checksums.isSubsetOf(versions.chunk), "There are checksums without chunks");
  return kinds;
}

/** Runs some work and gives how many reads of the store it took. */
export async function countReads({ db }: Bench, work: () => Promise<unknown>): Promise<number> {
  const { reader } = db;
  const { get, getMany, list } = reader;
  let count = 0;
  reader.get = (...args: Parameters<typeof get>) => (count++, get.apply(reader, args)) as never;
  reader.getMany = (...args: Parameters<typeof getMany>) =>
    (count++, getMany.apply(reader, args)) as never;
  reader.list = (...args: Parameters<typeof list>) => (count++, list.apply(reader, args)) as never;
  try {
    await work();
  } finally {
    Object.assign(reader, { get, getMany, list });
  }
  return count;
}

/** The entries whose key or value has a text in it, as text. */
export async function entriesWith({ db }: Bench, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key, value } of db.reader.list({ prefix: [] })) {
    const shown = Deno.inspect([key, value], { depth: 9, breakLength: Infinity });
    if (shown.includes(text)) found.push(shown);
  }
  return found;
}

/** Another process on the same store: it shares nothing with the first one but the database. */
export function otherProcess({ db }: Bench, onError: (error: unknown) => void = fail): Bench {
  return { db, store: new Store(db, { onError }) };
}

/** Sweeps as `sweepLater` does in another process, which does not know what this one is writing. */
export async function sweepElsewhere({ db: { reader, commits } }: Bench): Promise<void> {
  const db = new Database(reader, reader, { commits });
  await sweepLater({ db, store: new Store(db, { onError: fail }) });
}

/** Demands that the store holds exactly these entries. */
export async function assertKeys(bench: Bench, expected: Record<string, number>): Promise<void> {
  assertEquals(await keyKinds(bench), expected);
}

/** Demands that the counters are what a count of the files gives. */
export async function assertUsage(
  { store }: Bench,
  expected: { files: number; bytes: number },
): Promise<void> {
  const query = { ...DRIVE, limit: 1000, prefix: "", last: "" };
  const { entries } = await store.list(query, { recursive: true });
  const counted = {
    files: entries.length,
    bytes: entries.reduce((sum, { record }) => sum + (record?.size ?? 0), 0),
  };
  assertEquals(counted, expected);
  const [drive] = await store.drives(DRIVE.project);
  assertEquals({ files: drive?.files ?? 0, bytes: drive?.bytes ?? 0 }, expected);
}

/** One test a backend and case; each case has a store of its own. */
export function testOnAll(name: string, work: (bench: Bench) => Promise<void>): void {
  for (const backend of BACKENDS) {
    Deno.test(`${name} (${backend.name})`, async () => await backend.use(work));
  }
}

/** Runs a test with an empty Deno KV store. */
export async function withKv(test: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await test(kv);
  } finally {
    kv.close();
  }
}

/**
 * Runs a test with clocks that stand: gives a way to let time pass, and one to set the system's clock without that.
 */
export async function withClock(
  test: (forward: (ms: number) => void, set: (ms: number) => void) => Promise<void>,
): Promise<void> {
  const [date, monotonic] = [Date.now, performance.now];
  let time = Date.now();
  // Whole milliseconds, so that steps add up exactly.
  let passed = Math.round(performance.now());
  Date.now = () => time;
  performance.now = () => passed;
  const forward = (ms: number): void => {
    time += ms;
    passed += ms;
  };
  try {
    await test(forward, (ms) => void (time += ms));
  } finally {
    Date.now = date;
    performance.now = monotonic;
  }
}

/** Does something at the first call. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await work();
  };
}

/** A scrub of its own, which says what it tells the operator. */
export function scrubOf({ db }: Bench): { scrub: Scrub; told: string[]; damages: Damages } {
  const told: string[] = [];
  const damages = new Damages(db);
  const scrub = new Scrub(db, new Readers(), damages, {
    every: undefined,
    onError: (error) => told.push(error instanceof Error ? error.message : String(error)),
    onNotice: (text) => told.push(text),
  });
  return { scrub, told, damages };
}

/** The record of a file that is there. */
export async function recordOf({ db }: Bench, name: string): Promise<FileRecord> {
  const { value } = await db.reader.get<FileRecord>(keys.file(place(name)));
  assert(value !== null);
  return value;
}

/** Changes the entry of this key or else the last one below it; without a value it is deleted. */
export async function change(
  { db }: Bench,
  prefix: Deno.KvKey,
  edit: (value: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined,
): Promise<void> {
  const exact = await db.reader.get<Uint8Array<ArrayBuffer>>(prefix);
  const below = db.reader.list<Uint8Array<ArrayBuffer>>({ prefix }, { reverse: true, limit: 1 });
  const [entry] = exact.value === null ? await Array.fromAsync(below) : [exact];
  assert(entry !== undefined, `There is nothing to damage: ${prefix.join()}`);
  const edited = edit(entry.value);
  if (edited === undefined) await db.reader.delete(entry.key);
  else await db.reader.set(entry.key, edited);
}

/** Changes one bit. */
export const flip = (value: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  value.with(0, (value[0] ?? 0) ^ 1);
