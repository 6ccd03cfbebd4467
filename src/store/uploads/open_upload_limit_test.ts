import { assert, assertEquals, assertRejects } from "@std/assert";
import { TooManyOpenUploads } from "../engine/errors.ts";
import { Operation } from "../engine/operation.ts";
import { DEFAULT_UPLOAD_TTL, Store } from "../store.ts";
import { DRIVE, place } from "../testing/bodies.ts";
import { entriesWith } from "../testing/entries.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";
import { OpenUploadLimit, takeSlot } from "./open_upload_limit.ts";

const { project } = DRIVE;

/** Another process on the same store, with a limit of open uploads. */
function limited({ db }: TestStore, maxOpenUploads: number): TestStore {
  const onError = (error: unknown) => {
    throw error;
  };
  return { db, store: new Store(db, { onError, maxOpenUploads }) };
}

function start({ store }: TestStore, name = "a"): Promise<string> {
  return store.uploads.start(place(name), undefined);
}

async function refusal(work: Promise<unknown>): Promise<TooManyOpenUploads> {
  return await assertRejects(() => work, TooManyOpenUploads);
}

/** Starts uploads in several processes at once. Returns the ids of those that were started. */
async function startAll(benches: readonly TestStore[], count: number): Promise<string[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, i) => {
    const bench = benches[i % benches.length];
    assert(bench !== undefined);
    return start(bench);
  }));
  for (const outcome of outcomes) {
    const isRefused = outcome.status === "rejected" && outcome.reason instanceof TooManyOpenUploads;
    if (outcome.status === "rejected" && !isRefused) throw outcome.reason;
  }
  return outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
}

testOnAll("A project can have as many uploads open as the limit and no more", async (bench) => {
  const few = limited(bench, 3);
  const [first = ""] = await startAll([few], 3);
  assertEquals(
    (await refusal(start(few))).message,
    "The project has 3 uploads open, and no more are allowed: " +
      "complete or abort one of them, then start this one again",
  );
  await few.store.uploads.abort(place("a"), first);
  const second = await start(few);
  await refusal(start(few));
  await few.store.uploads.complete(place("a"), second, () => true);
  await few.store.uploads.complete(place("a"), second, () => true);
  await start(few);
  await refusal(start(few));
  await few.store.sweeper.sweep(Date.now() + DEFAULT_UPLOAD_TTL + 1);
  assertEquals((await startAll([few], 10)).length, 3);
});

testOnAll("The limit of open uploads holds across processes", async (bench) => {
  const benches = [limited(bench, 50), limited(bench, 50), limited(bench, 50)];
  const ids = await startAll(benches, 120);
  assertEquals(ids.length, 50);
  const [one = bench, other = bench] = benches;
  await Promise.all(ids.map((id, i) => {
    const { uploads } = (i % 2 ? one : other).store;
    return i % 3 ? uploads.abort(place("a"), id) : uploads.complete(place("a"), id, () => true);
  }));
  assertEquals(await entriesWith(bench, "open_upload"), []);
  assertEquals((await startAll(benches, 120)).length, 50);
});

testOnAll("Concurrent aborts of one upload free one slot", async (bench) => {
  const [one, other] = [limited(bench, 2), limited(bench, 2)];
  const id = await start(one);
  await start(one);
  await Promise.allSettled(Array.from({ length: 6 }, (_, i) => {
    return (i % 2 ? one : other).store.uploads.abort(place("a"), id);
  }));
  assertEquals((await startAll([one, other], 4)).length, 1);
});

testOnAll("A lower limit holds once the uploads beyond it have ended", async (bench) => {
  const ids = await startAll([limited(bench, 8)], 8);
  const fewer = limited(bench, 4);
  for (const id of ids.slice(0, 4)) {
    await refusal(start(fewer));
    await fewer.store.uploads.abort(place("a"), id);
  }
  await refusal(start(fewer));
  await fewer.store.uploads.abort(place("a"), ids[4] ?? "");
  await startAll([fewer], 5);
  assertEquals((await entriesWith(bench, "open_upload")).length, 4);
});

testOnAll("Deleting a drive or a project frees the slots of its open uploads", async (bench) => {
  const few = limited(bench, 2);
  await startAll([few], 2);
  await refusal(few.store.uploads.start({ ...place("a"), drive: "other" }, undefined));
  await few.store.projects.deleteDrive(project, "d");
  await few.store.sweeper.sweep();
  assertEquals((await startAll([few], 3)).length, 2);
  await few.store.projects.delete(project);
  await few.store.sweeper.sweep();
  await few.store.projects.create(project, undefined);
  assertEquals((await startAll([few], 3)).length, 2);
});

testOnAll("Below a lowered limit all processes offer the same slots", async ({ db }) => {
  const operation = new Operation();
  takeSlot(operation, DRIVE, "upload", 2);
  await db.commit(operation);
  const { random } = Math;
  Math.random = () => 0.9;
  try {
    assertEquals(await new OpenUploadLimit(db, 2).findSlot(project), 0);
    assertEquals(await new OpenUploadLimit(db, 3).findSlot(project), 0);
    assertEquals(await new OpenUploadLimit(db, 10).findSlot(project), 9);
  } finally {
    Math.random = random;
  }
});
