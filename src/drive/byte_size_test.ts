import { assertEquals } from "@std/assert";
import { parseByteSize } from "./byte_size.ts";

const SIZES: Record<string, number> = {
  "1": 1,
  "1000": 1000,
  "0900": 900,
  "12B": 12,
  "500MB": 500_000_000,
  "500mb": 500_000_000,
  "10 GB": 10_000_000_000,
  " 10GB ": 10_000_000_000,
  "1.5TB": 1_500_000_000_000,
  "0.5kB": 500,
  "1.1GB": 1_100_000_000,
  "2PB": 2e15,
  "1KiB": 1024,
  "3MiB": 3 * 2 ** 20,
  "10GiB": 10 * 2 ** 30,
  "0.25tib": 2 ** 38,
  "1PiB": 2 ** 50,
  "9007199254740991": Number.MAX_SAFE_INTEGER,
};

Deno.test("A size is a number of bytes, or of a unit of them", () => {
  for (const [text, bytes] of Object.entries(SIZES)) {
    assertEquals(parseByteSize(text), bytes, text);
  }
});

Deno.test("What is no size, no byte at all or too many to be counted is refused", () => {
  const texts = ["", " ", "0", "0.0GB", "0.2", "-1", "+1", "1e9", "GB", "10G", "10 G B", "10GBs"];
  const more = ["1,5GB", "1.GB", ".5GB", "0x10", "ten", "NaN", "9007199254740992", "9PiB", "none"];
  const names = ["1constructor", "1toString", "1 __proto__"];
  for (const text of [...texts, ...more, ...names]) {
    assertEquals(parseByteSize(text), undefined, text);
  }
});
