import { assertEquals } from "@std/assert";
import { readText } from "./read_text.js";

function read(bytes: number[]): Promise<string | undefined> {
  return readText(new Blob([new Uint8Array(bytes)]));
}

Deno.test("A text is UTF-8, or UTF-16 with a byte order mark", async () => {
  assertEquals(await read([0xc3, 0xa4]), "ä");
  assertEquals(await read([0xef, 0xbb, 0xbf, 0x61]), "a");
  assertEquals(await read([0xff, 0xfe, 0x61, 0]), "a");
  assertEquals(await read([0xfe, 0xff, 0, 0x61]), "a");
  assertEquals(await read([]), "");
});

Deno.test("Bytes with a NUL are not text; cut or invalid UTF-8 is", async () => {
  assertEquals(await read([0x61, 0, 0x62]), undefined);
  assertEquals(await read([0x61, 0xc3]), "a\uFFFD");
});
