import { assertEquals, assertRejects } from "@std/assert";
import type { FileRecord, LockRecord, Place } from "../engine/records.ts";
import { DRIVE } from "../testing/bodies.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import type { WriteGuard } from "../files/file_record.ts";
import type { Surroundings } from "./lock_store.ts";

/** What a write found around its name. */
interface Found {
  file: FileRecord | undefined;
  locks: string[];
  hasParent: boolean;
  isFolder: boolean;
}

async function foundBy(
  file: FileRecord | undefined,
  { locks, hasParent, isFolder }: Surroundings,
): Promise<Found> {
  const names = locks.map(({ name }) => name);
  return { file, locks: names, hasParent: await hasParent(), isFolder: await isFolder() };
}

const nothing = () => Promise.resolve();

/** Stores a file. @returns what was around its name, each time that it was looked at. */
async function put(
  { store }: TestStore,
  name: string,
  { refuses = false, onBody = nothing, onLook = nothing } = {},
): Promise<Found[]> {
  const place: Place = { ...DRIVE, name };
  const all: Found[] = [];
  const body = async function* () {
    await onBody();
    yield new Uint8Array(3);
  };
  await store.files.put(place, body(), {
    type: "text/plain",
    condition: () => true,
    beside: store.besides(place, async (file, around) => {
      all.push(await foundBy(file, around));
      await onLook();
      if (refuses) throw new Error("Refused");
    }),
    accept: () => {},
  });
  return all;
}

async function lock({ store }: TestStore, name: string, life = 60_000): Promise<void> {
  const added: LockRecord = {
    token: `urn:uuid:${crypto.randomUUID()}`,
    name,
    scope: "exclusive",
    isDeep: false,
    by: "key",
    expires: Date.now() + life,
    lifetime: life,
  };
  await store.locks.change(DRIVE, (locks) => ({ locks: [...locks, added], result: undefined }));
}

testOnAll("A write finds the folders around its name", async (bench) => {
  const { store } = bench;
  const around = async (name: string) => {
    const [{ hasParent, isFolder } = { hasParent: false, isFolder: false }] = await put(
      bench,
      name,
    );
    return { hasParent, isFolder };
  };
  assertEquals(await around("a"), { hasParent: true, isFolder: false });
  assertEquals(await around("folder/x"), { hasParent: false, isFolder: false });
  assertEquals(await around("folder/y"), { hasParent: true, isFolder: false });
  assertEquals(await around("folder"), { hasParent: true, isFolder: true });
  await store.folders.create({ ...DRIVE, name: "empty/" });
  assertEquals(await around("empty"), { hasParent: true, isFolder: true });
  assertEquals(await around("empt"), { hasParent: true, isFolder: false });
  const expired = { type: "", lifetime: 1, condition: () => true, accept: () => {} };
  await store.files.put({ ...DRIVE, name: "old/x" }, (async function* () {})(), expired);
  while (await store.files.reader.stat({ ...DRIVE, name: "old/x" }) !== undefined);
  assertEquals(await around("old"), { hasParent: true, isFolder: false });
  await store.files.put({ ...DRIVE, name: "empty" }, (async function* () {})(), expired);
  while (await store.files.reader.stat({ ...DRIVE, name: "empty" }) !== undefined);
  assertEquals(await around("empty"), { hasParent: true, isFolder: true });
});

testOnAll(
  "A write sees the locks of other processes, also those of the last moment",
  async (bench) => {
    await bench.store.projects.createDrive(DRIVE.project, DRIVE.drive);
    const other = otherProcess(bench);
    await put(bench, "a");
    await lock(other, "a");
    assertEquals((await put(bench, "a")).map(({ locks }) => locks), [["a"]]);
    const late = await put(bench, "b", { onBody: () => lock(other, "b") });
    assertEquals(late.map(({ locks }) => locks), [["a", "b"]]);
  },
);

testOnAll("A lock that is made right before the commit is seen", async (bench) => {
  const { store } = bench;
  await put(bench, "a");
  const other = otherProcess(bench);
  const hook = (name: string) => onceCalled(() => lock(other, name));
  const written = await put(bench, "a", { onLook: hook("a") });
  assertEquals(written.map(({ locks }) => locks), [[], ["a"]]);

  const seen: string[][] = [];
  const guardOf = (onLook: () => Promise<void>): WriteGuard => async () => {
    const { locks, unchanged } = await store.locks.read(DRIVE);
    seen.push(locks.map(({ name }) => name));
    await onLook();
    return unchanged;
  };
  const place = (name: string): Place => ({ ...DRIVE, name });
  const request = { overwrite: true, condition: () => true };
  const move = { ...request, from: place("a"), to: place("b"), guard: guardOf(hook("b")) };
  assertEquals(typeof await store.files.copies.run("move", move), "object");
  const describe = () => ({ mtime: 1, properties: undefined });
  await store.changeFile(place("b"), { describe }, () => true, guardOf(hook("c")));
  assertEquals(await store.files.delete(place("b"), () => true, guardOf(hook("d"))), true);
  assertEquals(seen.map((names) => names.length), [1, 2, 2, 3, 3, 4]);
});

/** Returns a function that does something when it is called first. */
function onceCalled(work: () => Promise<void>): () => Promise<void> {
  let isFirst = true;
  return async () => {
    if (isFirst) await work();
    isFirst = false;
  };
}

testOnAll("A write that is refused changes nothing", async (bench) => {
  const { store } = bench;
  const [first] = await put(bench, "a");
  assertEquals(first?.file, undefined);
  const before = await store.files.reader.stat({ ...DRIVE, name: "a" });
  await assertRejects(() => put(bench, "a", { refuses: true }), Error, "Refused");
  assertEquals(await store.files.reader.stat({ ...DRIVE, name: "a" }), before);
  const [second] = await put(bench, "a");
  assertEquals(second?.file, before);
});
