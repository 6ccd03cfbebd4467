import { assertEquals } from "@std/assert";
import { compareNames } from "./order.js";

Deno.test("Names are compared by their UTF-8 bytes, like the server does", () => {
  const names = ["", "A", "a", "a\n", "a b", "a/", "a0", "ä", "\uFFFD", "😀", "😀a"];
  const encoder = new TextEncoder();
  const asBytes = (name: string) =>
    [...encoder.encode(name)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const wanted = names.toSorted((a, b) => asBytes(a) < asBytes(b) ? -1 : 1);
  assertEquals(names.toReversed().sort(compareNames), wanted);
});
