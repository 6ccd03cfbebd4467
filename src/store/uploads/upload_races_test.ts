import { assertEquals, assertRejects } from "@std/assert";
import { UploadRefused } from "../engine/errors.ts";
import { identityOf, keys } from "../engine/keys.ts";
import { bytes, place } from "../testing/bodies.ts";
import { drivesOf } from "../testing/entries.ts";
import { assertCompleted, putPart, read } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";

const always = () => true;

async function start({ store }: TestStore): Promise<string> {
  return await store.uploads.start(place("a"), undefined);
}

/** Lets something happen right before the next commit of a store, or the next one that changes an entry. */
function beforeNextCommit(
  { db }: TestStore,
  happens: () => Promise<unknown>,
  key?: Deno.KvKey,
): void {
  const commit = db.commit.bind(db);
  db.commit = async (operation) => {
    if (key !== undefined && !operation.touched.has(identityOf(key))) {
      return await commit(operation);
    }
    db.commit = commit;
    await happens();
    return await commit(operation);
  };
}

testOnAll("An upload that is aborted while it is completed makes no file", async (bench) => {
  const id = await start(bench);
  const { uploads } = otherProcess(bench).store;
  beforeNextCommit(bench, () => uploads.abort(place("a"), id));
  const complete = () => bench.store.uploads.complete(place("a"), id, always);
  assertEquals((await assertRejects(complete, UploadRefused)).problem, "absent");
  assertEquals(await read(bench, "a"), undefined);
});

testOnAll("Completing an upload that another process completes first succeeds", async (bench) => {
  const id = await start(bench);
  const { uploads } = otherProcess(bench).store;
  beforeNextCommit(bench, () => uploads.complete(place("a"), id, always));
  const ifAbsent = (current: unknown) => current === undefined;
  assertCompleted(await bench.store.uploads.complete(place("a"), id, ifAbsent));
});

testOnAll("A part that two processes send at once is counted once", async (bench) => {
  const id = await start(bench);
  const other = otherProcess(bench);
  const { project, drive: name } = place("a");
  // Its bytes are committed earlier.
  const part = keys.part(project, name, id, 1);
  beforeNextCommit(bench, () => putPart(other, "a", id, 1, bytes(100)), part);
  await putPart(bench, "a", id, 1, bytes(300));
  const [drive] = await drivesOf(bench.store, place("a").project);
  assertEquals(drive?.openBytes, 300);
});

testOnAll(
  "A page of open uploads has as many as asked for, and says if there are more",
  async (bench) => {
    const ids = [await start(bench), await start(bench), await start(bench)];
    const { project, drive } = place("a");
    const page = async (limit: number, last = "") => {
      const { uploads, more } = await bench.store.uploads.list(project, drive, { limit, last });
      return [uploads.map(({ id }) => id), more];
    };
    assertEquals(await page(2), [ids.slice(0, 2), true]);
    assertEquals(await page(3), [ids, false]);
    assertEquals(await page(2, ids[0]), [ids.slice(1), false]);
  },
);

testOnAll("An upload belongs to the name that it was started for", async (bench) => {
  const id = await start(bench);
  const others = [
    () => bench.store.uploads.get(place("b"), id),
    () => bench.store.uploads.complete(place("b"), id, always),
    () => bench.store.uploads.abort(place("b"), id),
    () => putPart(bench, "b", id, 1, bytes(1)),
  ];
  for (const call of others) {
    assertEquals((await assertRejects(call, UploadRefused)).problem, "other name");
  }
  await bench.store.uploads.get(place("a"), id);
});
