import { assert, assertEquals } from "@std/assert";
import { ByteReader, MAX_READ_BUFFER, MIN_READ_BUFFER } from "./connection.ts";
import { readerOf, sourceOf } from "./test_support.ts";

function takeText(reader: ByteReader, max = Infinity): string {
  return new TextDecoder("latin1").decode(reader.take(max));
}

Deno.test("A reader returns bytes in the order of their arrival", async () => {
  const reader = readerOf("abc", "def");
  assert(await reader.fill());
  assertEquals(takeText(reader, 2), "ab");
  assert(await reader.fill());
  assertEquals(reader.text(reader.start, reader.end), "cdef");
  assertEquals(takeText(reader), "cdef");
  assertEquals(await reader.fill(), false);
  assertEquals([reader.length, reader.isBroken], [0, false]);
});

Deno.test("Concurrent fills share one read", async () => {
  const reader = readerOf("abc", "def");
  const [first, second] = [reader.fill(), reader.fill()];
  assert(first === second);
  assert(await first);
  assertEquals(reader.length, 3);
});

Deno.test("A reader tells a broken connection from the end of the stream", async () => {
  const reader = new ByteReader(sourceOf(["abc"], { breaks: true }));
  assert(await reader.fill());
  assertEquals(await reader.fill(), false);
  assertEquals([reader.isBroken, takeText(reader)], [true, "abc"]);
});

Deno.test("The buffer grows to its limit while bytes are not taken", async () => {
  const text = "0123456789abcdef".repeat(MAX_READ_BUFFER / 8);
  const reader = readerOf(text);
  while (!reader.isFull) assert(await reader.fill());
  assertEquals(reader.length, MAX_READ_BUFFER);
  assertEquals(takeText(reader), text.slice(0, MAX_READ_BUFFER));
  assert(await reader.fill());
  assertEquals(takeText(reader), text.slice(MAX_READ_BUFFER, 2 * MAX_READ_BUFFER));
});

Deno.test("The buffer grows while reads fill it, and is small again for little data", async () => {
  const reader = readerOf("x".repeat(MIN_READ_BUFFER + MAX_READ_BUFFER), "a", "b");
  const sizes: [taken: number, buffer: number][] = [];
  while (await reader.fill()) sizes.push([reader.take(Infinity).length, reader.buffer.length]);
  assertEquals(sizes, [
    [MIN_READ_BUFFER, MIN_READ_BUFFER],
    [MAX_READ_BUFFER, MAX_READ_BUFFER],
    [1, MAX_READ_BUFFER],
    [1, MIN_READ_BUFFER],
  ]);
});

Deno.test("A large buffer is released between messages, but not while it holds bytes", async () => {
  const reader = readerOf("a".repeat(MIN_READ_BUFFER + MAX_READ_BUFFER), "bcd", "e");
  await reader.fill();
  reader.take(Infinity);
  await reader.fill();
  reader.take(MAX_READ_BUFFER - 1);
  reader.shrink();
  assert(await reader.fill());
  assertEquals([takeText(reader), reader.buffer.length], ["abcd", MAX_READ_BUFFER]);
  reader.shrink();
  assert(await reader.fill());
  assertEquals([takeText(reader), reader.buffer.length], ["e", MIN_READ_BUFFER]);
});

Deno.test("Remaining bytes move to the front of a full buffer", async () => {
  const text = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, "0")).join("");
  const reader = readerOf(text);
  let all = "";
  while (await reader.fill()) all += takeText(reader, Math.ceil(reader.length / 2));
  assertEquals(all + takeText(reader), text);
});
