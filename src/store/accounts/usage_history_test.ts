import { assertEquals, assertRejects } from "@std/assert";
import { DAY, HOUR, MAX_USAGE_DAYS } from "../../rules/units.ts";
import { Database } from "../engine/database.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { DailyUsageRecord } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { put, putAt } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { dayOf } from "./daily_usage.ts";
import { UsageHistory } from "./usage_history.ts";

const TRAFFIC = { received: 10, sent: 100 };

/** Returns the figures of the last days as `files bytes requests received sent`, the oldest first. */
async function daysOf(
  { store }: TestStore,
  project: string | undefined,
  days: number,
): Promise<string[]> {
  const usages = await store.usage();
  const stock = usages.filter((usage) => [usage.project, undefined].includes(project))
    .reduce((sum, { files, bytes }) => ({ files: sum.files + files, bytes: sum.bytes + bytes }), {
      files: 0,
      bytes: 0,
    });
  const info = project === undefined ? undefined : await store.projects.get(project);
  const owner = project === undefined || info === undefined
    ? {}
    : { project, created: info.created };
  const listed = await store.usageHistory.list({ ...owner, days, stock });
  const today = dayOf(Date.now());
  assertEquals(listed.map(({ day }) => day), listed.map((_, i) => today - listed.length + i + 1));
  return listed.map((one) =>
    `${one.files} ${one.bytes} ${one.requests} ${one.received} ${one.sent}`
  );
}

async function countEntries({ db }: TestStore, prefix: Deno.KvKey): Promise<number> {
  return (await Array.fromAsync(db.reader.list({ prefix }))).length;
}

/** Returns the versionstamps of all daily figures. */
async function figuresIn({ db }: TestStore): Promise<unknown[]> {
  const kinds = (["daily_usage", "server_daily_usage"] as const).map((kind) => prefixes.all(kind));
  const lists = kinds.map((prefix) => Array.fromAsync(db.reader.list({ prefix })));
  return (await Promise.all(lists)).flat();
}

testOnAll("the traffic of several processes is added up", async (bench) => {
  const other = otherProcess(bench);
  await bench.store.sweeper.sweep();
  for (const { store } of [bench, other]) {
    for (let i = 0; i < 3; i++) store.usageHistory.traffic.count("p", TRAFFIC);
  }
  await Promise.all([bench, other].map(({ store }) => store.usageHistory.traffic.flush()));
  assertEquals(await daysOf(bench, "p", 30), ["0 0 6 60 600"]);
  assertEquals(await daysOf(other, undefined, 30), ["0 0 6 60 600"]);
  const before = await figuresIn(bench);
  await bench.store.usageHistory.traffic.flush();
  await bench.store.sweeper.sweep();
  assertEquals(await figuresIn(bench), before, "nothing happened, so nothing is written");
});

testOnAll("a request counts for the day in which it ends", async (bench) => {
  const { traffic } = bench.store.usageHistory;
  await withClock(async (forward) => {
    await bench.store.sweeper.sweep();
    traffic.count("p", TRAFFIC);
    forward(DAY);
    traffic.count("p", TRAFFIC);
    traffic.count("p", TRAFFIC);
    await traffic.flush();
    assertEquals(await daysOf(bench, "p", 400), ["0 0 1 10 100", "0 0 2 20 200"]);
    assertEquals(await daysOf(bench, "p", 1), ["0 0 2 20 200"]);
  });
});

testOnAll("a crash loses only the traffic since the last time it was stored", async (bench) => {
  const dead = otherProcess(bench);
  await bench.store.sweeper.sweep();
  dead.store.usageHistory.traffic.count("p", TRAFFIC);
  await dead.store.usageHistory.traffic.flush();
  dead.store.usageHistory.traffic.count("p", TRAFFIC);
  await put(bench, "a", bytes(5));
  assertEquals(await daysOf(bench, "p", 1), ["1 5 1 10 100"]);
  await dead.store.usageHistory.traffic.close();
  assertEquals(await daysOf(bench, "p", 1), ["1 5 2 20 200"]);
});

