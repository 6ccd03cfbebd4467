/**
 * Many files that expire together: the counters follow, and other callers do not wait.
 *
 * @module
 */
import { assertEquals, assertLess } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, Project } from "../support/admin.ts";
import { type Drive, query } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { COUNTED_WITHIN } from "../support/store/commands.ts";

const FILES = 20_000;
const CLIENTS = 32;

/** The longest that an answer may take meanwhile, in milliseconds, on a machine that stores the probes as fast. */
const MAX_ANSWER_TIME = 1500;

/** Files that show how fast the machine stores them. */
const PROBES = 1000;

/** Stores the probes. Returns the milliseconds that it took. */
async function probe(drive: Drive): Promise<number> {
  const began = performance.now();
  await drive.putAll(Array.from({ length: PROBES }, (_, i) => `${i}`));
  return performance.now() - began;
}

/**
 * Stores files that expire within about a second, and waits until all of them are absent.
 *
 * @param time Milliseconds until they expire.
 * @returns How many were stored: fewer than all if the time was too short.
 */
async function putTogether(drive: Drive, time: number): Promise<number> {
  const deadline = Date.now() + time;
  let stored = 0;
  let next = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (next < FILES) {
      const expires_in = Math.ceil((deadline - Date.now()) / 1000);
      if (expires_in <= 0) return;
      const path = `/files${query({ name: `n${next++}`, expires_in })}`;
      (await drive.send("POST", path, { body: "meow" })).expect(201);
      stored++;
    }
  }));
  await delay(Math.max(0, deadline - Date.now()));
  while ((await drive.names()).length > 0) await delay(50);
  return stored;
}

/** Returns what some work returns. Fails if it takes longer than some milliseconds. */
async function within<T>(time: number, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  assertLess(performance.now() - began, time);
  return result;
}

Deno.test("Counters follow many files that expire together, and other projects do not wait.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const [expiring, other] = [await Project.make(server), await Project.make(server)];
  const [drive, lasting] = [expiring.drive("many"), other.drive("few")];
  const names = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(3, "0"));
  await lasting.putAll(names);
  const probeTime = await probe(expiring.drive("probes"));
  let time = Math.max(10_000, 2.5 * probeTime * FILES / PROBES);
  // A machine may become slower meanwhile.
  while (await putTogether(drive, time) < FILES) time *= 2;
  const quickly = <T>(work: () => Promise<T>) => within(Math.max(MAX_ANSWER_TIME, probeTime), work);
  const countedWithin = Math.max(COUNTED_WITHIN, 10 * probeTime);
  const began = performance.now();
  await drive.put("lasting", "meow");
  while (true) {
    const usage = await quickly(() => drive.usage());
    assertEquals(await quickly(() => lasting.names()), names);
    assertEquals(await quickly(() => lasting.usage()), { files: 100, bytes: 300 });
    if (usage?.files === 1) return assertEquals(usage.bytes, 4);
    assertLess(performance.now() - began, countedWithin, `${usage?.files} files still count`);
    await delay(50);
  }
});
