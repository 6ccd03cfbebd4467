import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { deserialize, serialize } from "node:v8";
import { DatabaseSync } from "node:sqlite";
import { withFolder } from "../testing/stores.ts";
import { V8Decoder } from "./v8_decoder.ts";

type Bytes = Uint8Array<ArrayBuffer>;

function bytesOf(value: unknown): Bytes {
  return Uint8Array.from(serialize(value));
}

/** Values of the kinds that records have. */
const VALUES: unknown[] = [
  ...[undefined, null, true, false],
  ...[0, -0, 1, -1, 63, -64, 64, 2 ** 30, -(2 ** 30), 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 32],
  ...[300_000_000, -300_000_000],
  ...[1.5, NaN, Infinity, Number.MAX_SAFE_INTEGER, Date.now()],
  ...["", "a", "käse", "\u0080\u009f\u00ff", "naïve ☃", "👍", "\ud800", "\0", "x".repeat(1000)],
  ...["日".repeat(1), "日".repeat(64), "日".repeat(8000)],
  ...[{}, [], [1, "two", null, undefined, [3]], { a: { b: { c: [] } } }, [{}, {}]],
  { version: "01JD8Z9Q", size: 12, layout: { kind: "manifest", parts: 3 }, shared: true },
  { "": 1, 0: "zero", 7: "seven", "-1": "minus", "1.5": "x", "4294967295": 1, käse: 1, 日: 2 },
  { ["n".repeat(16)]: 1, ["n".repeat(17)]: 2, ["n".repeat(200)]: 3 },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
];

/** Values of other kinds, which `deserialize` reads. */
const OTHERS: unknown[] = [
  JSON.parse('{ "__proto__": { "a": 1 }, "b": 2 }'),
  { ["__proto__"]: "text" },
  { date: new Date(1), big: 12n, map: new Map([[1, 2]]), set: new Set(["a"]) },
  { bytes: Uint8Array.of(1, 2, 3) },
  Object.assign([1, 2], { extra: true }),
  // An array with holes.
  [1, , 3],
];

Deno.test("Values are decoded like deserialize decodes them.", () => {
  const decoder = new V8Decoder();
  for (const value of [...VALUES, ...OTHERS]) {
    const bytes = bytesOf(value);
    assertEquals(decoder.decode(bytes), deserialize(bytes));
    // Names are known now.
    assertEquals(decoder.decode(bytes), value);
  }
  const all = bytesOf(VALUES);
  assertEquals(decoder.decode(all), VALUES);
});

Deno.test("A property with the name of the prototype is a property.", () => {
  const value: unknown = JSON.parse('{ "__proto__": { "a": 1 } }');
  const decoded = new V8Decoder().decode(bytesOf(value)) as Record<string, unknown>;
  assertEquals([Object.keys(decoded), decoded["a"]], [["__proto__"], undefined]);
});

Deno.test("Values at any place of a buffer are decoded.", () => {
  const decoder = new V8Decoder();
  for (const value of VALUES) {
    const bytes = bytesOf(value);
    const buffer = new Uint8Array(bytes.length + 10).fill(0xff);
    buffer.set(bytes, 3);
    assertEquals(decoder.decode(buffer.subarray(3, 3 + bytes.length)), value);
  }
});

Deno.test("A value that refers to a part of itself is decoded.", () => {
  const part = { a: 1 };
  const decoded = new V8Decoder().decode(bytesOf({ one: part, two: part })) as {
    one: unknown;
    two: unknown;
  };
  assertEquals(decoded, { one: part, two: part });
  assertStrictEquals(decoded.one, decoded.two);
});

Deno.test("A name of a property that looks like another one by its hash is its own.", () => {
  const decoder = new V8Decoder();
  for (let i = 0; i < 5000; i++) {
    const value = { [`name${i}`]: i, [`käse${i}`]: i };
    assertEquals(decoder.decode(bytesOf(value)), value);
  }
});

Deno.test("Cut or changed bytes are decoded like deserialize does, or refused.", () => {
  const decoder = new V8Decoder();
  // Elements that are set one by one make an array that may have holes.
  const sparse: unknown[] = [];
  for (const index of [3, 2, 1, 0]) sparse[index] = `element ${index}`;
  for (const value of [...VALUES, sparse]) {
    const bytes = bytesOf(value);
    for (let length = 0; length < Math.min(bytes.length, 300); length++) {
      assertSame(decoder, bytes.slice(0, length));
      for (const change of [1, 0x20, 0x80, 0xff]) {
        const changed = bytes.slice();
        changed[length] = (changed[length] ?? 0) ^ change;
        assertSame(decoder, changed);
      }
    }
  }
});

/** Fails unless both decoders return the same, or throw. */
function assertSame(decoder: V8Decoder, bytes: Bytes): void {
  let expected: unknown;
  try {
    expected = deserialize(bytes);
  } catch {
    assertThrows(() => decoder.decode(bytes));
    return;
  }
  assertEquals(decoder.decode(bytes), expected);
}

Deno.test("What Deno KV writes is decoded without deserialize.", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    {
      using kv = await Deno.openKv(path);
      for (const [i, value] of VALUES.entries()) await kv.set([i], { value });
    }
    using sqlite = new DatabaseSync(path, { readOnly: true });
    const rows = sqlite.prepare("SELECT v FROM kv ORDER BY k").all() as { v: Bytes }[];
    const decoder = new V8Decoder((bytes) => {
      throw new Error(`It has another form: ${bytes}`);
    });
    assertEquals(rows.map(({ v }) => decoder.decode(v)), VALUES.map((value) => ({ value })));
  });
});
