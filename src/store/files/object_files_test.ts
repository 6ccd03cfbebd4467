import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import type { ObjectChecksum, ObjectMetadata } from "../engine/records.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { ANYWAY, bytes, inPieces, place } from "../testing/bodies.ts";
import { assertKeys } from "../testing/entries.ts";
import { put, read, recordOf } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import type { WriteCondition } from "./file_record.ts";

const MD5 = "0123456789abcdef0123456789abcdef";
const CHECKSUM: ObjectChecksum = { algorithm: "CRC32", value: "AAAAAA==", type: "FULL_OBJECT" };
const OBJECT: ObjectMetadata = {
  headers: { "cache-control": "no-cache" },
  user: { colour: "red" },
};

/** Stores a file as an S3 client does. */
async function putObject({ store }: TestStore, name: string, data: Uint8Array): Promise<void> {
  const accept = () => ({ md5Tag: MD5, checksum: CHECKSUM });
  const outcome = await store.files.put(place(name), inPieces(data), {
    ...{ ...ANYWAY, object: OBJECT, accept },
    announced: data.byteLength,
  });
  assert(outcome !== "refused");
}

async function tagsOf(bench: TestStore, name: string): Promise<unknown[]> {
  const { md5Tag, checksum, object } = await recordOf(bench, name);
  return [md5Tag, checksum, object];
}

testOnAll(
  "A file keeps what an S3 client has said about it until it is written again",
  async (bench) => {
    for (const size of [10, 3 * CHUNK_SIZE]) {
      await putObject(bench, "a", bytes(size));
      assertEquals(await tagsOf(bench, "a"), [MD5, CHECKSUM, OBJECT]);
      await put(bench, "a", bytes(size));
      assertEquals(await tagsOf(bench, "a"), [undefined, undefined, undefined]);
    }
  },
);

testOnAll("Copies, moves and the trash keep what an S3 client has said", async (bench) => {
  const { copies } = bench.store.files;
  await putObject(bench, "a", bytes(10));
  const always = { overwrite: false, condition: () => true };
  await copies.run("copy", { from: place("a"), to: place("b"), ...always });
  await copies.run("move", { from: place("a"), to: place("c"), ...always });
  assertEquals(await tagsOf(bench, "b"), [MD5, CHECKSUM, OBJECT]);
  assertEquals(await tagsOf(bench, "c"), [MD5, CHECKSUM, OBJECT]);
});

testOnAll("Conditions see the tag that S3 clients know", async (bench) => {
  const { files } = bench.store;
  const has = (tag: string | undefined): WriteCondition => (current) => current?.tag === tag;
  await put(bench, "a", bytes(1));
  assertEquals(await files.delete(place("a"), has(MD5)), "refused");
  await putObject(bench, "a", bytes(1));
  assertEquals(await files.delete(place("a"), has(undefined)), "refused");
  assertEquals(await files.delete(place("a"), has(MD5)), true);
  assertEquals(await files.delete(place("a"), has(MD5)), false);
});

testOnAll("A body may be as large as its caller says", async (bench) => {
  const data = bytes(MAX_PAYLOAD + 2 * CHUNK_SIZE + 1);
  const { files } = bench.store;
  const large = { ...ANYWAY, maxSize: 2 * MAX_PAYLOAD };
  await files.put(place("a"), inPieces(data), large);
  assertEquals(await read(bench, "a"), data);
  await assertRejects(() => files.put(place("b"), inPieces(data), ANYWAY), RangeError, "more than");
  await sweepLater(bench);
  await assertKeys(bench, { file: 1, chunk: 163, "usage files": 1, "usage bytes": 1 });
  await files.delete(place("a"));
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});
