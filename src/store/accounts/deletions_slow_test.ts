import { assert, assertEquals, assertRejects } from "@std/assert";
import { MIN_PART } from "../../rules/payloads.ts";
import { hashSecret } from "../../rules/secrets.ts";
import { DAY } from "../../rules/units.ts";
import { Database } from "../engine/database.ts";
import { prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes } from "../testing/bodies.ts";
import { countEntries, dataWith, drivesOf, readersOf } from "../testing/entries.ts";
import { assertCompleted, putAt, upload } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { DELETION_BATCH } from "./deletions.ts";

const GONE = "project-to-go";
const KEPT = "project-to-stay";
const KEPT_DRIVE = { project: "p", drive: "kept" };

const PART = Math.ceil(MIN_PART / CHUNK_SIZE) * CHUNK_SIZE;

/** Fills a drive with every kind of entry. */
async function fillDrive(bench: TestStore, project: string, drive: string): Promise<void> {
  const at = (name: string) => ({ project, drive, name });
  const small = Array.from({ length: DELETION_BATCH + 20 }, (_, i) => at(`small ${i}`));
  await Promise.all(small.map((place) => putAt(bench, place, bytes(10))));
  await putAt(bench, at("replaced"), bytes(3 * CHUNK_SIZE));
  await putAt(bench, at("replaced"), bytes(2 * CHUNK_SIZE));
  const complete = await upload(bench, at("of parts"), [PART, 10]);
  assertCompleted(await bench.store.uploads.complete(at("of parts"), complete, () => true));
  await upload(bench, at("open"), [2 * CHUNK_SIZE, 10]);
  await upload(bench, at("open and empty"), []);
  await bench.store.folders.create(at("folder/"));
}

/** Creates a project with drives, keys, applications and sessions. */
async function fillProject(bench: TestStore, project: string): Promise<void> {
  const { store } = bench;
  const { key } = await store.projects.create(project, `The ${project}`);
  await store.keys.create(project, { name: "second" });
  await store.s3Keys.create(project);
  const s3 = await store.s3Keys.create(project, { limits: { expires: Date.now() + DAY } });
  await store.s3Keys.find(s3?.accessKeyId ?? "");
  for (const app of ["web", "bare"]) {
    const host = app === "web" ? `${project}.example.com` : undefined;
    await store.apps.create(project, app, { host });
    await store.apps.update(project, app, { access: true });
    for (let i = 0; i < 3; i++) await store.appKeys.create(project, app, { name: `key ${i}` });
    await store.sessions.start(project, app, hashSecret(key.text));
    const owner = { hash: hashSecret(key.text), project };
    await store.signIns.start({ owner }, { address: "", browser: "" });
    await store.signIns.createCode(owner);
    await store.tickets.create({ owner, project, drive: "one", names: ["a"], prefixes: [] });
  }
  await fillDrive(bench, project, "one");
  await putAt(bench, { project, drive: "two", name: "a" }, bytes(100));
}

/** A database that accepts a number of commits and then fails, as if the process were killed. */
class ShortLived extends Database {
  constructor({ reader, commits }: Database, private left: number) {
    super(reader, commits);
  }

  override commit(operation: Operation): ReturnType<Database["commit"]> {
    return this.left-- > 0 ? super.commit(operation) : Promise.reject(new Error("Killed"));
  }

  override commitBulk(operation: Operation): ReturnType<Database["commit"]> {
    return this.left-- > 0 ? super.commitBulk(operation) : Promise.reject(new Error("Killed"));
  }
}

/** Sweeps until it is interrupted after a number of commits. Returns whether it was interrupted. */
async function sweepInterrupted({ db }: TestStore, commits: number): Promise<boolean> {
  const store = new Store(new ShortLived(db, commits), { onError: () => {} });
  try {
    await store.sweeper.sweep();
    return false;
  } catch (error) {
    assert(error instanceof Error && error.message === "Killed", String(error));
    return true;
  }
}

/** Returns how many deletions are not finished. */
async function countDeletions({ db }: TestStore): Promise<number> {
  return (await Array.fromAsync(db.reader.list({ prefix: prefixes.all("removal") }))).length;
}

