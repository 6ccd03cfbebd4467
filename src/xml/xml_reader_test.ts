import { assertEquals, assertThrows } from "@std/assert";
import { BadXml, childrenNamed, childText, readXml } from "./xml_reader.ts";

Deno.test("Elements are read with their text, and namespaces are ignored", () => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<s3:Delete xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/">
  <s3:Object><s3:Key>a &amp; b&#13;&#x1F600;<![CDATA[<c>]]></s3:Key></s3:Object>
  <s3:Quiet>true</s3:Quiet>
</s3:Delete>`;
  const document = readXml(text, "Delete", 10);
  const [object] = childrenNamed(document, "Object");
  assertEquals(object && childText(object, "Key"), "a & b\r😀<c>");
  assertEquals(childText(document, "Quiet"), "true");
  assertEquals(childText(document, "Absent"), undefined);
});

const BILLION_LAUGHS = `<!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;">]><a>&c;</a>`;
const EXTERNAL = `<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`;

const REFUSED: { name: string; text: string; problem: string }[] = [
  { name: "a document type with entities", text: BILLION_LAUGHS, problem: "document type" },
  { name: "an external document type", text: EXTERNAL, problem: "document type" },
  { name: "an unknown entity", text: "<a>&b;</a>", problem: "not well-formed" },
  { name: "an unclosed element", text: "<a><b></a>", problem: "not well-formed" },
  { name: "two roots", text: "<a/><a/>", problem: "not well-formed" },
  { name: "no element", text: "", problem: "not well-formed" },
  { name: "text alone", text: "hello", problem: "not well-formed" },
  { name: "another root", text: "<b/>", problem: "root element a" },
  {
    name: "deep nesting",
    text: "<a>".repeat(10_000) + "</a>".repeat(10_000),
    problem: "nested deeper",
  },
  { name: "many elements", text: `<a>${"<b/>".repeat(100)}</a>`, problem: "more than 20 elements" },
  {
    name: "many attributes",
    text: `<a ${Array.from({ length: 100 }, (_, i) => `a${i}="1"`).join(" ")}/>`,
    problem: "more than 20 elements",
  },
  { name: "an element of XML itself", text: "<a><xml:b/></a>", problem: "reserved namespace" },
  { name: "a control character", text: "<a>\u0001</a>", problem: "not well-formed" },
];

for (const { name, text, problem } of REFUSED) {
  Deno.test(`XML with ${name} is refused`, () => {
    assertThrows(() => readXml(text, "a", 20), BadXml, problem);
  });
}

Deno.test("Several elements where one may be are refused", () => {
  const document = readXml("<a><b>1</b><b>2</b></a>", "a", 20);
  assertThrows(() => childText(document, "b"), BadXml, "2 elements b in a");
});
