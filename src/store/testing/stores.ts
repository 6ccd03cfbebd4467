import { givenS3SecretKey } from "../accounts/s3_secrets.ts";
import { Database, type DatabaseParts } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { MAX_LIST_BATCH } from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";

import { GARBAGE_GRACE } from "../bytes/garbage.ts";
import { OpenVersions } from "../bytes/open_versions.ts";
import { LATE_WRITE_TIME, WRITE_LEASE_TIME } from "../bytes/write_lease.ts";
import type { EndUpload } from "../uploads/session.ts";
import type { Enders } from "../maintenance/garbage_collector.ts";
import { DamagedFiles } from "../maintenance/damaged_files.ts";
import { Scrub } from "../maintenance/scrub.ts";
import { Reachability } from "../remote/reachability.ts";
import { remoteCommits } from "../remote/remote_commits.ts";
import { openRemoteDatabase } from "../remote/remote_database.ts";
import { Store } from "../store.ts";
import { DRIVE } from "./bodies.ts";

export interface TestStore {
  store: Store;
  db: Database;
}

/** A way to open an empty store. */
export interface Backend {
  name: string;
  use(work: (bench: TestStore) => Promise<void>): Promise<void>;
}

/** What encrypts the secrets of S3 keys in tests. */
export const S3_SECRET_KEY = givenS3SecretKey(new Uint8Array(32).fill(7));

/** Creates the project of `DRIVE`. */
export async function addProject(db: Database, project = DRIVE.project): Promise<void> {
  await db.commit(new Operation().set(keys.project(project), { created: Date.now() }));
}

function fail(error: unknown): never {
  throw error;
}

async function useDatabase(db: Database, work: (bench: TestStore) => Promise<void>): Promise<void> {
  const store = new Store(db, { s3SecretKey: S3_SECRET_KEY, onError: fail });
  try {
    await addProject(db);
    await work({ store, db });
  } finally {
    await store.close();
  }
}

/** Opens a Deno KV store in memory whose handle returns records and not the bytes that it has of them. */
export async function openRecords(): Promise<Deno.Kv> {
  const kv = await Deno.openKv(":memory:");
  const [get, getMany, list] = [kv.get.bind(kv), kv.getMany.bind(kv), kv.list.bind(kv)];
  return Object.assign(kv, recordReader({ get, getMany, list }, new UnreadableEntries()));
}

/** Opens a store in memory as if behind a network that loses the answer to every third commit. */
async function openForgetfulDatabase(): Promise<Database> {
  const kv = await openRecords();
  let commits = 0;
  loseAnswers(kv, () => ++commits % 3 === 0);
  const reachability = new Reachability(() => kv.get([""]));
  return new Database(kv, remoteCommits(() => kv, reachability), { resources: kv });
}

/**
 * Makes a handle behave like a remote one that loses answers: the client sends the operation again and returns the
 * second outcome.
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

/** URL of a store over KV Connect; one test uses it at a time. */
const SHARED = Deno.env.get("KVDRIVE_TEST_KV");

/** Deletes what the previous test has left, except the number of the format, which an opened store has. */
async function empty(db: Database): Promise<void> {
  let operation = new Operation();
  for await (const { key } of db.reader.list({ prefix: [] }, { batchSize: MAX_LIST_BATCH })) {
    if (key[0] === keys.format()[0]) continue;
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

const file: Backend = {
  name: "file",
  use: async (work) =>
    await withFolder(async (folder) =>
      await useDatabase(await openDatabase(folder, "mapped"), work)
    ),
};

const lostAnswers: Backend = {
  name: "lost answers",
  use: async (work) => await useDatabase(await openForgetfulDatabase(), work),
};

/** The quick tests use a store in a file only; `deno task test:slow` runs them with lost answers. */
const IS_QUICK = Deno.env.get("KVDRIVE_TEST_QUICK") === "1";

/** Every kind of store that kvdrive runs on. All pass the same tests. */
export const BACKENDS: readonly Backend[] = [
  file,
  ...(IS_QUICK ? [] : [lostAnswers]),
  ...(SHARED === undefined ? [] : [remote]),
];

/** What a collector asks of others, for tests without a trash. By default every upload ends. */
export function enders(endUpload: EndUpload = () => Promise.resolve(true)): Enders {
  const trash = { remove: () => Promise.resolve(false), removeBefore: () => Promise.resolve(0) };
  return { endUpload, trash };
}

/** Sweeps as if all present deadlines had passed. */
export async function sweepLater({ store }: TestStore): Promise<void> {
  await store.sweeper.sweep(Date.now() + WRITE_LEASE_TIME + GARBAGE_GRACE);
}

/** The journal entries that are left of a dead writer until `sweepLateWrites`. */
export function lateGarbage({ db }: TestStore): Record<string, number> {
  return db.bytes.isSeparate ? { garbage: 1 } : {};
}

/** Sweeps as if it were time to delete the bytes of dead writers again. */
export async function sweepLateWrites({ store }: TestStore): Promise<void> {
  await store.sweeper.sweep(Date.now() + LATE_WRITE_TIME + GARBAGE_GRACE);
}

/** Returns another process on the same store: the two share only the database. */
export function otherProcess(
  { db }: TestStore,
  onError: (error: unknown) => void = fail,
): TestStore {
  return { db, store: new Store(db, { s3SecretKey: S3_SECRET_KEY, onError }) };
}

/** Returns what the database of another process on the same store needs beside reader and commits. */
export function sharedParts({ bytes }: Database): DatabaseParts {
  return { bytes: bytes.isSeparate ? bytes : undefined };
}

/** Sweeps as `sweepLater` does, in another process, which does not know what this one is writing. */
export async function sweepElsewhere(bench: TestStore): Promise<void> {
  const db = new Database(bench.db.reader, bench.db.commits, sharedParts(bench.db));
  await sweepLater({ db, store: new Store(db, { onError: fail }) });
}

/** Registers a test for every backend, with a store of its own. */
export function testOnAll(name: string, work: (bench: TestStore) => Promise<void>): void {
  for (const backend of BACKENDS) {
    Deno.test(`${name} (${backend.name})`, async () => await backend.use(work));
  }
}

/** Runs a test with an empty folder and removes the folder. */
export async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-store-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a test with an empty Deno KV store. */
export async function withKv(test: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await openRecords();
  try {
    await test(kv);
  } finally {
    kv.close();
  }
}

/** Returns a scrub and the messages that it sends to the operator. */
export function scrubOf(
  { db }: TestStore,
): { scrub: Scrub; messages: string[]; damaged: DamagedFiles } {
  const messages: string[] = [];
  const damaged = new DamagedFiles(db);
  const scrub = new Scrub(db, new OpenVersions(db), damaged, {
    every: undefined,
    onError: (error) => messages.push(error instanceof Error ? error.message : String(error)),
    onNotice: (text) => messages.push(text),
  });
  return { scrub, messages, damaged };
}
