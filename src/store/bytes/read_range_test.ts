import { assert, assertEquals, assertRejects } from "@std/assert";
import { equals } from "@std/bytes/equals";
import type { ByteRange } from "../../rules/byte_range.ts";
import { StoreDamaged } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { MemoryPart } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import {
  CHUNK_SIZE,
  type FileRecord,
  type Layout,
  type PartRecord,
  type Place,
} from "../engine/records.ts";
import { ReadQueue } from "../reads/read_queue.ts";
import { withKv } from "../testing/stores.ts";
import { ChunkCache } from "./chunk_cache.ts";
import { type ChecksumPage, ChecksumWriter, digest } from "./checksums.ts";
import { cutIntoChunks } from "./chunks.ts";
import { PARTS_PER_PAGE, setManifest } from "./manifest.ts";
import { ReadAhead } from "./read_ahead.ts";
import { readRange } from "./read_range.ts";

const PLACE: Place = { project: "p", drive: "d", name: "a.bin" };

type Bytes = Uint8Array<ArrayBuffer>;

function bytesOf(size: number): Bytes {
  const all = new Uint8Array(size);
  for (let i = 0; i < size; i++) all[i] = (i * 31 + (i >> 8)) % 251;
  return all;
}

/** Pieces that a reader may have in memory, so that batches have different sizes. */
const BATCH = 8;

/** Reads with memory for a few pieces. */
async function* readWithLittleMemory(
  kv: Deno.Kv,
  record: FileRecord,
  range: ByteRange,
  content?: Bytes,
): AsyncGenerator<Bytes> {
  const memory = new MemoryPart("downloads", 2 * BATCH * CHUNK_SIZE, 0);
  using ahead = await ReadAhead.open(memory, "p");
  yield* readRange(
    { reader: kv, bytes: { reader: kv, reads: new ReadQueue(kv) }, ahead },
    PLACE,
    record,
    content,
    range,
  );
}

function recordOf(size: number, layout: Layout): FileRecord {
  return { version: "v1", size, type: "text/plain", created: 0, modified: 0, layout };
}

async function setChunks(kv: Deno.Kv, version: string, bytes: Bytes): Promise<void> {
  let index = 0;
  async function* body(): AsyncGenerator<Bytes> {
    yield await Promise.resolve(bytes);
  }
  const checksums = new ChecksumWriter();
  const setPage = async (page: ChecksumPage | undefined) => {
    if (page) await kv.set(keys.checksums(version, page.number), page.value);
  };
  for await (const chunk of cutIntoChunks(body())) {
    await kv.set(keys.chunk(version, index++), chunk);
    await setPage(checksums.add(chunk));
  }
  await setPage(checksums.finish(digest(bytes)));
}

/** Stores a file in the chunks of one version. */
async function chunkedFile(kv: Deno.Kv, bytes: Bytes): Promise<FileRecord> {
  await setChunks(kv, "c1", bytes);
  return { ...recordOf(bytes.byteLength, { kind: "chunks" }), bytes: "c1" };
}

/** Stores a file in parts of these sizes. */
async function fileOfParts(
  kv: Deno.Kv,
  bytes: Bytes,
  sizes: readonly number[],
): Promise<FileRecord> {
  const parts: PartRecord[] = [];
  let start = 0;
  for (const size of sizes) {
    const version = `part${String(parts.length).padStart(6, "0")}`;
    await setChunks(kv, version, bytes.slice(start, start += size));
    parts.push({ version, size, sha256: "" });
  }
  const operation = new Operation();
  setManifest(operation, "v1", parts);
  await operation.commit(kv);
  return recordOf(start, { kind: "manifest", parts: parts.length });
}

