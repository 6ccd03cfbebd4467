import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { serialize } from "node:v8";
import { withSqlite } from "../../src/store/disk/sqlite.ts";
import { FIRST, multiply, nameOf, rawSize } from "./process_stock.ts";

const FILES = 25;
const VERSION = "01A".padEnd(26, "0");

Deno.test("multiply() copies the entries of the first file and multiplies counters", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "kvdrive.db");
  try {
    using before = await Deno.openKv(path);
    await before.atomic()
      .set(["file", "bench", "large", nameOf(FIRST)], { size: 4, version: VERSION })
      .set(["content", VERSION], new Uint8Array(4))
      .set(["project", "bench"], { created: 1 })
      .sum(["usage", "bench", "large", "files"], 1n)
      .sum(["usage", "bench", "large", "bytes"], 4n)
      .commit();
    before.close();
    withSqlite(path, (sqlite) => multiply(sqlite, FILES));

    using kv = await Deno.openKv(path);
    const names = Array.from({ length: FILES }, (_, n) => nameOf(FIRST + n)).sort();
    const records = await Array.fromAsync(
      kv.list<{ size: number; version: string }>({ prefix: ["file"] }),
    );
    assertEquals(records.map(({ key }) => key.at(-1)), names);
    assertEquals(records.map(({ value }) => value.size), names.map(() => 4));
    const versions = new Set(records.map(({ value }) => value.version));
    assertEquals(versions.size, FILES);
    const contents = await Array.fromAsync(kv.list({ prefix: ["content"] }));
    assertEquals(new Set(contents.map(({ key }) => key.at(-1))), versions);
    assertEquals(contents.map(({ value }) => value), names.map(() => new Uint8Array(4)));
    const counter = async (name: string) =>
      (await kv.get<Deno.KvU64>(["usage", "bench", "large", name])).value?.value;
    assertEquals(await counter("files"), BigInt(FILES));
    assertEquals(await counter("bytes"), BigInt(4 * FILES));
    assertEquals((await Array.fromAsync(kv.list({ prefix: [] }))).length, 2 * FILES + 3);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("rawSize() adds up a name and the values under it", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "kvdrive.db");
  try {
    using kv = await Deno.openKv(path);
    const record = { size: 4, version: VERSION };
    await kv.set(["file", "bench", "large", nameOf(FIRST)], record);
    await kv.set(["content", VERSION], new Uint8Array(4));
    await kv.set(["content", VERSION.replace("A", "B")], new Uint8Array(7));
    assertEquals(rawSize(path), nameOf(FIRST).length + serialize(record).byteLength + 4);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("nameOf() gives all numbers names of one length, in ten directories", () => {
  assertEquals(nameOf(FIRST), "d0/file-10000000");
  assertEquals(nameOf(FIRST + 123), "d3/file-10000123");
});
