import { assertEquals } from "@std/assert";
import { isOpen } from "./drive_links.ts";

Deno.test("A link is open until it expires or is used up", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const link = { expires: null, max_downloads: null, downloads: 3 };
  assertEquals(isOpen(link, now), true);
  assertEquals(isOpen({ ...link, expires: "2026-11-22T12:00:01Z" }, now), true);
  assertEquals(isOpen({ ...link, expires: "2026-11-22T12:00:00Z" }, now), false);
  assertEquals(isOpen({ ...link, max_downloads: 4 }, now), true);
  assertEquals(isOpen({ ...link, max_downloads: 3 }, now), false);
});
