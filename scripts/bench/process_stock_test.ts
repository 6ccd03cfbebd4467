import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { withSqlite } from "../../src/store/disk/sqlite.ts";
import { FIRST, multiply, nameOf, rawSize } from "./process_stock.ts";

const FILES = 25;

Deno.test("multiply() copies the entries of the first file and multiplies counters", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "kvdrive.db");
  const record = { size: 4, version: "a" };
  try {
    using before = await Deno.openKv(path);
    await before.atomic()
      .set(["file", "bench", "large", nameOf(FIRST)], record)
      .set(["content", "bench", "large", nameOf(FIRST)], new Uint8Array(4))
      .set(["project", "bench"], { created: 1 })
      .sum(["usage", "bench", "large", "files"], 1n)
      .sum(["usage", "bench", "large", "bytes"], 4n)
      .commit();
    before.close();
    withSqlite(path, (sqlite) => multiply(sqlite, FILES));

    using kv = await Deno.openKv(path);
    const names = Array.from({ length: FILES }, (_, n) => nameOf(FIRST + n)).sort();
    for (const [kind, value] of [["file", record], ["content", new Uint8Array(4)]] as const) {
      const entries = await Array.fromAsync(kv.list({ prefix: [kind] }));
      assertEquals(entries.map(({ key }) => key.at(-1)), names);
      assertEquals(entries.map((entry) => entry.value), names.map(() => value));
    }
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
    await kv.set(["file", "bench", "large", nameOf(FIRST)], new Uint8Array(100));
    await kv.set(["content", "bench", "large", nameOf(FIRST)], new Uint8Array(4));
    await kv.set(["content", "bench", "large", nameOf(FIRST + 1)], new Uint8Array(7));
    assertEquals(rawSize(path), nameOf(FIRST).length + 104);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("nameOf() gives all numbers names of one length, in ten directories", () => {
  assertEquals(nameOf(FIRST), "d0/file-10000000");
  assertEquals(nameOf(FIRST + 123), "d3/file-10000123");
});
