import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import { StoreDamaged } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { encodeKey } from "../reads/kv_encoding.ts";
import type { ReadMode } from "../reads/read_mode.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { drivesOf } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { addProject, sweepLater, type TestStore, withFolder } from "../testing/stores.ts";
import { verifyStore } from "../verify/verify.ts";

const LIST = { ...DRIVE, limit: 1000, prefix: "", last: "" };

interface Bench extends TestStore {
  path: string;
  /** What the log says. */
  messages: string[];
}

/** Changes one bit of a record in the middle of its text, where it still is JSON. */
function flipBit(path: string, key: Deno.KvKey): void {
  withSqlite(path, (sqlite) => {
    const value = sqlite.prepare("SELECT v FROM kv WHERE k = ?").get(encodeKey(key))?.["v"];
    assert(value instanceof Uint8Array);
    const digit = value.findLastIndex((byte) => byte >= 0x30 && byte <= 0x38);
    const flipped = value.with(digit, (value[digit] ?? 0) ^ 1);
    sqlite.prepare("UPDATE kv SET v = ? WHERE k = ?").run(flipped, encodeKey(key));
  });
}

/** Registers a test for each way to read a store. It has the files `a`, `damaged` and `z`, and a trash. */
function testDamaged(name: string, test: (bench: Bench) => Promise<void>): void {
  for (const reads of ["direct", "kv"] satisfies ReadMode[]) {
    Deno.test(`${name} (${reads})`, async () => {
      await withFolder(async (folder) => {
        const db = await openDatabase(folder, reads);
        const messages: string[] = [];
        const onError = (error: unknown) => void messages.push(String(error));
        const store = new Store(db, { onError });
        const path = databasePath(folder);
        try {
          await addProject(db);
          for (const name of ["a", "damaged", "z"]) await put({ db, store }, name, bytes(10));
          flipBit(path, keys.file(place("damaged")));
          await test({ db, store, path, messages });
        } finally {
          await store.close();
        }
      });
    });
  }
}

async function namesOf({ store }: TestStore): Promise<string[]> {
  const { entries } = await store.list(LIST, { recursive: true });
  return entries.map(({ name }) => name);
}

async function filesOf({ store }: TestStore): Promise<number | undefined> {
  return (await drivesOf(store, DRIVE.project))[0]?.files;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500 && !await condition(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

testDamaged("Lists leave out a file whose record is damaged, and report it once", async (bench) => {
  const { store, messages } = bench;
  for (let time = 0; time < 2; time++) {
    assertEquals(await namesOf(bench), ["a", "z"]);
    const page = await store.list({ ...LIST, limit: 1 }, { recursive: false });
    assertEquals([page.entries.map(({ name }) => name), page.more], [["a"], true]);
    const objects = await store.listObjects({ ...DRIVE, prefix: "", after: "", limit: 2 });
    assertEquals([objects.entries.map(({ name }) => name), objects.more], [["a", "z"], false]);
  }
  assertEquals(messages.length, 1);
  assertMatch(messages[0] ?? "", /"damaged"\] cannot be read .* its checksum does not match/);
  await until(async () => (await store.integrity()).damages.length > 0);
  const { damages } = await store.integrity();
  assertEquals(damages.map(({ place, problem }) => [place.name, problem]), [
    ["damaged", "its record cannot be read"],
  ]);
  // The scrub finds it, too.
  await store.scrub.checkUrgent();
  assertEquals((await store.integrity()).damages.length, 1);
});

testDamaged("Reading or copying a file whose record is damaged says so", async ({ store }) => {
  const damaged = place("damaged");
  const read = () => store.files.reader.open(damaged);
  const request = { from: damaged, to: place("copy"), overwrite: true, condition: () => true };
  const copy = () => store.files.copies.run("copy", request);
  const change = () => store.changeFile(damaged, { type: "text/plain" }, () => true);
  for (const work of [read, copy, change]) {
    await assertRejects(work, StoreDamaged, "its record cannot be read");
  }
});

testDamaged(
  "A file whose record is damaged can be replaced, and nothing is damaged then",
  async (bench) => {
    const { store, path } = bench;
    assertEquals(await namesOf(bench), ["a", "z"]);
    await put(bench, "damaged", bytes(20));
    assertEquals(await namesOf(bench), ["a", "damaged", "z"]);
    assertEquals((await store.files.reader.open(place("damaged")))?.record.size, 20);
    assertEquals([await filesOf(bench), (await store.integrity()).damages], [3, []]);
    await sweepLater(bench);
    const { problems } = await verifyStore(path);
    // The former bytes, and their count, have no owner.
    assertEquals(new Set(problems.map(({ kind }) => kind)), new Set(["usage", "orphan"]));
    assert(problems.every(({ repair }) => repair !== undefined));
  },
);

testDamaged("A copy and a move replace a file whose record is damaged", async (bench) => {
  const request = { from: place("a"), to: place("damaged"), overwrite: false };
  for (const kind of ["copy", "move"] as const) {
    const options = { ...request, condition: () => true };
    assert(typeof await bench.store.files.copies.run(kind, options) === "object");
    assertEquals((await bench.store.files.reader.open(place("damaged")))?.record.size, 10);
    if (kind === "copy") flipBit(bench.path, keys.file(place("damaged")));
  }
  assertEquals([await namesOf(bench), await filesOf(bench)], [["damaged", "z"], 2]);
});

testDamaged("A file whose record is damaged can be deleted", async (bench) => {
  const { store } = bench;
  assertEquals(
    await store.files.delete(place("damaged"), (current) => current !== undefined),
    "refused",
  );
  assertEquals(await store.files.delete(place("damaged")), true);
  assertEquals(await store.files.delete(place("damaged")), false);
  assertEquals([await namesOf(bench), await filesOf(bench)], [["a", "z"], 2]);
});

testDamaged("An item of the trash whose record is damaged can be deleted", async (bench) => {
  const { db, store, path } = bench;
  await store.projects.update("p", { trashDays: 1 });
  for (const name of ["a", "z"]) await store.files.delete(place(name));
  const items = await Array.fromAsync(db.reader.list({ prefix: ["trash"] }));
  for (const { key } of items) flipBit(path, key);
  const page = { limit: 10, last: "", prefix: "" };
  assertEquals((await store.trash.list(DRIVE, page)).items, []);
  const id = String(items[0]?.key.at(-1));
  assertEquals(await store.trash.restore(DRIVE, id, { overwrite: true }), "absent");
  assertEquals(await store.trash.delete(DRIVE, id), true);
  assertEquals(await store.trash.empty(DRIVE), 1);
  assertEquals((await drivesOf(store, DRIVE.project))[0]?.trashFiles, 0);
});

testDamaged("A drive is deleted with what cannot be read in it", async (bench) => {
  const { db, store } = bench;
  await store.projects.deleteDrive(DRIVE.project, DRIVE.drive);
  const left = async () => {
    const files = db.reader.list({ prefix: ["file"] }, { unreadable: true });
    return (await Array.fromAsync(files)).length;
  };
  await until(async () => {
    await store.sweeper.sweep();
    return await left() === 0;
  });
  assertEquals(await left(), 0);
});
