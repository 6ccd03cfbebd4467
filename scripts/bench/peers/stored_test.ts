import { assertEquals } from "@std/assert";
import { stamped } from "./stored.ts";

Deno.test("stamped() numbers a copy", () => {
  const bytes = new Uint8Array(12);
  const text = new TextDecoder().decode(stamped(bytes, 7));
  assertEquals(text, "0000000007\0\0");
  assertEquals(bytes, new Uint8Array(12));
});
