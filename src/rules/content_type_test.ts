import { assertEquals } from "@std/assert";
import { contentTypeOf, DEFAULT_CONTENT_TYPE, namedContentType } from "./content_type.ts";

Deno.test("The content type is derived from the extension of the last path segment", () => {
  const cases = [
    ["a.txt", "text/plain"],
    ["A.TXT", "text/plain"],
    ["photos/cat.PNG", "image/png"],
    ["cat.jpeg", "image/jpeg"],
    ["page.html", "text/html"],
    ["data.json", "application/json"],
    ["logo.svg", "image/svg+xml"],
    ["backup.tar.gz", "application/gzip"],
    ["a\nb.txt", "text/plain"],
    ["😀.png", "image/png"],
  ] as const;
  for (const [name, type] of cases) assertEquals(contentTypeOf(name), type, name);
});

Deno.test("A name without a known extension has the default content type", () => {
  const names = [
    "a",
    "a.",
    ".",
    "..",
    "txt",
    "a.png/b",
    "a.unheard-of",
    "a.txt ",
    "a. txt",
    "a.constructor",
    "a.__proto__",
    "a.toString",
  ];
  for (const name of names) assertEquals(contentTypeOf(name), DEFAULT_CONTENT_TYPE, name);
});

Deno.test("A named content type is kept unchanged", () => {
  const types = [
    "text/plain",
    "text/plain; charset=utf-8",
    "Application/X-Own",
    "binary/other",
    "binary/octet-streams",
  ];
  for (const type of types) {
    assertEquals(namedContentType(type), type);
    assertEquals(namedContentType(`  ${type}\t`), type);
  }
});

Deno.test("An absent type, an empty one and a client library's filler count as none", () => {
  for (
    const none of [
      null,
      "",
      "  ",
      "binary/octet-stream",
      " Binary/Octet-Stream ",
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded;charset=UTF-8",
      "application/x-www-form-urlencoded ; charset=utf-8",
    ]
  ) {
    assertEquals(namedContentType(none), undefined, `${none}`);
  }
  assertEquals(namedContentType("application/octet-stream"), "application/octet-stream");
});
