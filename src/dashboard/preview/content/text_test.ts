import { assertEquals } from "@std/assert";
import { decodeEntities } from "./markdown.ts";
import { hexLines } from "../views/bytes.tsx";
import { entriesOf, NumberText, parseJson } from "../views/json.tsx";
import { shownName } from "../../files/entry.ts";
import { decode, linesOf } from "./text.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("Texts are decoded as UTF-8, by their mark, or as Latin-1", () => {
  assertEquals(decode(utf8("Grüße 😀")), { text: "Grüße 😀", encoding: "UTF-8" });
  assertEquals(decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])), { text: "a", encoding: "UTF-8" });
  const wide = new Uint8Array([0xff, 0xfe, 0x61, 0, 0xfc, 0]);
  assertEquals(decode(wide), { text: "aü", encoding: "UTF-16" });
  assertEquals(decode(new Uint8Array([0xfe, 0xff, 0, 0x61])), { text: "a", encoding: "UTF-16" });
  const old = new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]);
  assertEquals(decode(old), { text: "Grüße", encoding: "Latin-1" });
});

Deno.test("A character that is cut at the end is left out", () => {
  assertEquals(decode(utf8("aü").subarray(0, 2)), { text: "a", encoding: "UTF-8" });
});

Deno.test("Bytes with control characters are no text", () => {
  assertEquals(decode(new Uint8Array([0x61, 0])), undefined);
  assertEquals(decode(utf8("\x1b[1mbold\tand\r\n"))?.encoding, "UTF-8");
});

Deno.test("Lines keep their ends, so that together they are the text", () => {
  assertEquals(linesOf("a\n\nb"), ["a\n", "\n", "b"]);
  assertEquals(linesOf("a\r\n"), ["a\r\n"]);
  assertEquals(linesOf(""), []);
});

Deno.test("JSON keeps the digits of its numbers and its unusual keys", () => {
  const value = parseJson('\ufeff{"id": 12345678901234567890, "__proto__": [1.0, null, "x"]}');
  const entries = entriesOf(value) ?? [];
  assertEquals(entries.map(([key]) => key), ["id", "__proto__"]);
  assertEquals(entries[0]?.[1], new NumberText("12345678901234567890"));
  assertEquals(entriesOf(entries[1]![1]), [["0", new NumberText("1.0")], ["1", null], ["2", "x"]]);
  assertEquals(entriesOf(null), undefined);
  assertEquals(entriesOf(new NumberText("1")), undefined);
});

Deno.test("Bytes are shown with offsets and ASCII", () => {
  assertEquals(hexLines(utf8("Hi\n<b>ü"), 4), [
    { offset: "00000000", hex: "48 69 0a 3c", ascii: "Hi.<" },
    { offset: "00000004", hex: "62 3e c3 bc", ascii: "b>.." },
  ]);
  assertEquals(hexLines(new Uint8Array(), 4), []);
});

Deno.test("Character references are decoded, unknown ones stay", () => {
  assertEquals(decodeEntities("a &amp; b &lt;b&gt; &#8217; &#x1F600;"), "a & b <b> ’ 😀");
  assertEquals(
    decodeEntities("&unknown; &constructor; &#0; &#x110000;"),
    "&unknown; &constructor; &#0; &#x110000;",
  );
});

Deno.test("Nothing is hidden in a name", () => {
  assertEquals(shownName("photo\u202egnp.exe"), "photo\ufffdgnp.exe");
  assertEquals(shownName("a\nb"), "a\ufffdb");
  assertEquals(shownName("Grüße שלום"), "Grüße שלום");
});
