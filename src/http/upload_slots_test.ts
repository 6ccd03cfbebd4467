import { assertEquals, assertRejects } from "@std/assert";
import { HttpError } from "./http_error.ts";
import { UploadSlots } from "./upload_slots.ts";

Deno.test("No more uploads run at once than there are places, and each has its turn", async () => {
  const slots = new UploadSlots({ max: 2, patience: 60_000 });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all([0, 1, 2, 3, 4, 5].map((n) =>
    slots.run(async () => {
      most = Math.max(most, ++running);
      order.push(n);
      await Promise.resolve();
      running--;
    })
  ));
  assertEquals({ most, order: order.toSorted() }, { most: 2, order: [0, 1, 2, 3, 4, 5] });
});

Deno.test("Who waits too long gets 503 with Retry-After, and takes no place afterwards", async () => {
  const slots = new UploadSlots({ max: 1, patience: 5 });
  const gate = Promise.withResolvers<void>();
  const first = slots.run(() => gate.promise);
  const refused = await assertRejects(() => slots.run(() => Promise.resolve()), HttpError);
  assertEquals([refused.status, refused.headers["Retry-After"]], [503, "1"]);
  gate.resolve();
  await first;
  assertEquals(await slots.run(() => Promise.resolve("next")), "next");
});

Deno.test("A place is free again after work that failed", async () => {
  const slots = new UploadSlots({ max: 1, patience: 1000 });
  await assertRejects(() => slots.run(() => Promise.reject(new Error("broken"))), Error, "broken");
  assertEquals(await slots.run(() => Promise.resolve(1)), 1);
});
