import { assertEquals } from "@std/assert";
import { DAY, HOUR, SECOND } from "../../rules/units.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { EventName } from "./events.ts";
import { ALL_EVENTS, countEntries, eventsOf, serverEventsOf } from "../testing/entries.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { type Actor, EVENT_TTL, EventLog, MAX_EVENTS_OF_A_NAME } from "./events.ts";

const ACTOR: Actor = { by: "k3JxQ0aB", address: "192.0.2.7" };
/** Records events of the project without a change, all in few operations. */
async function recordMany(
  { db }: TestStore,
  log: EventLog,
  event: EventName,
  count: number,
): Promise<void> {
  for (let done = 0; done < count; done += 200) {
    const operation = new Operation();
    for (let i = done; i < Math.min(count, done + 200); i++) {
      log.record(operation, ACTOR, { event, project: "p", target: `${i}` });
    }
    await db.commit(operation);
  }
}

testOnAll("Pages go from the newest to the oldest, of two processes alike", async (bench) => {
  const other = otherProcess(bench);
  for (let i = 0; i < 5; i++) {
    await bench.store.apps.create("p", `a${i}`, {});
    await other.store.apps.create("p", `b${i}`, {});
  }
  const expected = (await eventsOf(bench)).toReversed();
  assertEquals(expected.length, 10);
  for (const limit of [1, 3, 10, 11]) {
    const walked: string[] = [];
    for (let last = "";;) {
      const { events, more } = await other.store.events.list("p", { limit, last });
      walked.push(...events.map(({ event, target }) => `${event} ${target}`));
      assertEquals(more, walked.length < 10);
      if (!more) break;
      last = events.at(-1)?.id ?? "";
    }
    assertEquals(walked, expected);
  }
});

testOnAll("A page begins after any text", async (bench) => {
  for (let i = 0; i < 3; i++) await bench.store.apps.create("p", `a${i}`, {});
  const { events } = await bench.store.events.list("p", ALL_EVENTS);
  const [newest, middle] = events.map(({ id }) => id);
  const after = async (last: string) =>
    (await bench.store.events.list("p", { limit: 1000, last })).events.length;
  assertEquals(await after(newest ?? ""), 2);
  assertEquals(await after(`${middle}\0`), 2);
  assertEquals(await after(`${middle}${"x".repeat(5000)}`), 2);
  assertEquals(await after("0"), 0);
  assertEquals(await after("\0"), 0);
  assertEquals(await after("😀".repeat(5000)), 3);
});

testOnAll("Events are kept for 90 days", async (bench) => {
  await withClock(async (forward) => {
    const { store } = bench;
    await store.projects.create("q", undefined);
    await store.apps.create("p", "old", {});
    await store.projects.delete("q");
    forward(DAY);
    await store.apps.create("p", "new", {});
    forward(EVENT_TTL - DAY - SECOND);
    await store.sweeper.sweep();
    assertEquals(await eventsOf(bench), ["app.created old", "app.created new"]);
    forward(2 * SECOND);
    await store.sweeper.sweep();
    assertEquals(await eventsOf(bench), ["app.created new"]);
    assertEquals(await serverEventsOf(bench), ["app.created p new"]);
  });
});

testOnAll("Many old events are removed at once", async (bench) => {
  await withClock(async (forward) => {
    await recordMany(bench, bench.store.events, "gate.signed_in", 1100);
    // Each of the 1100 ids has a millisecond of its own.
    forward(EVENT_TTL + 2 * SECOND);
    await bench.store.apps.create("p", "new", {});
    await bench.store.events.sweep();
    assertEquals([
      await countEntries(bench, ["event"]),
      await countEntries(bench, ["server_event"]),
    ], [1, 1]);
  });
});

testOnAll("A project keeps the newest events of each name", async (bench) => {
  const always = new EventLog(bench.db, () => 0);
  await bench.store.keys.create("p");
  await recordMany(bench, always, "gate.signed_in", MAX_EVENTS_OF_A_NAME + 3);
  await always.sweep();
  assertEquals(await countEntries(bench, ["event"]), MAX_EVENTS_OF_A_NAME + 1);
  assertEquals(await countEntries(bench, ["server_event"]), MAX_EVENTS_OF_A_NAME + 1);
  const oldest = (await Array.fromAsync(bench.db.reader.list({ prefix: ["event", "p"] }))).slice(
    0,
    2,
  );
  const names = oldest.map(({ value }) => value as { event: string; target: string });
  assertEquals(names.map(({ event }) => event), ["key.created", "gate.signed_in"]);
  assertEquals(names[1]?.target, "3");
});

testOnAll("Not every event makes a sweep count the others", async (bench) => {
  const draws = [0.9, 1 / 500, 1 / 501];
  const log = new EventLog(bench.db, () => draws.shift() ?? 1);
  let counted = 0;
  log.trim = (project) => {
    assertEquals(project, "p");
    counted++;
    return Promise.resolve();
  };
  for (const expected of [0, 0, 1, 1]) {
    await recordMany(bench, log, "key.created", 1);
    await log.sweep();
    assertEquals(counted, expected);
  }
});

testOnAll("A clock that is set back keeps the order and loses nothing", async (bench) => {
  await withClock(async (_, set) => {
    const { store } = bench;
    await store.apps.create("p", "first", {});
    set(-HOUR);
    await store.apps.create("p", "second", {});
    await store.sweeper.sweep();
    assertEquals(await eventsOf(bench), ["app.created first", "app.created second"]);
    const { events } = await store.events.list("p", ALL_EVENTS);
    assertEquals((events[1]?.at ?? 0) - (events[0]?.at ?? 0), HOUR);
  });
});

testOnAll("Events of a clock that was days ahead delay no later ones", async (bench) => {
  await withClock(async (forward, set) => {
    const { store } = bench;
    set(3 * DAY);
    await store.apps.create("p", "early", {});
    set(-3 * DAY);
    await store.apps.create("p", "late", {});
    assertEquals(await eventsOf(bench), ["app.created late", "app.created early"]);
    forward(EVENT_TTL + SECOND);
    await store.events.sweep();
    assertEquals(await eventsOf(bench), ["app.created early"]);
  });
});

testOnAll("A stopped log removes no further events", async (bench) => {
  const log = new EventLog(bench.db, () => 0);
  await recordMany(bench, log, "key.created", 1);
  log.stop();
  await log.sweep(Date.now() + 2 * EVENT_TTL);
  assertEquals((await bench.db.reader.get(keys.event("p", "x"))).value, null);
  assertEquals(await countEntries(bench, ["event"]), 1);
});
