import { assert, assertEquals, assertRejects } from "@std/assert";
import { withSqlite } from "../disk/sqlite.ts";
import { databasePath } from "../disk/store_files.ts";
import type { Database } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { UnreadableEntry } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { bytesVersion, CHUNK_SIZE } from "../engine/records.ts";
import { COUNTER_KINDS } from "../engine/records/kinds.ts";
import { encodeKey } from "../reads/kv_encoding.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { copy, put, read, recordOf, upload } from "../testing/files.ts";
import { addProject, sweepLater, type TestStore, withFolder } from "../testing/stores.ts";
import { repair } from "./problem.ts";
import { verifyStore } from "./verify.ts";

/** Damages of a counter: a wrong length, at which Deno KV ends the process, and another encoding. */
const DAMAGES = ["v = x'01'", "v_encoding = 3", "v_encoding = 1", "v_encoding = 9"];

const COPIED = bytes(2 * CHUNK_SIZE);

/** Runs a step with a store that was opened for it, as a restarted server does. */
async function withStore<T>(folder: string, step: (bench: TestStore) => Promise<T>): Promise<T> {
  const db = await openDatabase(folder);
  const store = new Store(db, { onError: () => {} });
  try {
    return await step({ db, store });
  } finally {
    await store.close();
  }
}

/** Makes a counter of every kind, and returns their keys. */
async function fill(bench: TestStore): Promise<Deno.KvKey[]> {
  const { db, store } = bench;
  await addProject(db);
  await put(bench, "a", COPIED);
  await copy(bench, "a", "b");
  const id = await upload(bench, place("c"), [CHUNK_SIZE]);
  const target = { name: "a" };
  const link = await store.links.create(DRIVE, { target, download: false, maxDownloads: 5 });
  const all = [
    keys.usage(DRIVE.project, DRIVE.drive, "files"),
    keys.projectUsage(DRIVE.project, "bytes"),
    keys.partsRevision(DRIVE.project, DRIVE.drive, id),
    keys.references(bytesVersion(await recordOf(bench, "a"))),
    keys.webhookDue(DRIVE.project, DRIVE.drive),
    keys.linkDownloads(link.id),
  ];
  const added = new Operation().sum(keys.linkDownloads(link.id), 2);
  await db.commit(added.sum(keys.webhookDue(DRIVE.project, DRIVE.drive), 1));
  return all;
}

function damage(folder: string, counters: readonly Deno.KvKey[], change: string): void {
  withSqlite(databasePath(folder), (sqlite) => {
    const update = sqlite.prepare(`UPDATE kv SET ${change} WHERE k = ?`);
    for (const key of counters) assertEquals(update.run(encodeKey(key)).changes, 1);
  });
}

async function addTo(db: Database, key: Deno.KvKey): Promise<void> {
  assert((await db.commit(new Operation().sum(key, 1).sum(key, -1))).ok);
}

for (const change of DAMAGES) {
  Deno.test(`A server never adds to a damaged counter, and verify corrects it (${change})`, async () => {
    await withFolder(async (folder) => {
      const counters = await withStore(folder, fill);
      assertEquals(counters.map(([kind]) => kind), [...COUNTER_KINDS]);
      damage(folder, counters, change);
      await withStore(folder, async (bench) => {
        const { db } = bench;
        const refusals = counters.map((key) =>
          assertRejects(() => addTo(db, key), UnreadableEntry)
        );
        // In one group with those that are refused.
        const other = db.commit(new Operation().set(keys.recounted("other"), 1));
        assert((await other).ok);
        await Promise.all(refusals);
        assertEquals(await read(bench, "b"), COPIED);
        await db.commit(new Operation().delete(keys.recounted("other")));
      });
      const { problems } = await verifyStore(databasePath(folder));
      assert(problems.every(({ kind }) => kind === "usage" || kind === "references"));
      await withStore(folder, async ({ db }) => {
        assertEquals((await repair(db, problems)).length, problems.length);
      });
      assertEquals((await verifyStore(databasePath(folder))).problems, []);
      await withStore(folder, async ({ db, store }) => {
        for (const key of counters) await addTo(db, key);
        const { project, drive } = DRIVE;
        const page = await store.links.list(project, drive, { limit: 1, last: "" });
        assertEquals(page.links[0]?.downloads, 5);
      });
    });
  });
}

Deno.test("Bytes stay while the count of the files that share them is damaged", async () => {
  await withFolder(async (folder) => {
    const counters = await withStore(folder, fill);
    damage(folder, counters.filter(([kind]) => kind === "references"), "v = x'01'");
    await withStore(folder, async (bench) => {
      await bench.store.files.delete(place("a"));
      for (let pass = 0; pass < 2; pass++) {
        await assertRejects(() => sweepLater(bench), UnreadableEntry);
      }
      assertEquals(await read(bench, "b"), COPIED);
    });
  });
});

Deno.test("The downloads of other links are counted beside a damaged count", async () => {
  await withFolder(async (folder) => {
    const options = { target: { name: "a" }, download: false };
    const tokens = await withStore(folder, async (bench) => {
      await fill(bench);
      const { store: { links }, db } = bench;
      const [one, other] = [await links.create(DRIVE, options), await links.create(DRIVE, options)];
      await db.commit(new Operation().sum(keys.linkDownloads(one.id), 1));
      damage(folder, [keys.linkDownloads(one.id)], "v = x'01'");
      return [one.token, other.token];
    });
    await withStore(folder, async ({ store: { links } }) => {
      for (const token of tokens) {
        const link = await links.find(token);
        assert(link !== undefined && await links.countDownload(link));
      }
      const page = await links.list(DRIVE.project, DRIVE.drive, { limit: 9, last: "" });
      const counts = tokens.map((token) => page.links.find((link) => link.token === token));
      assertEquals(counts.map((link) => link?.downloads), [0, 1]);
    });
  });
});