testOnAll("figures that cannot be stored are kept for the next time", async ({ db, store }) => {
  let isDown = true;
  class Unreliable extends Database {
    override commit(operation: Operation): ReturnType<Database["commit"]> {
      return isDown ? Promise.reject(new Error("Down")) : super.commit(operation);
    }
  }
  const usage = () => store.usage();
  const unreliable = new Unreliable(db.reader, db.commits);
  const history = new UsageHistory(unreliable, { usage, onError: () => {} });
  await store.sweeper.sweep();
  history.traffic.count("p", TRAFFIC);
  await assertRejects(() => history.traffic.flush(), Error, "Down");
  history.traffic.count("p", TRAFFIC);
  isDown = false;
  await history.traffic.close();
  assertEquals(await daysOf({ db, store }, "p", 1), ["0 0 2 20 200"]);
  assertEquals(await daysOf({ db, store }, undefined, 1), ["0 0 2 20 200"]);
});

testOnAll("a day keeps the files and bytes that it ended with", async (bench) => {
  const other = otherProcess(bench);
  await withClock(async (forward) => {
    await bench.store.sweeper.sweep();
    await put(bench, "a", bytes(5));
    forward(DAY);
    // Of two processes, one records the figures.
    await Promise.all([bench, other].map(({ store }) => store.sweeper.sweep()));
    await put(bench, "b", bytes(7));
    await putAt(bench, { project: "p", drive: "e", name: "c" }, bytes(8));
    assertEquals(await daysOf(bench, "p", 9), ["1 5 0 0 0", "3 20 0 0 0"]);
    forward(DAY);
    await other.store.sweeper.sweep();
    // The first day, and the one with the change.
    assertEquals(await countEntries(bench, prefixes.all("daily_usage", "p")), 2);
    for (let i = 0; i < 3; i++) {
      forward(DAY);
      await bench.store.sweeper.sweep();
    }
    assertEquals(
      await countEntries(bench, prefixes.all("daily_usage", "p")),
      2,
      "unchanged days are free",
    );
    await bench.store.files.delete(place("a"));
    const days = ["1 5 0 0 0", ...Array(4).fill("3 20 0 0 0"), "2 15 0 0 0"];
    assertEquals(await daysOf(bench, "p", 9), days);
    assertEquals(await daysOf(bench, undefined, 9), days);
    assertEquals(await daysOf(bench, "p", 2), days.slice(-2));
  });
});

testOnAll("days in which no server ran have the figures of the last one", async (bench) => {
  await withClock(async (forward) => {
    await bench.store.sweeper.sweep();
    await put(bench, "a", bytes(5));
    forward(4 * DAY);
    const started = otherProcess(bench);
    await started.store.sweeper.sweep();
    await put(started, "b", bytes(7));
    const days = [...Array(4).fill("1 5 0 0 0"), "2 12 0 0 0"];
    assertEquals(await daysOf(started, "p", 9), days);
  });
});

testOnAll("days before a project, and before the first figures, are left out", async (bench) => {
  await withClock(async (forward) => {
    forward(5 * DAY);
    assertEquals(await daysOf(bench, "p", 9), ["0 0 0 0 0"], "before the first sweep");
    await put(bench, "a", bytes(5));
    const { store } = bench;
    await store.sweeper.sweep();
    forward(DAY);
    await store.sweeper.sweep();
    await store.projects.create("q", undefined);
    forward(DAY);
    await store.sweeper.sweep();
    assertEquals(await daysOf(bench, "p", 9), Array(3).fill("1 5 0 0 0"));
    assertEquals(await daysOf(bench, "q", 9), Array(2).fill("0 0 0 0 0"));
  });
});

testOnAll("the figures of a project are deleted with it", async (bench) => {
  const { store } = bench;
  const { traffic } = store.usageHistory;
  await store.projects.create("q", undefined);
  await store.sweeper.sweep();
  traffic.count("q", TRAFFIC);
  await traffic.flush();
  assertEquals(await countEntries(bench, prefixes.all("daily_usage", "q")), 1);
  traffic.count("q", TRAFFIC);
  await store.projects.delete("q");
  await traffic.flush();
  await store.sweeper.sweep();
  assertEquals(await countEntries(bench, prefixes.all("daily_usage", "q")), 0);
  assertEquals(await daysOf(bench, undefined, 9), ["0 0 2 20 200"]);
});

