import { assertEquals } from "@std/assert";
import { contentDisposition } from "./http_response.ts";

Deno.test("A name in ASCII is sent as it is", () => {
  assertEquals(
    contentDisposition("attachment", "a b.zip"),
    `attachment; filename="a b.zip"; filename*=UTF-8''a%20b.zip`,
  );
  assertEquals(
    contentDisposition("inline", "it's;x=1"),
    `inline; filename="it's;x=1"; filename*=UTF-8''it%27s%3Bx%3D1`,
  );
});

Deno.test("Other names are percent-encoded beside a name in ASCII", () => {
  const cases = [
    ["é.txt", "_.txt", "%C3%A9.txt"],
    ['say "hi".txt', "say _hi_.txt", "say%20%22hi%22.txt"],
    ["a\\b", "a_b", "a%5Cb"],
    ["a\r\nSet-Cookie: x", "a__Set-Cookie: x", "a%0D%0ASet-Cookie%3A%20x"],
    ["100%", "100_", "100%25"],
    ["🦖'(1)*", "_'(1)*", "%F0%9F%A6%96%27%281%29%2A"],
  ] as const;
  for (const [name, fallback, encoded] of cases) {
    const value = `attachment; filename="${fallback}"; filename*=UTF-8''${encoded}`;
    assertEquals(contentDisposition("attachment", name), value);
  }
});
