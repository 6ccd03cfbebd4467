import { assertEquals, assertRejects } from "@std/assert";
import { Discarded } from "./discarded.ts";
import { bytes, place, testOnAll, upload } from "./test_support.ts";
import { CHUNK, MAX_PAYLOAD } from "../drive/limits.ts";

Deno.test("The sweeper is woken once so many bytes were given up", () => {
  let wakes = 0;
  const discarded = new Discarded(() => wakes++);
  for (let i = 0; i < 6; i++) discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 0);
  discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 1);
  for (let i = 0; i < 14; i++) discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 3);
});

testOnAll("Who sends and gives up again does not fill the disk meanwhile", async (bench) => {
  const wakes = Promise.withResolvers<void>();
  bench.store.sweeper.wake = wakes.resolve;
  const part = { id: await upload(bench, place("a"), [CHUNK]), part: 1, type: undefined };
  const broken = async function* () {
    yield bytes(2 * CHUNK);
    throw new Error("The sender left");
  };
  for (let i = 0; i < 7; i++) {
    const announced = MAX_PAYLOAD;
    await assertRejects(() =>
      bench.store.uploads.putPart(place("a"), { ...part, announced }, broken(), () => {})
    );
  }
  await wakes.promise;
});