testOnAll("a clock that jumps destroys no history", async (bench) => {
  await withClock(async (forward, set) => {
    const { store } = bench;
    await store.sweeper.sweep();
    for (let i = 1; i <= 5; i++) {
      await put(bench, `${i}`, bytes(i));
      store.usageHistory.traffic.count("p", TRAFFIC);
      await store.usageHistory.traffic.flush();
      forward(DAY);
      await store.sweeper.sweep();
    }
    const days = [1, 3, 6, 10, 15].map((size, i) => `${i + 1} ${size} 1 10 100`);
    assertEquals((await daysOf(bench, "p", 9)).slice(0, 5), days);
    for (const jump of [-3 * DAY, 3000 * DAY, -20_000 * DAY]) {
      set(jump);
      for (let i = 0; i < 3; i++) {
        await put(bench, `jump ${jump} ${i}`, bytes(1000));
        await store.sweeper.sweep();
        await otherProcess(bench).store.sweeper.sweep();
        assertEquals((await daysOf(bench, "p", 400)).length > 0, true);
        forward(DAY);
      }
      set(-jump - 3 * DAY);
      await store.sweeper.sweep();
      assertEquals((await daysOf(bench, "p", 6)).slice(0, 5), days, `${jump / DAY} days`);
    }
  });
});

testOnAll("the newest 400 records of a project are kept", async (bench) => {
  const { db, store } = bench;
  await withClock(async (forward) => {
    await store.sweeper.sweep();
    const today = dayOf(Date.now());
    const add = async (from: number, to: number) => {
      let operation = new Operation();
      for (let day = from; day < to; day++) {
        const record = { requests: 1, received: 0, sent: 0, files: 1, bytes: 1 };
        operation.set(keys.dailyUsage("p", day), record satisfies DailyUsageRecord);
        if (day % 100 !== 0) continue;
        await db.commit(operation);
        operation = new Operation();
      }
      await db.commit(operation);
    };
    await add(today - MAX_USAGE_DAYS, today);
    forward(300 * DAY);
    await store.sweeper.sweep();
    assertEquals(await countEntries(bench, prefixes.all("daily_usage", "p")), MAX_USAGE_DAYS);
    await add(today + 1, today + 300);
    forward(DAY);
    await store.sweeper.sweep();
    assertEquals(await countEntries(bench, prefixes.all("daily_usage", "p")), MAX_USAGE_DAYS);
    const oldest = db.reader.list(ranges.dailyUsage("p", -Infinity, Infinity), { limit: 1 });
    const [first] = await Array.fromAsync(oldest, ({ key }) => Number(key.at(-1)));
    assertEquals(first, today + 301 - MAX_USAGE_DAYS);
    assertEquals((await daysOf(bench, "p", MAX_USAGE_DAYS)).length, 302);
  });
});

testOnAll("a process continues the recording of one that died", async (bench) => {
  await withClock(async (forward) => {
    const { db, store } = bench;
    await store.sweeper.sweep();
    await put(bench, "a", bytes(5));
    forward(DAY - Date.now() % DAY + HOUR);
    const usage = () => Promise.reject(new Error("Killed"));
    const killed = new UsageHistory(db, { usage, onError: () => {} });
    await assertRejects(() => killed.closeDay(), Error, "Killed");
    assertEquals(await countEntries(bench, prefixes.all("daily_usage", "p")), 0);
    await store.usageHistory.closeDay();
    assertEquals(await daysOf(bench, "p", 9), ["1 5 0 0 0", "1 5 0 0 0"]);
  });
});

testOnAll("processes that record a day at the same moment record it once", async (bench) => {
  await withClock(async (forward) => {
    const others = [otherProcess(bench), otherProcess(bench), bench];
    await bench.store.sweeper.sweep();
    await put(bench, "a", bytes(5));
    forward(DAY - Date.now() % DAY + HOUR);
    await Promise.all(others.map(({ store }) => store.usageHistory.closeDay()));
    assertEquals(await countEntries(bench, prefixes.all("daily_usage", "p")), 1);
    assertEquals(await daysOf(bench, undefined, 9), ["1 5 0 0 0", "1 5 0 0 0"]);
  });
});
