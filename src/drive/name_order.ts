import { MAX_NAME } from "./limits.ts";
import { byteLength } from "./names.ts";

/** The first position of the range in UTF-16 that stands for code points above U+FFFF. */
const SURROGATES = 0xd800;
const LAST_CODE_POINT = 0x10ffff;

/**
 * Compares two names by their UTF-8 bytes, as the store orders them: negative, zero or positive.
 * JavaScript's `<` compares UTF-16 units, which puts U+1F600 before U+FFFD.
 */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves the units of surrogate pairs behind all others, where their code points belong. */
function rank(unit: number): number {
  return unit >= SURROGATES && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** The smallest name that is greater than `name`. No name holds a NUL, so this one itself is never taken. */
export function nameAfter(name: string): string {
  return name + "\0";
}

/**
 * The smallest string that is greater than `text` as far as names can tell: none holds a NUL or has more than 1024
 * bytes, so what comes after that in `text` decides nothing, and the string fits into a key.
 */
export function boundaryAfter(text: string): string {
  const [head = ""] = text.split("\0", 1);
  let bytes = 0;
  let length = 0;
  for (const character of head) {
    if (bytes > MAX_NAME) break;
    bytes += byteLength(character);
    length += character.length;
  }
  return nameAfter(head.slice(0, length));
}

/** The smallest string that is greater than all that begin with `prefix`; `undefined` if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last === LAST_CODE_POINT) continue;
    // U+D800 to U+DFFF are no characters.
    points.push(last + 1 === SURROGATES ? 0xe000 : last + 1);
    return String.fromCodePoint(...points);
  }
  return undefined;
}
