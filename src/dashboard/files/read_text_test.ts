import { assertEquals } from "@std/assert";
import { readText } from "./read_text.js";

function read(bytes: number[]): Promise<string | undefined> {
  return readText(new Blob([new Uint8Array(bytes)]));
}

Deno.test("A text is UTF-8, or says by its mark that it is UTF-16", async () => {
  assertEquals(await read([0xc3, 0xa4]), "ä");
  assertEquals(await read([0xef, 0xbb, 0xbf, 0x61]), "a");
  assertEquals(await read([0xff, 0xfe, 0x61, 0]), "a");
  assertEquals(await read([0xfe, 0xff, 0, 0x61]), "a");
  assertEquals(await read([]), "");
});

Deno.test("What has a NUL is none, and what is cut or broken still shows", async () => {
  assertEquals(await read([0x61, 0, 0x62]), undefined);
  assertEquals(await read([0x61, 0xc3]), "a\uFFFD");
});
