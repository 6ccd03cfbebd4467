import { assertEquals } from "@std/assert";
import { Readiness } from "./monitoring.ts";

Deno.test("concurrent callers share a check, and its result is cached", async () => {
  let looks = 0;
  const readiness = new Readiness(() => {
    looks++;
    return Promise.resolve();
  });
  const answers = await Promise.all(Array.from({ length: 10 }, () => readiness.isReady()));
  assertEquals([...answers, await readiness.isReady()], Array(11).fill(true));
  assertEquals(looks, 1);
});

Deno.test("while a check hangs, no second one starts and callers get the last result at once", async () => {
  let looks = 0;
  const hanging = Promise.withResolvers<void>();
  const readiness = new Readiness(() => {
    looks++;
    return hanging.promise;
  });
  assertEquals(await readiness.isReady(), false);
  const began = performance.now();
  assertEquals(await readiness.isReady(), false);
  assertEquals(performance.now() - began < 500, true);
  assertEquals(looks, 1);
  hanging.resolve();
});

Deno.test("a failed check means not ready", async () => {
  const readiness = new Readiness(() => Promise.reject(new Error("locked")));
  assertEquals(await readiness.isReady(), false);
});
