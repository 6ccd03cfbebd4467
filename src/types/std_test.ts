/**
 * The `@std` modules have no types of their own. Each line below is a wrong call: were a module's import `any` again, it
 * would be right, and the comment above it an error of the type check.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { equals } from "@std/bytes/equals";
import { encodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";
import { typeByExtension } from "@std/media-types/type-by-extension";
import { join } from "@std/path";
import { monotonicUlid } from "@std/ulid";
import config from "../../deno.json" with { type: "json" };

/** One wrong call a module, never made. */
const WRONG: Record<string, () => unknown> = {
  // @ts-expect-error: a number is no text
  "@std/assert": () => assertEquals<string>("a", 1),
  // @ts-expect-error: a time is no text
  "@std/async/deadline": () => deadline(Promise.resolve(), "1s"),
  // @ts-expect-error: a time is no text
  "@std/async/delay": () => delay("1s"),
  // @ts-expect-error: a text is no bytes
  "@std/bytes/equals": () => equals("a", "a"),
  // @ts-expect-error: base64 is text
  "@std/encoding/base64": (): number => encodeBase64("a"),
  // @ts-expect-error: hexadecimal is text
  "@std/encoding/hex": (): number => encodeHex("a"),
  // @ts-expect-error: a type is text, or there is none
  "@std/media-types/type-by-extension": (): string => typeByExtension("png"),
  // @ts-expect-error: a path is text
  "@std/path": () => join(1),
  // @ts-expect-error: an id is text
  "@std/ulid": (): number => monotonicUlid(),
};

Deno.test("Wrong use of any mapped @std module does not compile", () => {
  const mapped = Object.keys(config.imports).filter((name) => name.startsWith("@std/"));
  assertEquals(Object.keys(WRONG).toSorted(), mapped.toSorted());
});

Deno.test("Every function that is declared for an @std module exists", async () => {
  const declarations = await Deno.readTextFile(new URL("./std.d.ts", import.meta.url));
  const modules = declarations.split(/^declare module "/m).slice(1);
  assert(modules.length >= Object.keys(WRONG).length);
  for (const text of modules) {
    const name = text.slice(0, text.indexOf('"'));
    if (!(name in WRONG)) continue;
    const module: Record<string, unknown> = await import(name);
    for (const [, one = ""] of text.matchAll(/export (?:function|class) (\w+)/g)) {
      assertEquals(typeof module[one], "function", `${one} of ${name}`);
    }
  }
});

Deno.test("The assertions fail for wrong values", () => {
  assertThrows(() => assertEquals([1], [2]));
  assertThrows(() => assert(false));
});
