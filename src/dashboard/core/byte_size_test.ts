import { assertEquals, assertThrows } from "@std/assert";
import { parseBytes, writeBytes } from "./byte_size.js";

const SIZES: [string, number, string][] = [
  ["1", 1, "1"],
  ["999", 999, "999"],
  ["1500", 1500, "1.5 kB"],
  ["500MB", 500_000_000, "500 MB"],
  ["500 mb", 500_000_000, "500 MB"],
  [" 1.5TB ", 1_500_000_000_000, "1.5 TB"],
  ["10GiB", 10 * 2 ** 30, "10 GiB"],
  ["0.5KiB", 512, "512"],
  ["1.1GB", 1_100_000_000, "1.1 GB"],
  ["123456789", 123_456_789, "123456789"],
  ["2 PB", 2e15, "2 PB"],
  ["9007199254740991", Number.MAX_SAFE_INTEGER, "9007199254740991"],
];

Deno.test("A size is parsed in every unit, and its written form parses to the same value", () => {
  for (const [text, bytes, written] of SIZES) {
    assertEquals([parseBytes(text), writeBytes(bytes)], [bytes, written], text);
    assertEquals(parseBytes(written), bytes);
  }
});

Deno.test("A text that is not a size is refused", () => {
  for (const text of ["", "0", "-1", "10G", "ten", "1,5 GB", "1e9", "9 PiB", "1 constructor"]) {
    assertThrows(() => parseBytes(text), Error, "must be a size such as 500 MB");
  }
});