async function read(kv: Deno.Kv, record: FileRecord, range: ByteRange): Promise<Bytes> {
  const pieces = await Array.fromAsync(readWithLittleMemory(kv, record, range));
  for (const piece of pieces) assert(piece.byteLength <= CHUNK_SIZE);
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Asserts that every range between the positions has the right bytes. */
async function assertRanges(
  kv: Deno.Kv,
  record: FileRecord,
  bytes: Bytes,
  positions: readonly number[],
): Promise<void> {
  const within = [...new Set(positions)].filter((at) => at >= 0 && at <= bytes.byteLength);
  for (const start of within) {
    for (const end of within.filter((at) => at > start)) {
      const found = await read(kv, record, { start, end });
      const wanted = bytes.subarray(start, end);
      assert(equals(found, wanted), `${start} to ${end}`);
    }
  }
}

Deno.test("Any range of a file in chunks is read correctly", async () => {
  const sizes = [
    1,
    CHUNK_SIZE - 1,
    CHUNK_SIZE,
    CHUNK_SIZE + 1,
    2 * CHUNK_SIZE,
    (BATCH + 1) * CHUNK_SIZE + 5,
  ];
  for (const size of sizes) {
    await withKv(async (kv) => {
      const bytes = bytesOf(size);
      const record = await chunkedFile(kv, bytes);
      const edges = [
        0,
        1,
        CHUNK_SIZE - 1,
        CHUNK_SIZE,
        CHUNK_SIZE + 1,
        BATCH * CHUNK_SIZE,
        size - 1,
        size,
      ];
      await assertRanges(kv, record, bytes, edges);
    });
  }
});

Deno.test("Any range of a file of parts is read correctly", async () => {
  const cases: readonly (readonly number[])[] = [
    [1, 1],
    [CHUNK_SIZE, CHUNK_SIZE],
    [CHUNK_SIZE + 1, 2 * CHUNK_SIZE - 1, 7],
    [3, CHUNK_SIZE, 0],
    Array.from({ length: 40 }, (_, i) => i % 3 + 1),
  ];
  for (const sizes of cases) {
    await withKv(async (kv) => {
      const bytes = bytesOf(sizes.reduce((sum, size) => sum + size, 0));
      const record = await fileOfParts(kv, bytes, sizes);
      let at = 0;
      const edges = sizes.slice(0, 5).flatMap((size) => [at, at + 1, (at += size) - 1]);
      await assertRanges(kv, record, bytes, [...edges, record.size - 1, record.size]);
    });
  }
});

Deno.test("A range spans several pages of a manifest", async () => {
  await withKv(async (kv) => {
    const sizes = Array.from({ length: 2 * PARTS_PER_PAGE + 3 }, (_, i) => i % 3 + 1);
    const bytes = bytesOf(sizes.reduce((sum, size) => sum + size, 0));
    const record = await fileOfParts(kv, bytes, sizes);
    const page = sizes.slice(0, PARTS_PER_PAGE).reduce((sum, size) => sum + size, 0);
    await assertRanges(kv, record, bytes, [0, page - 1, page, page + 1, 2 * page, record.size]);
  });
});

Deno.test("A file in one value and an empty file are read correctly", async () => {
  await withKv(async (kv) => {
    const bytes = bytesOf(100);
    const inline = recordOf(100, { kind: "inline" });
    const pieces = readWithLittleMemory(kv, inline, { start: 3, end: 7 }, bytes);
    assertEquals(await Array.fromAsync(pieces), [bytes.subarray(3, 7)]);
    for (const kind of ["inline", "chunks"] as const) {
      const record = recordOf(0, { kind });
      assertEquals(await read(kv, record, { start: 0, end: 0 }), new Uint8Array());
    }
  });
});

Deno.test("The bytes before a missing or damaged chunk are read, and none after it", async () => {
  const size = 20 * CHUNK_SIZE + 9;
  const damages: readonly (readonly [index: number, value: Uint8Array | undefined])[] = [
    [0, undefined],
    [5, undefined],
    [BATCH, undefined],
    [20, undefined],
    [3, new Uint8Array()],
    [3, new Uint8Array(CHUNK_SIZE - 1)],
    [20, new Uint8Array(8)],
    [20, new Uint8Array(10)],
  ];
  for (const [index, value] of damages) {
    await withKv(async (kv) => {
      const bytes = bytesOf(size);
      const record = await chunkedFile(kv, bytes);
      const key = keys.chunk("c1", index);
      await (value === undefined ? kv.delete(key) : kv.set(key, value));
      let given = 0;
      const readAll = async () => {
        for await (
          const piece of readWithLittleMemory(kv, record, { start: 0, end: size })
        ) {
          assert(piece.every((byte, i) => byte === bytes[given + i]));
          given += piece.byteLength;
        }
      };
      await assertRejects(readAll, StoreDamaged, "a.bin");
      assert(given <= index * CHUNK_SIZE, `${given} bytes in front of chunk ${index}`);
      if (index > 5) await assertRanges(kv, record, bytes, [0, 1, 5 * CHUNK_SIZE]);
    });
  }
});

Deno.test("A damaged chunk is never kept for other downloads", async () => {
  await withKv(async (kv) => {
    const record = await chunkedFile(kv, bytesOf(3 * CHUNK_SIZE));
    await kv.set(keys.chunk("c1", 2), new Uint8Array(CHUNK_SIZE));
    const cache = new ChunkCache({ limit: 10 * CHUNK_SIZE, used: 0 });
    const range = { start: 0, end: record.size };
    for (let i = 0; i < 4; i++) {
      using ahead = await ReadAhead.open(new MemoryPart("downloads", 2 ** 20, 0), "p");
      const bytes = { reader: kv, reads: new ReadQueue(kv) };
      const source = { reader: kv, bytes, cache, ahead };
      const pieces = readRange(source, PLACE, record, undefined, range);
      await assertRejects(() => Array.fromAsync(pieces), StoreDamaged, "chunk 2");
    }
    assertEquals(cache.open("c1", record.size)?.get(1)?.byteLength, CHUNK_SIZE);
    assertEquals(cache.open("c1", record.size)?.get(2), undefined);
  });
});

Deno.test("A file with a missing part or page of the manifest is reported as damaged", async () => {
  const missing = [
    keys.chunk("part000001", 0),
    keys.chunk("part000500", 0),
    keys.manifestPage("v1", 0),
    keys.manifestPage("v1", 2 * PARTS_PER_PAGE),
  ];
  for (const key of missing) {
    await withKv(async (kv) => {
      const sizes = Array.from({ length: PARTS_PER_PAGE + 3 }, () => 2);
      const record = await fileOfParts(kv, bytesOf(2 * sizes.length), sizes);
      await kv.delete(key);
      await assertRejects(() => read(kv, record, { start: 0, end: record.size }), StoreDamaged);
    });
  }
});

Deno.test("A reader that stops early leaves nothing behind", async () => {
  await withKv(async (kv) => {
    const bytes = bytesOf((3 * BATCH) * CHUNK_SIZE);
    const record = await chunkedFile(kv, bytes);
    await kv.delete(keys.chunk("c1", BATCH + 1));
    for await (
      const piece of readWithLittleMemory(kv, record, { start: 5, end: bytes.byteLength })
    ) {
      assertEquals(piece, bytes.subarray(5, CHUNK_SIZE));
      break;
    }
  });
});
