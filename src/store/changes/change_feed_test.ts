import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { DAY, SECOND } from "../../rules/units.ts";
import { ChangesExpired, ChangesOff, InvalidCursor } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectRecord } from "../engine/records.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { allChanges, changesOf, cursorOf, pageOf, withFeed } from "../testing/changes.ts";
import { put, putAt } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const always = { overwrite: true, condition: () => true };
const withFile = (bench: TestStore) => put(bench, "a", bytes(10));

testOnAll("An expired file is deleted once", async (bench) => {
  await withFeed(bench);
  await withClock(async (forward) => {
    for (const name of ["a", "b"]) {
      await bench.store.files.put(place(name), inPieces(bytes(1)), { ...ANYWAY, lifetime: SECOND });
    }
    await bench.store.sweeper.sweep();
    forward(2 * SECOND);
    await Promise.all([bench, otherProcess(bench)].map(({ store }) => store.sweeper.sweep()));
  });
  const changes = await changesOf(bench);
  assertEquals(changes.toSorted(), ["delete a", "delete b", "put a", "put b"]);
});

testOnAll("A change has the fields of its file, and the time of its commit", async (bench) => {
  await withFeed(bench);
  const before = Date.now();
  const { version } = await put(bench, "a", bytes(10));
  const { changes: [change], last, more } = await pageOf(bench);
  assert(change !== undefined);
  const { id, at, ...rest } = change;
  const described = { name: "a", etag: version, size: 10, content_type: "a/b" };
  assertEquals(rest, { type: "put", ...described });
  assert(at >= before && at <= Date.now());
  assertEquals([last, more], [id, false]);
  assertEquals(await pageOf(bench, { since: id }), { changes: [], last: id, more: false });
});

testOnAll("Pages continue where they ended, also within a commit", async (bench) => {
  await withFeed(bench);
  await Promise.all(Array.from({ length: 25 }, (_, i) => put(bench, `${i}`, bytes(1))));
  const all = await allChanges(bench);
  assertEquals(all.length, 25);
  assertEquals(new Set(all.map(({ id }) => id)).size, 25);
  assertEquals(await allChanges(bench, { limit: 3 }), all);
  assertEquals(await allChanges(bench, { maxBytes: 300 }), all);
  for (const [i, { id }] of all.entries()) {
    assertEquals(await allChanges(bench, { since: id }), all.slice(i + 1));
  }
});

testOnAll(
  "A drive without changes has an empty feed, whose cursor sees the first",
  async (bench) => {
    await withFeed(bench);
    const { changes, last, more } = await pageOf(bench);
    assertEquals([changes, more], [[], false]);
    const present = await cursorOf(bench);
    await withFile(bench);
    assertEquals(await changesOf(bench, { since: last }), ["put a"]);
    assertEquals(await changesOf(bench, { since: present }), ["put a"]);
  },
);

testOnAll("A feed that is off has no changes, and one that was off forgets", async (bench) => {
  await withFile(bench);
  await assertRejects(() => pageOf(bench), ChangesOff);
  await withFeed(bench);
  await withFile(bench);
  const old = await cursorOf(bench);
  await withFeed(bench, 30);
  assertEquals(await changesOf(bench), ["put a"]);
  await withFeed(bench, 0);
  await assertRejects(() => pageOf(bench, { since: old }), ChangesOff);
  await withFile(bench);
  await withFeed(bench);
  await assertRejects(() => pageOf(bench, { since: old }), ChangesExpired);
  assertEquals(await changesOf(bench), []);
  await sweepLater(bench);
  const left = bench.db.reader.list({ prefix: prefixes.all("change") });
  assertEquals((await Array.fromAsync(left)).length, 0);
});

testOnAll("Another process records from the commit on that turned the feed on", async (bench) => {
  const other = otherProcess(bench);
  await put(other, "a", bytes(1));
  await withFeed(bench);
  await put(other, "b", bytes(1));
  assertEquals(await changesOf(bench), ["put b"]);
  assertEquals(await changesOf(other), ["put b"]);
});

testOnAll("A text that is no cursor of the drive is refused", async (bench) => {
  await withFeed(bench);
  await withFile(bench);
  await putAt(bench, { ...place("a"), drive: "other" }, bytes(1));
  const cursor = await cursorOf(bench);
  const elsewhere = await cursorOf(bench, { drive: "other" });
  const forged = `${cursor.slice(0, -4)}AAAA`;
  for (const since of ["x", "1", " ", "00", `${cursor}A`, cursor.slice(1), elsewhere, forged]) {
    await assertRejects(() => pageOf(bench, { since }), InvalidCursor);
  }
});

testOnAll("A cursor of a commit that the store does not have is expired", async (bench) => {
  await withFeed(bench);
  await withFile(bench);
  const first = await cursorOf(bench);
  await withFile(bench);
  const last = await cursorOf(bench);
  // As in a copy of the store from before the last commit.
  const owner = await bench.db.reader.get<ProjectRecord>(keys.project("p"));
  const feed = keys.feed("p", owner.value?.feed ?? "", DRIVE.drive);
  const entries = await Array.fromAsync(bench.db.reader.list(ranges.feedFrom(feed, "")));
  const lost = entries.at(-1);
  assert(lost !== undefined);
  await bench.db.commit(new Operation().delete(lost.key));
  await assertRejects(() => pageOf(bench, { since: last }), ChangesExpired);
  assertEquals(await changesOf(bench, { since: first }), []);
});

