import { assertEquals } from "@std/assert";
import { OpenVersions } from "./versions.ts";

Deno.test("A version is open until its last reader has finished", () => {
  const versions = new OpenVersions();
  assertEquals(versions.has("v1"), false);
  const first = versions.hold("v1");
  const second = versions.hold("v1");
  assertEquals([versions.has("v1"), versions.has("v2")], [true, false]);
  first();
  assertEquals(versions.has("v1"), true);
  second();
  assertEquals(versions.has("v1"), false);
});

Deno.test("Removing a reader twice has no effect", () => {
  const versions = new OpenVersions();
  const first = versions.hold("v1");
  const second = versions.hold("v1");
  first();
  first();
  assertEquals(versions.has("v1"), true);
  second();
  second();
  assertEquals(versions.has("v1"), false);
  versions.hold("v1");
  first();
  assertEquals(versions.has("v1"), true);
});
