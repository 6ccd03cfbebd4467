import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { MemoryPart } from "../engine/memory_budget.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { READ_BATCH, ReadAhead } from "./read_ahead.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** A file with a number of pieces that records which of them were read. */
class TestFile {
  readonly asked: [from: number, to: number][] = [];

  constructor(readonly count: number, readonly missing = Infinity) {}

  readonly read = async (from: number, to: number): Promise<Piece[]> => {
    this.asked.push([from, to]);
    await Promise.resolve();
    if (to > this.missing) throw new Error("A piece is missing");
    return Array.from({ length: to - from }, (_, i) => Uint8Array.of(from + i));
  };

  pieces(ahead: ReadAhead): AsyncGenerator<Piece> {
    return ahead.read(0, this.count, { read: this.read, prepare: (piece) => piece });
  }
}

function memoryOf(pieces: number): MemoryPart {
  return new MemoryPart("downloads", pieces * CHUNK_SIZE, 0);
}

async function takeAll(pieces: AsyncIterable<Piece>): Promise<number[]> {
  const taken: number[] = [];
  for await (const piece of pieces) taken.push(piece[0] ?? -1);
  return taken;
}

Deno.test("Nothing is read ahead before the first piece is taken", async () => {
  const memory = memoryOf(1000);
  using ahead = await ReadAhead.open(memory, "p");
  const file = new TestFile(100);
  const pieces = file.pieces(ahead);
  assertEquals(file.asked, []);
  await pieces.next();
  await delay(5);
  assertEquals(file.asked, [[0, 1]]);
  assertEquals(memory.used, CHUNK_SIZE);
  await pieces.next();
  assertEquals(file.asked, [[0, 1], [1, 17]]);
  await pieces.return(undefined);
});

Deno.test("A steady reader gets all pieces in order, in batches after the first piece", async () => {
  const memory = memoryOf(1000);
  using ahead = await ReadAhead.open(memory, "p");
  const file = new TestFile(200);
  assertEquals(await takeAll(file.pieces(ahead)), Array.from({ length: 200 }, (_, i) => i));
  const sizes = file.asked.map(([from, to]) => to - from);
  assertEquals(sizes, [1, ...Array(12).fill(READ_BATCH), 7]);
  assertEquals(memory.used, CHUNK_SIZE);
});

Deno.test("With little memory batches shrink down to one piece and never exceed the budget", async () => {
  for (const pieces of [1, 2, 3, 7, 20]) {
    const memory = memoryOf(pieces);
    const file = new TestFile(50);
    {
      using ahead = await ReadAhead.open(memory, "p");
      let given = 0;
      for await (const piece of file.pieces(ahead)) {
        assertEquals(piece[0], given++);
        assert(memory.used <= memory.limit);
      }
      assertEquals(given, 50);
    }
    assertEquals(memory.used, 0);
    const largest = Math.max(...file.asked.map(([from, to]) => to - from));
    assert(largest <= Math.max(1, pieces / 2), `${largest} of ${pieces}`);
  }
});

Deno.test("A stalled reader loses the pieces that were read ahead and continues where it was", async () => {
  const memory = memoryOf(1000);
  using ahead = await ReadAhead.open(memory, "p");
  const file = new TestFile(100);
  const pieces = file.pieces(ahead);
  const taken: number[] = [];
  const take = async () => taken.push((await pieces.next()).value?.[0] ?? -1);
  for (let i = 0; i < 10; i++) await take();
  assert(memory.used > 4 * CHUNK_SIZE);
  ahead.dropIfStalled();
  assert(memory.used > 4 * CHUNK_SIZE, "It has taken pieces since the last check");
  ahead.dropIfStalled();
  await delay(0);
  assertEquals(memory.used, CHUNK_SIZE);
  while (taken.length < 100) await take();
  assertEquals(taken, Array.from({ length: 100 }, (_, i) => i));
  assertEquals((await pieces.next()).done, true);
});

Deno.test("Readers with pieces in memory are checked for stalls by a timer", async () => {
  const memory = memoryOf(1000);
  using ahead = await ReadAhead.open(memory, "p");
  const pieces = new TestFile(100).pieces(ahead);
  for (let i = 0; i < 10; i++) await pieces.next();
  assert(memory.used > CHUNK_SIZE);
  const deadline = performance.now() + 30_000;
  while (memory.used > CHUNK_SIZE && performance.now() < deadline) await delay(50);
  assertEquals(memory.used, CHUNK_SIZE);
  await pieces.return(undefined);
});

Deno.test("Stalled readers of one project leave memory for those of another", async () => {
  const memory = memoryOf(100);
  const stalled: ReadAhead[] = [];
  for (let i = 0; i < 50; i++) stalled.push(await ReadAhead.open(memory, "hostile"));
  await assertRejects(() => ReadAhead.open(memory, "hostile"));
  using ahead = await ReadAhead.open(memory, "other");
  const file = new TestFile(40);
  assertEquals((await takeAll(file.pieces(ahead))).length, 40);
  assert(file.asked.some(([from, to]) => to - from > 8));
  for (const reader of stalled) reader[Symbol.dispose]();
  assertEquals(memory.used, CHUNK_SIZE);
});

Deno.test("A failure follows the pieces before it, and the memory is released", async () => {
  for (const missing of [0, 1, 2, 10, 30]) {
    const memory = memoryOf(1000);
    {
      using ahead = await ReadAhead.open(memory, "p");
      const file = new TestFile(100, missing);
      await assertRejects(() => takeAll(file.pieces(ahead)), Error, "missing");
      assertEquals(memory.used, CHUNK_SIZE);
    }
    assertEquals(memory.used, 0);
  }
});

Deno.test("A reader that stops releases its memory", async () => {
  const memory = memoryOf(1000);
  for (const count of [0, 1, 2, 5, 40]) {
    const ahead = await ReadAhead.open(memory, "p");
    const pieces = new TestFile(100).pieces(ahead);
    for (let i = 0; i < count; i++) await pieces.next();
    ahead[Symbol.dispose]();
    await pieces.return(undefined);
    await delay(0);
    assertEquals(memory.used, 0);
  }
});
