import { assert, assertEquals, assertRejects } from "@std/assert";
import { DiskSpace, freeBytesOf, volumeOf } from "./disk_space.ts";
import { StoreFull } from "./errors.ts";

Deno.test("Uploads get what is free but the reserve, twice their size for the log", async () => {
  const disk = new DiskSpace(() => Promise.resolve(1000), 400);
  const room = await disk.demand(300);
  await assertRejects(() => disk.demand(1), StoreFull);
  room[Symbol.dispose]();
  await assertRejects(() => disk.demand(301), StoreFull);
  await disk.demand(300);
  const full = new DiskSpace(() => Promise.resolve(399), 400);
  await assertRejects(() => full.demand(0), StoreFull);
  assertEquals(await full.isShort(0), true);
});

Deno.test("What was promised is kept free until the upload ends, however long it takes", async () => {
  const disk = new DiskSpace(() => Promise.resolve(1000), 0);
  const rooms = [await disk.demand(200), await disk.demand(200)];
  for (let i = 0; i < 3; i++) await assertRejects(() => disk.demand(200), StoreFull);
  assertEquals([await disk.isShort(50), await disk.isShort(101)], [false, true]);
  rooms[0]?.[Symbol.dispose]();
  await disk.demand(200);
});

Deno.test("Where nothing is known of the disk there is room", async () => {
  const disk = new DiskSpace(() => Promise.resolve(undefined), 10 ** 12);
  await disk.demand(10 ** 12);
  assertEquals(await disk.isShort(10 ** 12), false);
});

Deno.test("The system tells what is free in a folder", async () => {
  const free = await freeBytesOf(".")();
  assert(free !== undefined && free > 0);
  const volume = await volumeOf(".")();
  assert(volume !== undefined && volume.free > 0 && volume.free <= volume.total);
});
