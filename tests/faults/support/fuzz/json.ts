import { utf8 } from "../../../support/bytes.ts";
import { joinBytes } from "../../../support/drive.ts";
import type { FuzzRandom } from "./random.ts";
import { goodName } from "./text.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "null",
  "true",
  "-",
  "\\",
  "\\u",
  "\\ud800",
  "1e99999",
  "-0",
  "//",
  "\u2028",
  "\0",
  '"names":["file-1"],',
  '"__proto__":{"names":["file-2"]},',
];

const VALUES = [
  "null",
  "true",
  "1",
  "1e400",
  `-${"9".repeat(4000)}`,
  '""',
  '"file-3"',
  "{}",
  "[]",
  "[null]",
  '["file-4", 1]',
  '[["file-5"]]',
  '{"0":"file-6","length":1}',
  '["a\\ud800b"]',
  '["\\udc00\\ud800"]',
  '["\\u0000"]',
  '["", " "]',
  '["dir-1/"]',
];

/** Returns the body of a deletion: valid, mutated or arbitrary. */
export function deleteBody(random: FuzzRandom): Bytes {
  return random.choose<() => Bytes>([
    [5, () => utf8(validBody(random))],
    [5, () => utf8(mutated(random, validBody(random)))],
    [3, () => utf8(`{"names":${random.pick(VALUES)}}`)],
    [2, () => utf8(duplicateKeys(random))],
    [1, () => utf8(nested(random))],
    [1, () => utf8(manyNames(random))],
    [1, () => utf8(random.pick(["", " ", "null", "[]", '"names"', "0", "\ufeff{}", "{}x"]))],
    [1, () => withBrokenBytes(random, utf8(validBody(random)))],
  ])();
}

function validBody(random: FuzzRandom): string {
  const names = Array.from({ length: random.between(1, 4) }, () => goodName(random));
  const text = JSON.stringify({ names }, null, random.pick([0, 1]));
  return random.chance(0.2) ? escapeAll(text) : text;
}

/** Replaces characters outside ASCII by `\u` escapes. */
function escapeAll(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (one) => `\\u${hex4(one)}`);
}

function hex4(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** Removes, repeats or inserts parts of a text. */
export function mutated(random: FuzzRandom, text: string): string {
  let result = text;
  for (let times = random.between(1, 4); times > 0; times--) {
    const at = random.below(result.length + 1);
    const end = Math.min(result.length, at + random.between(0, 6));
    const middle = random.choose([
      [2, ""],
      [3, random.pick(TOKENS)],
      [1, result.slice(at, end).repeat(2)],
    ]);
    result = result.slice(0, at) + middle + result.slice(random.chance(0.5) ? at : end);
  }
  // A lone surrogate has no UTF-8 encoding.
  return result.toWellFormed();
}

function duplicateKeys(random: FuzzRandom): string {
  const entries = Array.from({ length: random.between(2, 5) }, () => {
    const key = random.pick(["names", "names", "\\u006eames", "__proto__", "constructor", ""]);
    return `"${key}":${random.pick(VALUES)}`;
  });
  return `{${entries.join(",")}}`;
}

function nested(random: FuzzRandom): string {
  const depth = random.pick([2, 100, 5000, 100_000]);
  const [open, close] = random.pick([["[", "]"], ['{"names":', "}"]] as const);
  const inner = open.repeat(depth) + random.pick(["1", '["file-7"]', ""]) +
    close.repeat(random.chance(0.8) ? depth : depth - 1);
  return random.chance(0.5) ? inner : `{"names":[${inner}]}`;
}

function manyNames(random: FuzzRandom): string {
  const count = random.pick([999, 1000, 1001, 5000]);
  return JSON.stringify({ names: Array.from({ length: count }, (_, i) => `none-${i}`) });
}

function withBrokenBytes(random: FuzzRandom, bytes: Bytes): Bytes {
  const broken = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]);
  const at = random.below(bytes.length + 1);
  return joinBytes([bytes.slice(0, at), new Uint8Array(broken), bytes.slice(at)]);
}
