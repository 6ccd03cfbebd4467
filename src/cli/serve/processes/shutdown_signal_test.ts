import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { NpxParent } from "./shutdown_signal.ts";

/** Longer than it takes to notice that the parent has changed, in milliseconds. */
const LONG = 1200;

/** Whether it is noticed that the parent has changed. */
async function isNoticed(env: Record<string, string>, last: number): Promise<boolean> {
  let now = 7;
  using parent = new NpxParent(env, () => now);
  now = last;
  return await Promise.race([parent.gone.then(() => true), delay(LONG).then(() => false)]);
}

Deno.test("The end of npx is noticed, and of other parents it is not", async () => {
  const npx = { npm_lifecycle_event: "npx" };
  assertEquals(
    await Promise.all([isNoticed(npx, 1), isNoticed(npx, 7), isNoticed({}, 1)]),
    [true, false, false],
  );
});
