/**
 * The `@std` modules come without types, and `std.d.ts` declares them. Each call below is wrong: without a declaration
 * the module would be `any`, the call would compile, and the type check would report the unused `@ts-expect-error`.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { concat } from "@std/bytes/concat";
import { equals } from "@std/bytes/equals";
import { encodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";
import { STATUS_TEXT } from "@std/http/status";
import { typeByExtension } from "@std/media-types/type-by-extension";
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { monotonicUlid } from "@std/ulid";
import config from "../../deno.json" with { type: "json" };

/** One wrong call for each module. They are compiled and never run. */
const WRONG: Record<string, () => unknown> = {
  // @ts-expect-error: a number is not a string
  "@std/assert": () => assertEquals<string>("a", 1),
  // @ts-expect-error: a duration is not a string
  "@std/async/deadline": () => deadline(Promise.resolve(), "1s"),
  // @ts-expect-error: a duration is not a string
  "@std/async/delay": () => delay("1s"),
  // @ts-expect-error: a list is wanted
  "@std/bytes/concat": () => concat(new Uint8Array()),
  // @ts-expect-error: a string is not bytes
  "@std/bytes/equals": () => equals("a", "a"),
  // @ts-expect-error: base64 is a string
  "@std/encoding/base64": (): number => encodeBase64("a"),
  // @ts-expect-error: hexadecimal is a string
  "@std/encoding/hex": (): number => encodeHex("a"),
  // @ts-expect-error: a status text is a string
  "@std/http/status": (): number => STATUS_TEXT[200],
  // @ts-expect-error: there may be no type
  "@std/media-types/type-by-extension": (): string => typeByExtension("png"),
  // @ts-expect-error: a path is a string
  "@std/path/basename": () => basename(1),
  // @ts-expect-error: a path is a string
  "@std/path/dirname": () => dirname(1),
  // @ts-expect-error: a path is a string
  "@std/path/from-file-url": (): URL => fromFileUrl("file:///a"),
  // @ts-expect-error: a path is a string
  "@std/path/join": () => join(1),
  // @ts-expect-error: a path is a string
  "@std/path/resolve": () => resolve(1),
  // @ts-expect-error: an id is a string
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
