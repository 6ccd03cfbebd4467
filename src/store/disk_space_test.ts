import { assert, assertEquals, assertRejects } from "@std/assert";
import { DiskSpace, freeBytesOf } from "./disk_space.ts";
import { StoreFull } from "./errors.ts";

Deno.test("Uploads get what is free but the reserve, twice their size for the log", async () => {
  let free = 1000;
  const disk = new DiskSpace(() => Promise.resolve(free), 400);
  await disk.demand(300);
  await assertRejects(() => disk.demand(301), StoreFull);
  free = 1200;
  await disk.demand(301);
  const full = new DiskSpace(() => Promise.resolve(399), 400);
  await assertRejects(() => full.demand(0), StoreFull);
  assertEquals(await full.isShort(0), true);
});

Deno.test("Many at once don't share the same room", async () => {
  const answers = [1000, 400, 0];
  const disk = new DiskSpace(() => Promise.resolve(answers.shift()), 0);
  const outcomes = [];
  for (let i = 0; i < 4; i++) {
    outcomes.push(await disk.demand(200).then(() => "room", () => "full"));
  }
  assertEquals(outcomes, ["room", "room", "room", "full"]);
});

Deno.test("Where nothing is known of the disk there is room", async () => {
  const disk = new DiskSpace(() => Promise.resolve(undefined), 10 ** 12);
  await disk.demand(10 ** 12);
  assertEquals(await disk.isShort(10 ** 12), false);
});

Deno.test("The system tells what is free in a folder", async () => {
  const free = await freeBytesOf(".")();
  assert(free !== undefined && free > 0);
});
