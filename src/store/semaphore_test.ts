import { assertEquals, assertRejects } from "@std/assert";
import { Semaphore } from "./semaphore.ts";

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
