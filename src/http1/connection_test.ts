import { assert, assertEquals } from "@std/assert";
import { ByteReader, MAX_READ_BUFFER, MIN_READ_BUFFER } from "./connection.ts";
import { readerOf, sourceOf } from "./test_support.ts";

function takeText(reader: ByteReader, most = Infinity): string {
  return new TextDecoder("latin1").decode(reader.take(most));
}

Deno.test("Bytes are given in the order in which they came", async () => {
  const reader = readerOf("abc", "def");
  assert(await reader.fill());
  assertEquals(takeText(reader, 2), "ab");
  assert(await reader.fill());
  assertEquals(reader.text(reader.start, reader.end), "cdef");
  assertEquals(takeText(reader), "cdef");
  assertEquals(await reader.fill(), false);
  assertEquals([reader.length, reader.isBroken], [0, false]);
});

Deno.test("Those who wait at the same time share one read", async () => {
  const reader = readerOf("abc", "def");
  const [first, second] = [reader.fill(), reader.fill()];
  assert(first === second);
  assert(await first);
  assertEquals(reader.length, 3);
});

Deno.test("A connection that breaks ends, and is told from one that was ended", async () => {
  const reader = new ByteReader(sourceOf(["abc"], { breaks: true }));
  assert(await reader.fill());
  assertEquals(await reader.fill(), false);
  assertEquals([reader.isBroken, takeText(reader)], [true, "abc"]);
});

Deno.test("The buffer grows while nobody takes, up to its limit", async () => {
  const text = "0123456789abcdef".repeat(MAX_READ_BUFFER / 8);
  const reader = readerOf(text);
  while (!reader.isFull) assert(await reader.fill());
  assertEquals(reader.length, MAX_READ_BUFFER);
  assertEquals(takeText(reader), text.slice(0, MAX_READ_BUFFER));
  assert(await reader.fill());
  assertEquals(takeText(reader), text.slice(MAX_READ_BUFFER, 2 * MAX_READ_BUFFER));
});

Deno.test("It stays small while everything is taken, and reads in large pieces when told to", async () => {
  const reader = readerOf("x".repeat(4 * MAX_READ_BUFFER));
  for (let i = 0; i < 4; i++) {
    assert(await reader.fill());
    assertEquals(reader.take(Infinity).length, MIN_READ_BUFFER);
  }
  reader.widen();
  assert(await reader.fill());
  assertEquals(reader.take(Infinity).length, MAX_READ_BUFFER);
});

Deno.test("A large buffer is given up between messages, but not bytes that wait", async () => {
  const reader = readerOf("a".repeat(MAX_READ_BUFFER), "bcd", "e");
  reader.widen();
  assert(await reader.fill());
  reader.take(MAX_READ_BUFFER - 1);
  reader.shrink();
  assertEquals([takeText(reader), reader.buffer.length], ["a", MAX_READ_BUFFER]);
  const filling = reader.fill();
  reader.shrink();
  assert(await filling);
  assertEquals([takeText(reader), reader.buffer.length], ["bcd", MAX_READ_BUFFER]);
  reader.shrink();
  assertEquals(reader.buffer.length, MIN_READ_BUFFER);
  assert(await reader.fill());
  assertEquals(takeText(reader), "e");
});

Deno.test("What was not taken moves to the front when there is no room behind it", async () => {
  const text = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, "0")).join("");
  const reader = readerOf(text);
  let all = "";
  while (await reader.fill()) all += takeText(reader, Math.ceil(reader.length / 2));
  assertEquals(all + takeText(reader), text);
});
