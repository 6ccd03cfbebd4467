import { assertEquals, assertThrows } from "@std/assert";
import { DavError } from "../dav_error.ts";
import { parseIf, tokensIn } from "./if_header.ts";

Deno.test("Lists are read with their tags, tokens, entity tags and negations", () => {
  const header = '<http://a/b> (<urn:uuid:1> ["e,)>"]) (Not <urn:x>) </c> ([W/"w"] NOT ["v"])';
  assertEquals(parseIf(header), [
    {
      tag: "http://a/b",
      conditions: [{ isNegated: false, token: "urn:uuid:1" }, { isNegated: false, etag: "e,)>" }],
    },
    { tag: "http://a/b", conditions: [{ isNegated: true, token: "urn:x" }] },
    { tag: "/c", conditions: [{ isNegated: false, etag: "w" }, { isNegated: true, etag: "v" }] },
  ]);
  assertEquals(tokensIn(parseIf(header)), new Set(["urn:uuid:1", "urn:x"]));
  assertEquals(parseIf("(<a>)(<b>)").length, 2);
});

for (const header of ["", "<a>", "(", "()", "(<a>", "<a>)", "(Not)", "(a)", "((<a>))", "(<a>) x"]) {
  Deno.test(`The header ${JSON.stringify(header)} is refused`, () => {
    assertThrows(() => parseIf(header), DavError);
  });
}

Deno.test("A header of many conditions is read in time that grows with its length", () => {
  const began = performance.now();
  assertThrows(() => parseIf("(<a>)".repeat(10_000)), DavError);
  assertThrows(() => parseIf(" ".repeat(60_000) + "x"), DavError);
  assertThrows(() => parseIf("Not ".repeat(15_000)), DavError);
  assertEquals(performance.now() - began < 1000, true);
});
