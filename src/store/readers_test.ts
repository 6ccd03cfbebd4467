import { assertEquals } from "@std/assert";
import { Readers } from "./readers.ts";

Deno.test("A version is read until its last reader has finished", () => {
  const readers = new Readers();
  assertEquals(readers.has("v1"), false);
  const first = readers.hold("v1");
  const second = readers.hold("v1");
  assertEquals([readers.has("v1"), readers.has("v2")], [true, false]);
  first();
  assertEquals(readers.has("v1"), true);
  second();
  assertEquals(readers.has("v1"), false);
});

Deno.test("A reader that finishes twice counts once", () => {
  const readers = new Readers();
  const first = readers.hold("v1");
  const second = readers.hold("v1");
  first();
  first();
  assertEquals(readers.has("v1"), true);
  second();
  second();
  assertEquals(readers.has("v1"), false);
  readers.hold("v1");
  first();
  assertEquals(readers.has("v1"), true);
});

Deno.test("The more read, the fewer pieces each asks for at once, but never too few", () => {
  const readers = new Readers();
  assertEquals(readers.batchSize, 64);
  const releases = Array.from({ length: 8 }, (_, i) => readers.hold(`v${i}`));
  assertEquals(readers.batchSize, 32);
  const more = Array.from({ length: 50 }, () => readers.hold("v"));
  assertEquals(readers.batchSize, 16);
  for (const release of [...releases, ...more]) {
    release();
    release();
  }
  assertEquals(readers.batchSize, 64);
});
