import { assert, assertEquals } from "@std/assert";
import type { CacheMemory } from "../engine/memory_budget.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { withClock } from "../testing/time.ts";
import { type CachedChunks, ChunkCache, DISPLACED_AFTER } from "./chunk_cache.ts";

type Piece = Uint8Array<ArrayBuffer>;

function memoryFor(chunks: number): CacheMemory {
  return { limit: chunks * CHUNK_SIZE, used: 0 };
}

function chunkOf(byte: number): Piece {
  return new Uint8Array(CHUNK_SIZE).fill(byte);
}

/** Downloads a version twice, and offers its chunks the second time. */
function downloadTwice(cache: ChunkCache, version: string, chunks: number): CachedChunks {
  assertEquals(cache.open(version, chunks * CHUNK_SIZE), undefined);
  const cached = cache.open(version, chunks * CHUNK_SIZE);
  assert(cached !== undefined);
  for (let index = 0; index < chunks; index++) cached.keep(index, chunkOf(index));
  return cached;
}

Deno.test("Chunks are kept from the second download of a version on", () => {
  const memory = memoryFor(10);
  const cache = new ChunkCache(memory);
  downloadTwice(cache, "a", 3);
  const cached = cache.open("a", 3 * CHUNK_SIZE);
  assertEquals([0, 1, 2, 3].map((index) => cached?.get(index)?.[0]), [0, 1, 2, undefined]);
  assertEquals(memory.used, 3 * CHUNK_SIZE);
  cached?.keep(0, chunkOf(7));
  assertEquals([cached?.get(0)?.[0], memory.used], [0, 3 * CHUNK_SIZE]);
});

Deno.test("Only kept chunks are shared with other downloads", () => {
  const cache = new ChunkCache(memoryFor(10));
  const cached = downloadTwice(cache, "a", 1);
  const kept = cached.get(0);
  assert(kept !== undefined);
  assertEquals([cache.isShared(kept), cache.isShared(chunkOf(0))], [true, false]);
  assertEquals(cache.isShared(kept.subarray(5, 7)), true);
});

Deno.test("A version larger than half of the cache is not kept", () => {
  const cache = new ChunkCache(memoryFor(10));
  for (let i = 0; i < 3; i++) assertEquals(cache.open("a", 6 * CHUNK_SIZE), undefined);
  downloadTwice(cache, "b", 5);
});

Deno.test("Versions that are still downloaded are not displaced, and the memory is never exceeded", async () => {
  await withClock(async (forward) => {
    const memory = memoryFor(10);
    const cache = new ChunkCache(memory);
    const first = downloadTwice(cache, "a", 5);
    forward(DISPLACED_AFTER / 2);
    const second = downloadTwice(cache, "b", 3);
    const third = downloadTwice(cache, "c", 5);
    assertEquals([third.get(1)?.[0], third.get(2)], [1, undefined]);
    assertEquals(memory.used, memory.limit);
    forward(DISPLACED_AFTER / 2);
    third.keep(2, chunkOf(2));
    assertEquals([first.get(0), second.get(0)?.[0], third.get(2)?.[0]], [undefined, 0, 2]);
    assertEquals(memory.used, 6 * CHUNK_SIZE);
    // A reader of a displaced version goes on and keeps nothing.
    first.keep(0, chunkOf(0));
    assertEquals([first.get(0), memory.used], [undefined, 6 * CHUNK_SIZE]);
    return await Promise.resolve();
  });
});

Deno.test("The number of versions is bounded", () => {
  const memory = memoryFor(10);
  const cache = new ChunkCache(memory);
  let open = 0;
  for (let i = 0; i < 5000; i++) {
    for (let downloads = 0; downloads < 2; downloads++) {
      if (cache.open(`v${i}`, CHUNK_SIZE) !== undefined) open++;
    }
  }
  assertEquals(open, 1001);
});
