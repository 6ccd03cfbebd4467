import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { HttpError } from "../../http/http_error.ts";
import { Query } from "../../http/request_target.ts";
import { type Database, openMemoryDatabase } from "../../store/engine/database.ts";
import { StoreDamaged } from "../../store/engine/errors.ts";
import { keys } from "../../store/engine/keys.ts";
import { Operation } from "../../store/engine/operation.ts";
import {
  bytesVersion,
  CHUNK_SIZE,
  type FileRecord,
  type Place,
} from "../../store/engine/records.ts";
import { GARBAGE_GRACE } from "../../store/bytes/garbage.ts";
import { READ_BATCH } from "../../store/bytes/read_ahead.ts";
import { Store } from "../../store/store.ts";
import { driveCall, testDeps } from "../test_support.ts";
import { download } from "./download_file.ts";

const PLACE: Place = { project: "p", drive: "d", name: "a.bin" };
const SIZE = 20 * CHUNK_SIZE;

/** A server with one file of several chunks. */
interface Scene {
  db: Database;
  store: Store;
  record: FileRecord;
  failures: unknown[];
  download(method: string, headers: Record<string, string>): Promise<Response>;
}

async function put(store: Store, byte: number, size = SIZE): Promise<FileRecord> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new Uint8Array(size).fill(byte));
  }
  const record = await store.files.put(PLACE, body(), {
    type: "text/plain",
    condition: () => true,
    accept: () => {},
  });
  if (record === "refused") throw new Error("There is no condition");
  return record;
}

async function withFile(test: (scene: Scene) => Promise<void>): Promise<void> {
  const db = await openMemoryDatabase();
  const store = new Store(db, { onError: () => {} });
  const failures: unknown[] = [];
  const deps = await testDeps(store, { onError: (...failure) => void failures.push(failure) });
  const send = async (method: string, headers: Record<string, string>) => {
    const request = new Request("http://kv.example/", { method, headers });
    const call = driveCall(request, { ...PLACE, query: new Query("name=a.bin") });
    return await download(call, deps);
  };
  try {
    await store.projects.create(PLACE.project, undefined);
    await test({ db, store, record: await put(store, 1), failures, download: send });
  } finally {
    await store.close();
  }
}

/** The number of chunks after a sweep. */
async function chunksAfterSweep({ db, store }: Scene): Promise<number> {
  await store.sweeper.sweep(Date.now() + GARBAGE_GRACE + 1);
  return (await Array.fromAsync(db.reader.list({ prefix: ["chunk"] }))).length;
}

Deno.test("a download releases an earlier version, however it ends", async () => {
  const cases = [
    ["HEAD", {}, 200],
    ["GET", { "if-none-match": "*" }, 304],
    ["GET", { "if-match": '"other"' }, 412],
    ["GET", { "range": `bytes=${SIZE}-` }, 416],
    ["GET", {}, 200],
    ["GET", { "range": "bytes=5-" }, 206],
  ] as const;
  for (const [method, headers, status] of cases) {
    await withFile(async (scene) => {
      const response = await scene.download(method, headers).catch((error: unknown) => {
        assertInstanceOf(error, HttpError);
        return error;
      });
      assertEquals(response.status, status);
      if (response instanceof Response) await response.body?.cancel();
      await put(scene.store, 2);
      assertEquals(await chunksAfterSweep(scene), SIZE / CHUNK_SIZE);
      assertEquals(scene.failures, []);
    });
  }
});

Deno.test("a download that has started gets its version to the end", async () => {
  await withFile(async (scene) => {
    const { body } = await scene.download("GET", {});
    const reader = body?.getReader();
    let size = (await reader?.read())?.value?.byteLength ?? 0;
    await put(scene.store, 2);
    assertEquals(await chunksAfterSweep(scene), 2 * SIZE / CHUNK_SIZE);
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
      assertEquals(next.value, new Uint8Array(CHUNK_SIZE).fill(1));
      size += next.value.byteLength;
    }
    assertEquals([size, await chunksAfterSweep(scene)], [SIZE, SIZE / CHUNK_SIZE]);
  });
});

/** Removes a chunk of a file directly from the database. */
async function loseChunk({ db }: Scene, record: FileRecord, index: number): Promise<void> {
  await db.commit(new Operation().delete(keys.chunk(bytesVersion(record), index)));
}

Deno.test("missing bytes abort the answer, and are reported once", async () => {
  await withFile(async (scene) => {
    const { failures, download } = scene;
    const size = (READ_BATCH + 9) * CHUNK_SIZE;
    await loseChunk(scene, await put(scene.store, 3, size), READ_BATCH + 5);
    const response = await download("GET", {});
    assertEquals(response.headers.get("content-length"), String(size));
    await assertRejects(() => response.bytes(), Error, "could not be read");
    assertEquals(failures.length, 1);
    const [error, requestId] = failures[0] as unknown[];
    assertInstanceOf(error, StoreDamaged);
    assertEquals(requestId, "r1");
    await put(scene.store, 2);
    assertEquals(await chunksAfterSweep(scene), SIZE / CHUNK_SIZE);
  });
});

Deno.test("bytes missing at the start are an error before the answer", async () => {
  await withFile(async (scene) => {
    await loseChunk(scene, scene.record, 0);
    await assertRejects(() => scene.download("GET", {}), StoreDamaged, "chunk 0 of 20 is missing");
    await put(scene.store, 2);
    assertEquals(await chunksAfterSweep(scene), SIZE / CHUNK_SIZE);
  });
});
