import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { SECOND } from "../../rules/units.ts";
import { TooManyWaiting } from "../engine/errors.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { withFeed } from "../testing/changes.ts";
import { put, putAt, upload } from "../testing/files.ts";
import { openDatabase } from "../engine/database_file.ts";
import { Store } from "../store.ts";
import { testOnAll, type TestStore, withFolder } from "../testing/stores.ts";
import { MAX_WAITING } from "./change_signals.ts";

const { project, drive } = DRIVE;

/** Returns the milliseconds that a wait takes. */
async function timeOf(wait: Promise<void>): Promise<number> {
  const began = performance.now();
  await wait;
  return performance.now() - began;
}

testOnAll("A commit of this process ends a wait of its drive", async (bench) => {
  await withFeed(bench);
  using waiting = bench.store.changeSignals.watch(project, drive);
  using other = bench.store.changeSignals.watch(project, "other");
  other.reset();
  waiting.reset();
  const waited = timeOf(waiting.next(20 * SECOND));
  await put(bench, "a", bytes(1));
  assert(await waited < 5 * SECOND);
  await putAt(bench, { project, drive: "other", name: "a" }, bytes(1));
  await other.next(20 * SECOND);
  // What was signalled before is not waited for.
  await other.next(20 * SECOND);
});

Deno.test("A commit of another process ends a wait within a second", async () => {
  await withFolder(async (folder) => {
    const onError = (error: unknown) => {
      throw error;
    };
    const [here, there] = await Promise.all(
      [1, 2].map(async () => {
        const db = await openDatabase(folder, "mapped");
        return { db, store: new Store(db, { onError }) };
      }),
    );
    assert(here !== undefined && there !== undefined);
    await here.store.projects.create(project, undefined);
    await withFeed(here);
    using waiting = here.store.changeSignals.watch(project, drive);
    for (let i = 0; i < 3; i++) {
      // The first look at a drive signals as well.
      await waiting.next(SECOND);
      waiting.reset();
      const waited = timeOf(waiting.next(20 * SECOND));
      await put(there, `${i}`, bytes(1));
      assert(await waited < 5 * SECOND);
    }
    await here.store.close();
    await there.store.close();
  });
});

/** Changes that a list shows, and that no feed or counter has. */
const LISTED: Record<string, (bench: TestStore) => Promise<unknown>> = {
  "a file": (bench) => put(bench, "a", bytes(1)),
  "a file of the same size": (bench) => put(bench, "a", bytes(1)),
  "a content type": ({ store }) => store.changeFile(place("a"), { type: "c/d" }, () => true),
  "a new name": ({ store }) =>
    store.files.copies.run("move", {
      from: place("a"),
      to: place("b"),
      overwrite: true,
      condition: () => true,
    }),
  "a folder": ({ store }) => store.folders.create(place("folder/")),
  "a folder that is removed": ({ store }) => store.folders.delete(place("folder/")),
  "an upload": (bench) => upload(bench, place("u"), [10]),
  "a link": ({ store }) => store.links.create(DRIVE, { target: { name: "b" }, download: false }),
  "a deletion": ({ store }) => store.files.delete(place("b")),
};

testOnAll("Each change of what lists show gives them another mark", async (bench) => {
  const { store: { changeSignals } } = bench;
  const scopes = [{ project, drives: [drive] }, { project, drives: undefined }];
  const elsewhere = { project, drives: ["other"] };
  const marks = () => Promise.all(scopes.map((scope) => changeSignals.markOf(scope)));
  const other = await changeSignals.markOf(elsewhere);
  for (const [name, change] of Object.entries(LISTED)) {
    const before = await marks();
    await change(bench);
    const [ofDrive, ofProject] = await marks();
    assertNotEquals(ofDrive, before[0], name);
    const isCounted = !["of the same size", "content type", "removed"].some((one) =>
      name.includes(one)
    );
    // Lists of a whole project show no files.
    if (isCounted && name !== "a folder") assertNotEquals(ofProject, before[1], name);
    if (name !== "a link") continue;
    assertNotEquals(await changeSignals.markOf(elsewhere), other, "links are known by project");
  }
});

testOnAll("So many callers of a project wait, and no more", ({ store }) => {
  const all = Array.from(
    { length: MAX_WAITING },
    (_, i) => store.changeSignals.watch(project, `${i % 7}`),
  );
  assertThrows(() => store.changeSignals.watch(project, drive), TooManyWaiting);
  store.changeSignals.watch("another", drive)[Symbol.dispose]();
  assertEquals(store.changeSignals.size, MAX_WAITING);
  all.pop()?.[Symbol.dispose]();
  store.changeSignals.watch(project, drive)[Symbol.dispose]();
  for (const each of all) each[Symbol.dispose]();
  assertEquals(store.changeSignals.size, 0);
  return Promise.resolve();
});

testOnAll("A shutdown ends all waits", async ({ store }) => {
  using waiting = store.changeSignals.watch(project, drive);
  const waited = timeOf(waiting.next(20 * SECOND));
  store.changeSignals.close();
  assert(await waited < 5 * SECOND);
  assert(waiting.hasEnded);
  using late = store.changeSignals.watch(project, drive);
  assert(late.hasEnded);
});
