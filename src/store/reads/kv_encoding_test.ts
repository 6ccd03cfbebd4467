import { recordReader, sealValue, UnreadableEntries } from "./record_codec.ts";
import { assertEquals } from "@std/assert";
import { Snapshot } from "../verify/snapshot.ts";
import { withFolder } from "../testing/stores.ts";
import { decodeKey, encodeKey, versionstampOf } from "./kv_encoding.ts";

const KEYS: Deno.KvKey[] = [
  ["a"],
  ["a", ""],
  ["a", "\0"],
  ["a", "\0\0x"],
  ["a", "b\0", 1],
  ["a", "é😀"],
  ["a", "\ufeffx"],
  ["a", -1.5],
  ["a", 0],
  ["a", 1_763_700_000_000],
  ["b", "x", 2 ** 40, "y"],
];

Deno.test("Encoded keys sort like the store and decode to the same keys", () => {
  for (const key of KEYS) assertEquals(decodeKey(encodeKey(key)), [...key]);
  const bytes = KEYS.map((key) => encodeKey(key).join());
  assertEquals(new Set(bytes).size, KEYS.length);
  assertEquals(decodeKey(Uint8Array.of(1, 2, 3)), undefined);
  assertEquals(decodeKey(Uint8Array.of(2, 65)), undefined);
});

Deno.test("A snapshot has the entries that Deno KV had when it was taken", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    using kv = await Deno.openKv(path);
    const values = [{ a: [1, "x"] }, "text", 7, [1, 2], true, -0.5];
    for (const [i, key] of KEYS.entries()) {
      await kv.set(key, sealValue(values[i % values.length]));
    }
    await kv.atomic().sum(["u"], 2n ** 63n).commit();
    const expected =
      (await Array.fromAsync(recordReader(kv, new UnreadableEntries()).list({ prefix: [] })))
        .map(({ key, value, versionstamp }) => ({ key: [...key], value, versionstamp }));
    using snapshot = await Snapshot.take(path, true);
    // The first read takes the snapshot.
    assertEquals(snapshot.has(["a"]), true);
    await kv.set(["late"], 1);
    await kv.delete(["a"]);
    assertEquals([...snapshot.list([])] as unknown, expected as unknown);
    for (const entry of expected) {
      assertEquals(snapshot.get(entry.key as string[]) as unknown, entry);
    }
    assertEquals([...snapshot.heads([], 1)], [["a"], ["b"], ["u"]]);
    assertEquals([...snapshot.heads(["a"], 2)].length, 9);
    assertEquals(snapshot.damage(), []);
    assertEquals(versionstampOf(255), "00000000000000ff0000");
  });
});
