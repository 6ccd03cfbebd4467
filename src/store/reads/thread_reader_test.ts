import { assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { DatabaseSync } from "node:sqlite";
import { withFolder } from "../testing/stores.ts";
import { encodeKey } from "./kv_encoding.ts";
import { hasAny, readNames } from "./read_queue.ts";
import { recordReader, sealValue, UnreadableEntries } from "./record_codec.ts";
import { ThreadReader } from "./thread_reader.ts";

async function withThread(
  test: (reader: ThreadReader, kv: Deno.Kv, path: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    using kv = await Deno.openKv(path);
    for (const letter of "abcde") {
      await kv.set(["file", letter], sealValue({ letter }));
      await kv.set(["chunk", letter, 0], new Uint8Array(60_000).fill(1));
    }
    await kv.atomic().sum(["usage"], 7n).commit();
    await using reader = new ThreadReader(path, new UnreadableEntries());
    await test(reader, kv, path);
  });
}

Deno.test("A thread reads what Deno KV reads", async () => {
  await withThread(async (reader, kv) => {
    const other = recordReader(kv, new UnreadableEntries());
    const keys = [["file", "c"], ["chunk", "a", 0], ["usage"], ["none"]];
    for (const key of keys) assertEquals(await reader.get(key), await other.get(key));
    assertEquals(await reader.getMany(keys), await other.getMany(keys));
    for (const options of [{}, { reverse: true }, { limit: 3, batchSize: 2 }]) {
      const list = { prefix: ["file"] };
      const [mine, theirs] = [reader.list(list, options), other.list(list, options)];
      assertEquals(await Array.fromAsync(mine), await Array.fromAsync(theirs));
    }
    const range = { start: ["file", "b"], end: ["file", "d"] };
    assertEquals(await readNames(reader, range, 9), "b\0c\0");
    assertEquals(await hasAny(reader, [range]), true);
    assertEquals(await hasAny(reader, [{ start: ["file", "bb"], end: ["file", "c"] }]), false);
  });
});

Deno.test("A thread sees each commit that was answered before, and many read at once", async () => {
  await withThread(async (reader, kv) => {
    const all = Array.from({ length: 50 }, (_, i) => i);
    await Promise.all(all.map(async (i) => {
      await kv.set(["file", "new", i], sealValue(i));
      assertEquals((await reader.get<number>(["file", "new", i])).value, i);
    }));
  });
});

Deno.test("Values that are marked as counters and are none have no value", async () => {
  await withThread(async (reader, _kv, path) => {
    using sqlite = new DatabaseSync(path);
    const mark = sqlite.prepare("UPDATE kv SET v_encoding = 2 WHERE k = ?");
    for (const key of [["file", "b"], ["chunk", "b", 0]]) {
      mark.run(encodeKey(key));
      assertEquals((await reader.get(key)).value, null);
      const listed = await Array.fromAsync(reader.list({ prefix: key.slice(0, 1) }));
      assertEquals(listed.map((entry) => entry.key[1]), ["a", "c", "d", "e"]);
    }
  });
});

Deno.test("A thread that cannot open the file at first reads it once it can", async () => {
  await withThread(async (_reader, kv, path) => {
    await kv.set(["file", "a"], sealValue("a"));
    const later = `${path}.later`;
    await using reader = new ThreadReader(later, new UnreadableEntries());
    const read = reader.get(["file", "a"]);
    await delay(100);
    await Deno.symlink(path, later);
    assertEquals((await read).value, "a");
  });
});

Deno.test("A file that is not readable is an error, and so is a closed reader", async () => {
  await withThread(async (reader, _kv, path) => {
    await using other = new ThreadReader(`${path}.none`, new UnreadableEntries());
    await assertRejects(() => other.get(["a"]), Error, "unable to open");
    const read = reader.get(["file", "a"]);
    await reader[Symbol.asyncDispose]();
    assertEquals((await read).value, { letter: "a" });
    await assertRejects(() => reader.get(["file", "a"]), Error, "closed");
  });
});
