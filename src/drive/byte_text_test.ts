import { assertEquals } from "@std/assert";
import { byteText } from "./byte_text.ts";

Deno.test("Bytes are told in the unit that people would choose", () => {
  const texts: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [9949, "9.9 kB"],
    [9950, "10 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [10_485_760, "10 MB"],
    [1_500_000_000, "1.5 GB"],
    [Number.MAX_SAFE_INTEGER, "9.0 PB"],
  ];
  for (const [bytes, text] of texts) assertEquals(byteText(bytes), text);
});