testOnAll(
  "Deleting a project leaves nothing of it and does not touch another one",
  async (bench) => {
    for (const project of [GONE, KEPT]) await fillProject(bench, project);
    await sweepLater(bench);
    const before = await dataWith(bench, KEPT);
    assert((await dataWith(bench, GONE)).length > 100);
    await bench.store.projects.delete(GONE);
    await sweepLater(bench);
    assertEquals(await dataWith(bench, GONE), []);
    assertEquals(await dataWith(bench, KEPT), before);
  },
);

testOnAll(
  "A deletion continues after an interruption at any of its commits",
  async (bench) => {
    await fillProject(bench, GONE);
    await fillProject(bench, KEPT);
    const kept = await dataWith(bench, KEPT);
    await bench.store.projects.delete(GONE);
    let interruptions = 0;
    for (; await countDeletions(bench) > 0; interruptions++) {
      // Every sweep makes one commit of progress.
      await sweepInterrupted(bench, 1);
      assertEquals(await bench.store.projects.get(GONE), undefined);
      assert(interruptions < 100, "It makes no progress");
    }
    assert(interruptions > 3, String(interruptions));
    assertEquals(await dataWith(bench, KEPT), kept);
    await sweepLater(bench);
    assertEquals(await dataWith(bench, GONE), []);
  },
);

testOnAll("A deletion that was interrupted is finished by the next sweep", async (bench) => {
  await fillProject(bench, KEPT);
  const files = (await dataWith(bench, KEPT)).filter((entry) => entry.includes('"file"'));
  for (let commits = 0; commits < 12; commits += 2) {
    await fillDrive(bench, "p", "d");
    await bench.store.projects.deleteDrive("p", "d");
    await sweepInterrupted(bench, commits);
    await sweepLater(otherProcess(bench));
    assertEquals(await dataWith(bench, '"d"'), []);
    assertEquals(await drivesOf(bench.store, "p"), []);
  }
  const after = (await dataWith(bench, KEPT)).filter((entry) => entry.includes('"file"'));
  assertEquals(after, files);
});

testOnAll("Concurrent sweeps of several processes delete each entry once", async (bench) => {
  const other = otherProcess(bench);
  await fillProject(bench, GONE);
  await fillDrive(bench, "p", "d");
  await bench.store.projects.delete(GONE);
  await other.store.projects.deleteDrive("p", "d");
  await Promise.all([bench, other, bench, other].map(sweepLater));
  await sweepLater(bench);
  assertEquals(await dataWith(bench, GONE), []);
  assertEquals(await dataWith(bench, '"d"'), []);
  assertEquals(await bench.store.projects.deleteDrive("p", "d"), false);
});

/** Makes the first bulk commits wait for each other, so that all of them were decided on the same entries. */
function alignBulkCommits(db: Database, count: number): void {
  const commitBulk = db.commitBulk.bind(db);
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  db.commitBulk = async (...args) => {
    if (++waiting === count) all.resolve();
    if (waiting <= count) await all.promise;
    return await commitBulk(...args);
  };
}

testOnAll("A batch that two processes commit releases shared bytes once", async (bench) => {
  const { store, db } = bench;
  await store.projects.update("p", { trashDays: 1 });
  const data = bytes(2 * CHUNK_SIZE);
  const originals = ["small", "large", "in the trash"].map((name) => ({ ...KEPT_DRIVE, name }));
  for (const from of originals) {
    await putAt(bench, from, from.name === "small" ? bytes(10) : data);
    const request = { from, to: { ...from, drive: "d" }, overwrite: false, condition: () => true };
    await store.files.copies.run("copy", request);
  }
  await store.files.delete({ ...KEPT_DRIVE, drive: "d", name: "in the trash" });
  await store.projects.deleteDrive("p", "d");
  alignBulkCommits(db, 2);
  await Promise.all([bench, otherProcess(bench)].map(sweepLater));
  await sweepLater(bench);
  for (const place of originals) {
    const file = await store.files.reader.open(place);
    assert(file !== undefined, place.name);
    const pieces = await Array.fromAsync(await file.read({ start: 0, end: file.record.size }));
    const received = new Uint8Array(await new Blob(pieces).arrayBuffer());
    assertEquals(received, place.name === "small" ? bytes(10) : data);
    file.close();
  }
});

