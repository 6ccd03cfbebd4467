import { assertEquals } from "@std/assert";
import { Readiness } from "./health.ts";

Deno.test("Those who ask at the same time share a look, whose answer is kept for a moment", async () => {
  let looks = 0;
  const readiness = new Readiness(() => {
    looks++;
    return Promise.resolve();
  });
  const answers = await Promise.all(Array.from({ length: 10 }, () => readiness.isReady()));
  assertEquals([...answers, await readiness.isReady()], Array(11).fill(true));
  assertEquals(looks, 1);
});

Deno.test("While a look hangs there is no second one, and nobody waits for it again", async () => {
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

Deno.test("A look that fails says no", async () => {
  const readiness = new Readiness(() => Promise.reject(new Error("locked")));
  assertEquals(await readiness.isReady(), false);
});
