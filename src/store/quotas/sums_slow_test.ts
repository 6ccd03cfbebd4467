import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import { BeingDeleted, QuotaExceeded, UploadRefused } from "../engine/errors.ts";
import { Operation } from "../engine/operation.ts";
import type { Place } from "../engine/records.ts";
import { Store } from "../store.ts";
import { ANYWAY, bytes, inPieces } from "../testing/bodies.ts";
import { assertSums, countReads } from "../testing/entries.ts";
import { putAt, upload } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore, withFolder } from "../testing/stores.ts";
import { verifyStore } from "../verify/verify.ts";
import { Quotas } from "./quotas.ts";
import { addUsage } from "./usage.ts";

const PROJECT = "p";
const DRIVES = ["a", "b", "c"];
const ROUNDS = 9;
const STEPS = 60;

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}

function anyPlace(): Place {
  return { project: PROJECT, drive: pick(DRIVES), name: `${Math.floor(Math.random() * 9)}` };
}

/** Everything that changes a counter. */
const STEPS_OF: readonly ((store: Store) => Promise<unknown>)[] = [
  async ({ files }) => {
    const object = pick([undefined, { user: { colour: "red".repeat(Math.random() * 9) } }]);
    const lifetime = pick([undefined, undefined, 1]);
    const body = inPieces(bytes(Math.random() * 70_000));
    await files.put(anyPlace(), body, { ...ANYWAY, object, lifetime });
  },
  ({ files }) => files.delete(anyPlace()),
  ({ files }) => {
    const request = { from: anyPlace(), to: anyPlace(), condition: () => true };
    return files.copies.run(pick(["copy", "move"]), { ...request, overwrite: true });
  },
  async (store) => {
    const place = anyPlace();
    const id = await upload({ store } as TestStore, place, [100, 70_000]);
    if (Math.random() < 0.3) return;
    if (Math.random() < 0.3) await store.uploads.abort(place, id);
    else await store.uploads.complete(place, id, () => true);
  },
  async ({ trash }) => {
    const { drive } = anyPlace();
    const at = { project: PROJECT, drive };
    const { items } = await trash.list(at, { limit: 9, last: "", prefix: "" });
    if (items.length === 0) return;
    if (Math.random() < 0.3) await trash.delete(at, pick(items).id);
    else await trash.restore(at, pick(items).id, { overwrite: true });
  },
  async (store) => {
    const replace = { type: "a/b", object: { user: { size: "x".repeat(Math.random() * 50) } } };
    await store.changeFile(anyPlace(), { replace }, () => true);
  },
  ({ projects }) =>
    Math.random() < 0.1 ? projects.deleteDrive(PROJECT, pick(DRIVES)) : Promise.resolve(),
  ({ projects }) => {
    const trashDays = pick([0, 1, 2, 3, 4]);
    return projects.update(PROJECT, { trashDays, maxBytes: 3_000_000, maxFiles: 60 });
  },
  ({ sweeper }) => sweeper.sweep(),
];

function isExpected(error: unknown): boolean {
  return error instanceof BeingDeleted || error instanceof QuotaExceeded ||
    error instanceof UploadRefused || error instanceof RangeError;
}

Deno.test("No sum drifts beside two processes that do everything at once", async () => {
  await withFolder(async (folder) => {
    const benches: TestStore[] = [];
    const onError = (error: unknown): never => {
      throw error;
    };
    for (let i = 0; i < 2; i++) {
      const db = await openDatabase(folder);
      benches.push({ db, store: new Store(db, { onError }) });
    }
    try {
      const [first] = benches;
      assert(first !== undefined);
      await first.store.projects.create(PROJECT, undefined);
      for (let round = 0; round < ROUNDS; round++) {
        await first.store.projects.update(PROJECT, { trashDays: 2 });
        const steps = Array.from({ length: STEPS }, () => pick(STEPS_OF)(pick(benches).store));
        for (const outcome of await Promise.allSettled(steps)) {
          if (outcome.status === "rejected" && !isExpected(outcome.reason)) throw outcome.reason;
        }
        await assertSums(first);
        const { problems } = await verifyStore(databasePath(folder));
        assertEquals(problems.map(({ message }) => message), []);
      }
      await sweepLater(first);
      for (const drive of DRIVES) await first.store.projects.deleteDrive(PROJECT, drive);
      await sweepLater(first);
      const { files, bytes, trashFiles, openUploads } = await first.store.usageOf(PROJECT);
      assertEquals({ files, bytes, trashFiles, openUploads }, {
        ...{ files: 0, bytes: 0, trashFiles: 0, openUploads: 0 },
      });
    } finally {
      for (const { store } of benches) await store.close();
    }
  });
});

testOnAll("Writes, usage and quotas read no drives, however many there are", async (bench) => {
  const { store, db } = bench;
  await store.projects.update(PROJECT, { maxBytes: 1_000_000, maxFiles: 100_000 });
  const work = async () => {
    // Three, so that the count is the same on the store that loses every third answer.
    for (let i = 0; i < 3; i++) {
      await putAt(bench, { project: PROJECT, drive: "d", name: "a" }, bytes(9));
      await store.files.delete({ project: PROJECT, drive: "d", name: "a" });
    }
    await store.usage();
    await store.usageOf(PROJECT);
  };
  await work();
  const before = await countEntries(bench, work);
  for (let i = 0; i < 20_000;) {
    const operation = new Operation();
    for (let j = 0; j < 200; j++, i++) {
      addUsage(operation, { project: PROJECT, drive: `${i}` }, "files", 1);
    }
    await db.commitBulk(operation);
  }
  // The project's settings may have left the cache meanwhile.
  await work();
  assertEquals(await countEntries(bench, work), before);
  assertEquals((await store.usageOf(PROJECT)).files, 20_000);
  const owner = { maxFiles: 20_000 };
  const quotas = new Quotas(db);
  await store.projects.update(PROJECT, { maxFiles: 20_000 });
  const place = { project: PROJECT, drive: "d", name: "b" };
  assert(await isRefused(quotas.reserve(owner, place, ["file", PROJECT, "d", "b"], 1)));
});

async function isRefused(work: Promise<unknown>): Promise<boolean> {
  return await work.then(() => false, (error) => error instanceof QuotaExceeded);
}

/** Returns the number of reads of some work, and of the entries that its lists return. */
async function countEntries(bench: TestStore, work: () => Promise<unknown>): Promise<number[]> {
  const { reader } = bench.db;
  const { list } = reader;
  let entries = 0;
  reader.list = async function* (...args: Parameters<typeof list>) {
    for await (const entry of list.apply(reader, args)) {
      entries++;
      yield entry;
    }
  } as typeof list;
  try {
    return [await countReads(bench, work), entries];
  } finally {
    reader.list = list;
  }
}
