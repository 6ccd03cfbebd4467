import { assert, assertEquals } from "@std/assert";
import { CHUNK_SIZE } from "../engine/records.ts";
import { chunkCount, cutIntoChunks } from "./chunks.ts";

/** Returns bytes that differ at every position that a defect could take them from. */
function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  for (let i = 0; i < size; i++) all[i] = (i * 31 + (i >> 8)) % 251;
  return all;
}

async function* piecesOf(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const all = bytesOf(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const size of sizes) yield await Promise.resolve(all.subarray(at, at += size));
}

Deno.test("All chunks but the last have the full size, for any sizes of pieces", async () => {
  const cases: readonly (readonly number[])[] = [
    [],
    [0],
    [0, 0, 0],
    [1],
    [CHUNK_SIZE - 1],
    [CHUNK_SIZE],
    [CHUNK_SIZE + 1],
    [2 * CHUNK_SIZE],
    [3 * CHUNK_SIZE + 5],
    [CHUNK_SIZE - 1, 1],
    [CHUNK_SIZE - 1, 1, 1],
    [CHUNK_SIZE, CHUNK_SIZE],
    [1, CHUNK_SIZE],
    [1, 2 * CHUNK_SIZE, 1],
    [CHUNK_SIZE - 1, 0, 2, CHUNK_SIZE],
    [0, CHUNK_SIZE, 0],
    Array.from({ length: 200 }, () => 997),
    Array.from({ length: 3 }, () => 40_000),
  ];
  for (const sizes of cases) {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    // The announced size only determines the size of buffers.
    for (const announced of [undefined, total, 0, 10, 2 * total + 3]) {
      const chunks = await Array.fromAsync(cutIntoChunks(piecesOf(sizes), announced));
      const about = `${sizes.slice(0, 5).join(" ")} announced as ${announced}`;
      assertEquals(chunks.length, chunkCount(total), about);
      for (const chunk of chunks.slice(0, -1)) assertEquals(chunk.byteLength, CHUNK_SIZE, about);
      const joined = new Uint8Array(await new Blob(chunks).arrayBuffer());
      assertEquals(joined.byteLength, total, about);
      assert(joined.every((byte, i) => byte === (i * 31 + (i >> 8)) % 251), about);
      for (const chunk of chunks) {
        assertEquals([chunk.byteOffset, chunk.buffer.byteLength], [0, chunk.byteLength], about);
      }
    }
  }
});

Deno.test("A piece is copied before the next one is requested", async () => {
  const size = CHUNK_SIZE + 1000;
  async function* body(): AsyncGenerator<Uint8Array> {
    const piece = new Uint8Array(1);
    for (const byte of bytesOf(size)) {
      piece[0] = byte;
      yield await Promise.resolve(piece);
    }
  }
  for (const announced of [undefined, size]) {
    const chunks = await Array.fromAsync(cutIntoChunks(body(), announced));
    assertEquals(new Uint8Array(await new Blob(chunks).arrayBuffer()), bytesOf(size));
  }
});

Deno.test("A chunk has a buffer of its own", async () => {
  const source = bytesOf(CHUNK_SIZE + 10);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(source.subarray(0, CHUNK_SIZE));
    yield source.subarray(CHUNK_SIZE);
  }
  const chunks = await Array.fromAsync(cutIntoChunks(body()));
  const before = chunks.map((chunk) => chunk.slice());
  source.fill(0);
  assertEquals(chunks, before);
  for (const chunk of chunks) {
    assertEquals([chunk.byteOffset, chunk.buffer.byteLength], [0, chunk.byteLength]);
  }
});

Deno.test("The body is read as far as necessary and ended by a reader that stops", async () => {
  let read = 0;
  let ended = false;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        read++;
        yield await Promise.resolve(new Uint8Array(CHUNK_SIZE / 2));
      }
    } finally {
      ended = true;
    }
  }
  for await (const _ of cutIntoChunks(body())) break;
  assertEquals([read, ended], [2, true]);
});

Deno.test("The number of chunks is the size divided by the chunk size, rounded up", () => {
  const cases = [[0, 0], [1, 1], [CHUNK_SIZE, 1], [CHUNK_SIZE + 1, 2], [
    70 * 2 ** 20,
    1120,
  ]] as const;
  for (const [size, count] of cases) assertEquals(chunkCount(size), count);
});
