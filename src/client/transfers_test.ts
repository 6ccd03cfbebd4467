import { assertEquals } from "@std/assert";
import { forEachConcurrent } from "./transfers.ts";

async function* upTo(count: number): AsyncGenerator<number> {
  for (let i = 0; i < count; i++) yield await Promise.resolve(i);
}

Deno.test("All items are processed, at most `count` at once", async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  await forEachConcurrent(upTo(20), 3, async (item) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    done.push(item);
  });
  assertEquals([most, done.length], [3, 20]);
});

Deno.test("After a failure no item is started, and the failure is thrown once the running ones have ended", async () => {
  const begun: number[] = [];
  let ended = 0;
  let message = "";
  try {
    await forEachConcurrent(upTo(20), 2, async (item) => {
      begun.push(item);
      await new Promise((resolve) => setTimeout(resolve, 1));
      ended++;
      if (item === 3) throw new Error("three");
    });
  } catch (error) {
    message = String(error);
  }
  assertEquals([message, begun.length === ended, begun.length < 8], ["Error: three", true, true]);
});
