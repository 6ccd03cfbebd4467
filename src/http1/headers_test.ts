import { assertEquals, assertThrows } from "@std/assert";
import { isToken, MalformedMessage, parseHeader, parseHeaders } from "./headers.ts";

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/;

Deno.test("Exactly the characters of a token can be in a name, at any place", () => {
  for (let code = 0; code < 0x180; code++) {
    const character = String.fromCharCode(code);
    for (const name of [character, `${character}a`, `a${character}`, `a${character}b`]) {
      assertEquals(isToken(name), TOKEN.test(character), name);
      if (character === ":") continue;
      const read = () => parseHeader(`${name}:value`);
      if (!TOKEN.test(character)) assertThrows(read, MalformedMessage, "invalid name", name);
      else assertEquals(read(), { name, lower: name.toLowerCase(), value: "value" });
    }
  }
  assertEquals(isToken(""), false);
});

Deno.test("A line without a name or without a colon is rejected, also before a line with both", () => {
  const cases = { ":v": "invalid name", "a": "no colon", "": "no colon", " a: b": "invalid name" };
  for (const [line, message] of Object.entries(cases)) {
    assertThrows(() => parseHeader(line), MalformedMessage, message, line);
    const read = () => parseHeaders(`x: y\r\n${line}\r\nz: 1`, 0, 9);
    assertThrows(read, MalformedMessage, message, line);
  }
});

Deno.test("Headers are those of the lines after a position, up to the limit", () => {
  const lines = ["A:", "b: c:d ", "Set-Cookie:\t1", "A: 2"];
  for (let count = 0; count <= lines.length; count++) {
    const head = ["first", ...lines.slice(0, count)].join("\r\n");
    const read = (max: number) => parseHeaders(head, "first\r\n".length, max);
    assertEquals(read(count), lines.slice(0, count).map((line) => parseHeader(line)));
    if (count > 0) {
      assertEquals(assertThrows(() => read(count - 1), MalformedMessage).status, 431);
    }
  }
  assertEquals(parseHeader("b: c:d "), { name: "b", lower: "b", value: "c:d" });
});
