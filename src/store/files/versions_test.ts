import { assertEquals } from "@std/assert";
import { OpenVersions } from "./versions.ts";

Deno.test("A version is read until its last reader has finished", () => {
  const readers = new OpenVersions();
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
  const readers = new OpenVersions();
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