testOnAll("A large deletion does not delay a small one", async (bench) => {
  const { projects } = bench.store;
  const fill = async (drive: string, files: number) => {
    const places = Array.from({ length: files }, (_, i) => ({ project: "p", drive, name: `${i}` }));
    // At most as many at once as the memory budget allows.
    for (let i = 0; i < files; i += 32) {
      await Promise.all(places.slice(i, i + 32).map((place) => putAt(bench, place, bytes(1))));
    }
  };
  await fill("a large one", 14 * DELETION_BATCH);
  for (const drive of ["small", "as small"]) await fill(drive, 10);
  for (const drive of ["a large one", "small"]) await projects.deleteDrive("p", drive);
  // One batch of the large deletion, then all of the small one and its marker.
  await sweepInterrupted(bench, 3);
  assertEquals(await drivesOf(bench.store, "p").then(namesOf), ["as small"]);
  assertEquals(await countDeletions(bench), 1);
  // A deletion that begins during the sweep gets its turn as well.
  const store = new Store(new ShortLived(bench.db, 11), { onError: () => {} });
  const sweep = assertRejects(() => store.sweeper.sweep(), Error, "Killed");
  await store.projects.deleteDrive("p", "as small");
  await sweep;
  assertEquals(await dataWith(bench, '"as small"'), []);
  assertEquals(await countDeletions(bench), 1);
});

function namesOf(drives: readonly { name: string }[]): string[] {
  return drives.map(({ name }) => name);
}

testOnAll(
  "A download that has started is completed after its project was deleted",
  async (bench) => {
    const place = { project: "p", drive: "d", name: "a" };
    const data = bytes(40 * CHUNK_SIZE);
    await putAt(bench, place, data);
    const file = await bench.store.files.reader.open(place);
    assert(file !== undefined);
    const pieces = await file.read({ start: 0, end: data.byteLength });
    const first = await pieces[Symbol.asyncIterator]().next();
    await bench.store.projects.delete("p");
    await sweepLater(bench);
    const rest = await Array.fromAsync(pieces);
    const received = await new Blob([first.value, ...rest]).arrayBuffer();
    assertEquals(new Uint8Array(received), data);
    file.close();
    await sweepLater(bench);
    assertEquals(await dataWith(bench, '"d"'), []);
  },
);

testOnAll(
  "The bytes of a deleted drive stay for a while for readers in other processes",
  async (bench) => {
    const place = { project: "p", drive: "d", name: "a" };
    await putAt(bench, place, bytes(3 * CHUNK_SIZE));
    await bench.store.projects.deleteDrive("p", "d");
    await bench.store.sweeper.sweep();
    assertEquals((await dataWith(bench, '"d"')).length, 1);
    for (const [kind, count] of [["garbage", 1], ["checksums", 1], ["chunk", 3]] as const) {
      assertEquals(await countEntries(bench, [kind]), count, kind);
    }
  },
);

testOnAll("Deleting a project reads no chunk", async (bench) => {
  const place = { project: "p", drive: "d", name: "a" };
  await putAt(bench, place, bytes(150 * CHUNK_SIZE));
  await bench.store.projects.delete("p");
  const prefixesRead = new Set<unknown>();
  for (const reader of readersOf(bench.db)) {
    const { list } = reader;
    reader.list = (selector, ...rest) => {
      if ("prefix" in selector) prefixesRead.add(selector.prefix[0]);
      return list.call(reader, selector, ...rest) as never;
    };
  }
  await sweepLater(bench);
  for (const kind of ["chunk", "content"]) assertEquals(prefixesRead.has(kind), false);
  assertEquals(prefixesRead.has("file"), true);
  assertEquals(await dataWith(bench, '"d"'), []);
});

testOnAll("A deletion is finished in the background without delay", async (bench) => {
  await putAt(bench, { project: "p", drive: "d", name: "a" }, bytes(10));
  const { projects, sweeper } = bench.store;
  sweeper.start();
  await projects.deleteDrive("p", "d");
  const deadline = Date.now() + 20_000;
  while (await countDeletions(bench) > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertEquals(await countDeletions(bench), 0);
  await sweeper.stop();
});
