import { assertEquals, assertRejects } from "@std/assert";
import { KeyedMutex, Semaphore } from "./concurrency.ts";

Deno.test("A semaphore runs a limited number of tasks, the others in the order of arrival", async () => {
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

Deno.test("A failed task releases its slot", async () => {
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

Deno.test("Tasks of one key run one at a time, in the order of arrival", async () => {
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

Deno.test("Tasks of different keys do not wait for each other", async () => {
  const mutex = new KeyedMutex();
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = mutex.run("a", () => promise);
  for (const key of ["b", "", "__proto__"]) {
    assertEquals(await mutex.run(key, () => Promise.resolve(key)), key);
  }
  resolve();
  await waiting;
});

Deno.test("A failed task lets the next one run, also one that arrives later", async () => {
  const mutex = new KeyedMutex();
  const failure = new Error("no");
  const failed = assertRejects(() => mutex.run("a", () => Promise.reject(failure)), Error);
  const next = mutex.run("a", () => Promise.resolve("next"));
  assertEquals([await failed, await next], [failure, "next"]);
  assertEquals(await mutex.run("a", () => Promise.resolve("later")), "later");
});

Deno.test("A task that arrives while the last one is ending waits for it", async () => {
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
