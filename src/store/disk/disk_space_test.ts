import { assert, assertEquals, assertRejects } from "@std/assert";
import { MIB } from "../../rules/units.ts";
import { freeBytesOf, volumeOf } from "./volume.ts";
import { type DiskNeeds, DiskSpace, StoreFull } from "./disk_space.ts";

const withFree = (free: number, reserve: number, needs: DiskNeeds = {}) =>
  new DiskSpace(() => Promise.resolve(free), reserve, needs);

Deno.test("Uploads get the free space beyond the reserve, at three times their size", async () => {
  const disk = withFree(64 * MIB, 40 * MIB);
  const room = await disk.reserve(7 * MIB);
  await assertRejects(() => disk.reserve(MIB), StoreFull);
  room[Symbol.dispose]();
  await assertRejects(() => disk.reserve(8 * MIB), StoreFull);
  await disk.reserve(7 * MIB);
  const full = withFree(40 * MIB - 1, 40 * MIB);
  await assertRejects(() => full.reserve(0), StoreFull);
  assertEquals(await full.isShort(0), true);
});

Deno.test("An empty upload reserves space for its records", async () => {
  const disk = withFree(MIB, 0);
  let count = 0;
  const fill = async () => {
    for (; count < 100; count++) await disk.reserve(0);
  };
  await assertRejects(fill, StoreFull);
  assertEquals(count, 5);
});

Deno.test("Reserved space stays reserved until the upload ends", async () => {
  const disk = withFree(105 * MIB, 0);
  const rooms = [await disk.reserve(14 * MIB), await disk.reserve(14 * MIB)];
  assertEquals([await disk.isShort(5 * MIB), await disk.isShort(8 * MIB)], [false, true]);
  for (let i = 0; i < 3; i++) await assertRejects(() => disk.reserve(14 * MIB), StoreFull);
  rooms[0]?.[Symbol.dispose]();
  await disk.reserve(14 * MIB);
});

Deno.test("After a refusal the disk is short until there is room for the refused upload", async () => {
  let free = 100 * MIB;
  const disk = new DiskSpace(() => Promise.resolve(free), 0);
  assertEquals(await disk.isShort(10 * MIB), false);
  await assertRejects(() => disk.reserve(60 * MIB), StoreFull);
  await assertRejects(() => disk.reserve(55 * MIB), StoreFull);
  assertEquals(await disk.isShort(10 * MIB), true);
  free = 181 * MIB;
  assertEquals(await disk.isShort(10 * MIB), false);
});

Deno.test("Bytes that are announced and never sent take no space from others", async () => {
  const disk = withFree(17 * 1024 * MIB, 0);
  for (let i = 0; i < 10; i++) await disk.reserve(5 * 1024 * MIB);
  await disk.reserve(10 * MIB);
  await assertRejects(() => disk.reserve(6 * 1024 * MIB), StoreFull);
});

/** A body of pieces of 1 MiB, each of which takes space on the disk once it is read. */
async function* body(count: number, onWritten: () => void) {
  for (let i = 0; i < count; i++) {
    yield await Promise.resolve(new Uint8Array(MIB));
    onWritten();
  }
}

Deno.test("A large body gets the space for its next bytes while it is written", async () => {
  let free = 1400 * MIB;
  const disk = new DiskSpace(() => Promise.resolve(free), 0);
  using room = await disk.reserve(400 * MIB);
  for await (const _ of room.track(body(400, () => free -= 3 * MIB))) {
    assertEquals(await disk.isShort((free - 49 * MIB) / 3), false);
    assertEquals(await disk.isShort((free - 48 * MIB) / 3), true);
  }
  assertEquals(free, 200 * MIB);
  room[Symbol.dispose]();
  assertEquals([await disk.isShort(66 * MIB), await disk.isShort(67 * MIB)], [false, true]);
});

Deno.test("A large body fails if others have taken the space for the rest of it", async () => {
  let free = 400 * MIB;
  const disk = new DiskSpace(() => Promise.resolve(free), 100 * MIB);
  using room = await disk.reserve(99 * MIB);
  let received = 0;
  const receive = async () => {
    // `isShort` measures the disk, which otherwise happens once a second.
    for await (const _ of room.track(body(99, () => free -= 6 * MIB))) {
      received++;
      await disk.isShort(0);
    }
  };
  await assertRejects(receive, StoreFull);
  assertEquals([received, free], [48, 112 * MIB]);
});

Deno.test("The growth of the store's file and the missing ballast stay free", async () => {
  let growth = 50 * MIB;
  let missing = 16 * MIB;
  let held = 0;
  const ballast = {
    missing: () => Promise.resolve(missing),
    growthHeld: () => Promise.resolve(held),
  };
  const disk = withFree(100 * MIB, 20 * MIB, { growth: () => growth, ballast });
  await disk.reserve(4 * MIB);
  assertEquals(await disk.isShort(0), false);
  await assertRejects(() => disk.reserve(MIB), StoreFull);
  held = 10 * MIB;
  await disk.reserve(3 * MIB);
  growth = 0;
  missing = 0;
  await disk.reserve(19 * MIB);
  await assertRejects(() => disk.reserve(4 * MIB), StoreFull);
});

Deno.test("An unknown disk has room for everything", async () => {
  const disk = new DiskSpace(() => Promise.resolve(undefined), 10 ** 12);
  await disk.reserve(10 ** 12);
  assertEquals(await disk.isShort(10 ** 12), false);
});

Deno.test("The system reports the free space of a folder's disk", async () => {
  const free = await freeBytesOf(".")();
  assert(free !== undefined && free > 0);
  const volume = await volumeOf(".")();
  assert(volume !== undefined && volume.free > 0 && volume.free <= volume.total);
});

Deno.test("Uploads that arrive at the same time share one measurement", async () => {
  let measured = 0;
  const free = async () => {
    await Promise.resolve(measured++);
    return 150 * MIB;
  };
  const disk = new DiskSpace(free, 0);
  await Promise.all(Array.from({ length: 64 }, () => disk.reserve(0)));
  assertEquals(measured, 1);
  // Together they do not get more than there is.
  const rest = await Promise.allSettled([1, 2, 3].map(() => disk.reserve(20 * MIB)));
  assertEquals(rest.map(({ status }) => status), ["fulfilled", "fulfilled", "rejected"]);
});