testOnAll("Old changes are removed, and older cursors are expired", async (bench) => {
  await withFeed(bench, 2);
  await withClock(async (forward) => {
    const beginning = await cursorOf(bench);
    await put(bench, "a", bytes(1));
    const [first] = await allChanges(bench);
    await put(bench, "b", bytes(1));
    const second = await cursorOf(bench);
    await bench.store.sweeper.sweep();
    assertEquals((await changesOf(bench)).length, 2);
    forward(DAY);
    await bench.store.sweeper.sweep();
    await put(bench, "c", bytes(1));
    forward(DAY + SECOND);
    await bench.store.sweeper.sweep();
    assertEquals(await changesOf(bench), ["put c"]);
    for (const since of [beginning, first?.id]) {
      await assertRejects(() => pageOf(bench, { since }), ChangesExpired);
    }
    // Nothing is missing after the newest change that was removed.
    assertEquals(await changesOf(bench, { since: second }), ["put c"]);
    forward(2 * DAY);
    await bench.store.sweeper.sweep();
    const present = await cursorOf(bench);
    assertEquals(await changesOf(bench), []);
    await put(bench, "d", bytes(1));
    assertEquals(await changesOf(bench, { since: present }), ["put d"]);
  });
});

testOnAll("A key of some names learns nothing of others", async (bench) => {
  await withFeed(bench);
  const mine = { prefix: "mine/" };
  const none = await cursorOf(bench, mine);
  await put(bench, "other", bytes(1));
  assertEquals(await cursorOf(bench, mine), none);
  await put(bench, "mine/a", bytes(1));
  const first = await pageOf(bench, mine);
  for (let i = 0; i < 5; i++) await put(bench, `other ${i}`, bytes(1));
  assertEquals(await pageOf(bench, mine), first);
  assertEquals(await cursorOf(bench, mine), first.last);
  const { last: since } = first;
  assertEquals(await pageOf(bench, { ...mine, since }), { changes: [], last: since, more: false });
  const move = (from: string, to: string) =>
    bench.store.files.copies.run("move", { from: place(from), to: place(to), ...always });
  await move("other", "mine/b");
  await move("mine/b", "mine/c");
  await move("mine/a", "elsewhere");
  assertEquals(await changesOf(bench, { ...mine, since }), [
    "put mine/b",
    "move mine/b -> mine/c",
    "delete mine/a",
  ]);
  const { changes } = await pageOf(bench, { ...mine, since });
  assertEquals("from" in (changes[0] ?? {}), false);
});

testOnAll("A damaged entry ends the cursors before it", async (bench) => {
  await withFeed(bench);
  await put(bench, "a", bytes(1));
  const before = await cursorOf(bench);
  await put(bench, "b", bytes(1));
  const owner = await bench.db.reader.get<ProjectRecord>(keys.project("p"));
  const feed = keys.feed("p", owner.value?.feed ?? "", DRIVE.drive);
  const entries = await Array.fromAsync(bench.db.reader.list(ranges.feedFrom(feed, "")));
  const damaged = entries.at(-1);
  assert(damaged !== undefined);
  bench.db.unreadable.report = () => {};
  await bench.db.commit(new Operation().set(damaged.key, new Uint8Array([1, 2, 3, 4, 5])));
  const after = await cursorOf(bench);
  await put(bench, "c", bytes(1));
  await assertRejects(() => pageOf(bench, { since: before }), ChangesExpired);
  assertEquals(await changesOf(bench, { since: after }), ["put c"]);
  assertEquals(await changesOf(bench), ["put a", "put c"]);
});

testOnAll("Deletions of a drive in two processes are told once", async (bench) => {
  await withFeed(bench);
  const names = Array.from({ length: 150 }, (_, i) => `${i}`);
  await Promise.all(names.map((name) => put(bench, name, bytes(1))));
  const since = await cursorOf(bench);
  await bench.store.projects.deleteDrive("p", DRIVE.drive);
  await Promise.all([bench, otherProcess(bench)].map((one) => sweepLater(one)));
  const told = await changesOf(bench, { since });
  assertEquals(told.toSorted(), names.map((name) => `delete ${name}`).toSorted());
  await put(bench, "a", bytes(1));
  assertEquals((await changesOf(bench, { since })).at(-1), "put a");
});

testOnAll("A deleted project leaves nothing of its feeds", async (bench) => {
  await withFeed(bench);
  await withFile(bench);
  await bench.store.projects.delete("p");
  await sweepLater(bench);
  for (const kind of ["change", "change_horizon"] as const) {
    const left = bench.db.reader.list({ prefix: prefixes.all(kind) });
    assertEquals((await Array.fromAsync(left)).length, 0);
  }
});

testOnAll("A group of commits with long names becomes several entries", async (bench) => {
  await withFeed(bench);
  // Each character takes six bytes in JSON.
  const names = Array.from({ length: 30 }, (_, i) => "\x01".repeat(1000) + i);
  await Promise.all(names.map((name) => put(bench, name, bytes(1))));
  const changes = await allChanges(bench);
  assertEquals(changes.map(({ name }) => name).toSorted(), names.toSorted());
  assertNotEquals(new Set(changes.map(({ at }) => at)).size, 0);
});
