import { assertEquals, assertRejects } from "@std/assert";
import { KeyedMutex, Semaphore } from "./concurrency.ts";

Deno.test("So many pieces of work run at once, and the others in the order of arrival", async () => {
  const semaphore = new Semaphore(2);
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const works = gates.map(({ promise }, i) =>
    semaphore.run(async () => {
      started.push(i);
      most = Math.max(most, ++running);
      await promise;
      running--;
      return i;
    })
  );
  for (const [i, gate] of gates.entries()) {
    gate.resolve();
    assertEquals(await works[i], i);
  }
  assertEquals([started, most], [[0, 1, 2, 3, 4, 5], 2]);
});

Deno.test("Work that fails, at once or later, makes room for the next", async () => {
  const semaphore = new Semaphore(1);
  const failure = new Error("no");
  const works: (() => Promise<void>)[] = [
    () => Promise.reject(failure),
    () => {
      throw failure;
    },
  ];
  for (const work of works) {
    const failed = assertRejects(() => semaphore.run(work), Error);
    const next = semaphore.run(() => Promise.resolve("next"));
    assertEquals(await failed, failure);
    assertEquals(await next, "next");
  }
});

Deno.test("Work on one key runs one at a time, in the order of arrival", async () => {
  const mutex = new KeyedMutex();
  const log: string[] = [];
  const works = [1, 2, 3, 4].map((i) =>
    mutex.run("a", async () => {
      log.push(`start ${i}`);
      await Promise.resolve();
      await Promise.resolve();
      log.push(`end ${i}`);
      return i;
    })
  );
  assertEquals(await Promise.all(works), [1, 2, 3, 4]);
  assertEquals(log, [1, 2, 3, 4].flatMap((i) => [`start ${i}`, `end ${i}`]));
});

Deno.test("Work on another key does not wait", async () => {
  const mutex = new KeyedMutex();
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = mutex.run("a", () => promise);
  for (const key of ["b", "", "__proto__"]) {
    assertEquals(await mutex.run(key, () => Promise.resolve(key)), key);
  }
  resolve();
  await waiting;
});

Deno.test("Work that fails lets the next in, also where it comes later", async () => {
  const mutex = new KeyedMutex();
  const failure = new Error("no");
  const failed = assertRejects(() => mutex.run("a", () => Promise.reject(failure)), Error);
  const next = mutex.run("a", () => Promise.resolve("next"));
  assertEquals([await failed, await next], [failure, "next"]);
  assertEquals(await mutex.run("a", () => Promise.resolve("later")), "later");
});

Deno.test("Work that arrives while the last is ending still waits for it", async () => {
  const mutex = new KeyedMutex();
  let running = 0;
  const work = async () => {
    assertEquals(++running, 1);
    await Promise.resolve();
    running--;
  };
  const chains = Array.from({ length: 5 }, async () => {
    for (let i = 0; i < 20; i++) await mutex.run("a", work);
  });
  await Promise.all(chains);
});
