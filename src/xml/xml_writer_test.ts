import { assertEquals } from "@std/assert";
import { readXml } from "./xml_reader.ts";
import { optional, writeXml } from "./xml_writer.ts";

Deno.test("A document has its elements in their order", () => {
  const text = writeXml(["List", [
    ["Name", "a"],
    ["Size", 3],
    ["More", false],
    ...optional("Absent", undefined),
    ...optional("Present", ""),
    ["Inner", [["Key", "<&>\"'"]]],
  ]], "http://s3.amazonaws.com/doc/2006-03-01/");
  assertEquals(
    text,
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<List xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>a</Name><Size>3</Size><More>false</More>' +
      "<Present></Present><Inner><Key>&lt;&amp;&gt;&quot;'</Key></Inner></List>",
  );
});

Deno.test("Text is read as it was written", () => {
  const name = " a\r\n\tb ü😀 & <c> ]]> \u2028";
  const text = writeXml(["List", [["Key", name]]], "");
  assertEquals(readXml(text, "List", 5).children[0]?.text, name);
});

Deno.test("Characters that XML cannot have are written as references, as Amazon does it", () => {
  assertEquals(
    writeXml(["Key", "a\u0001b\ufffe"], ""),
    '<?xml version="1.0" encoding="UTF-8"?>\n<Key>a&#x1;b&#xfffe;</Key>',
  );
});
