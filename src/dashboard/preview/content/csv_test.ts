import { assertEquals } from "@std/assert";
import { delimiterOf, parseTable } from "./csv.ts";

Deno.test("Fields in quotes hold delimiters, line ends and quotes", () => {
  assertEquals(parseTable('a,"b, c"\r\n"d\ne","say ""hi"""\n', 10), [
    ["a", "b, c"],
    ["d\ne", 'say "hi"'],
  ]);
});

Deno.test("Empty fields stay, and the end of the last line is optional", () => {
  assertEquals(parseTable("a,,b\n,\nc", 10), [["a", "", "b"], ["", ""], ["c"]]);
  assertEquals(parseTable("a,", 10), [["a", ""]]);
  assertEquals(parseTable("", 10), []);
});

Deno.test("Damaged quotes lose nothing", () => {
  assertEquals(parseTable('"a"b,c\n', 10), [["ab", "c"]]);
  assertEquals(parseTable('x,"open\nend', 10), [["x", "open\nend"]]);
  assertEquals(parseTable('a"b,c', 10), [['a"b', "c"]]);
});

Deno.test("No more rows are read than are shown", () => {
  assertEquals(parseTable("1\n2\n3\n", 2), [["1"], ["2"]]);
});

Deno.test("The delimiter is the one that occurs most outside of quotes", () => {
  assertEquals(delimiterOf("a;b;c\n1,5;2;3\n"), ";");
  assertEquals(delimiterOf("a\tb\n1\t2\n"), "\t");
  assertEquals(delimiterOf('"a;b;c;d",e\n'), ",");
  assertEquals(delimiterOf("one column"), ",");
});
