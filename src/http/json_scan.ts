/** The values that the JSON of a request may have, and how deep they may be nested. The largest valid body has 5003. */
export const MAX_JSON_VALUES = 10_000;
export const MAX_JSON_DEPTH = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** What a byte outside of strings is. */
const WORD = 0;
const SEPARATOR = 1;
const OPENING = 2;
const CLOSING = 3;

/** The kind of each byte. Bytes of numbers, literals and errors are parts of words. */
const KINDS = new Uint8Array(256);
for (const [kind, bytes] of [[SEPARATOR, " \t\r\n,:"], [OPENING, "[{"], [CLOSING, "]}"]] as const) {
  for (const character of bytes) KINDS[character.charCodeAt(0)] = kind;
}

/**
 * Counts the values of JSON and their depth in its bytes, before anything is built of them: a megabyte of small values
 * becomes a hundred megabytes of objects. Whether it is JSON at all is the parser's to say, which stops at the first
 * error.
 *
 * @returns What exceeds a limit, as the end of a sentence; `undefined` if nothing does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * const bytes = new TextEncoder().encode("[[[[[[[[[]]]]]]]]]");
 * assertEquals(jsonLimitProblem(bytes), "it is nested deeper than 8 levels");
 * ```
 */
export function jsonLimitProblem(bytes: Uint8Array): string | undefined {
  // Names of fields count as they begin, and no longer once their colon follows.
  let values = 0;
  let depth = 0;
  let isInWord = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const kind = KINDS[byte];
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
      values++;
    } else if (kind === OPENING) {
      if (++depth > MAX_JSON_DEPTH) return `it is nested deeper than ${MAX_JSON_DEPTH} levels`;
      values++;
    } else if (kind === CLOSING) depth--;
    else if (byte === COLON) values--;
    else if (kind === WORD && !isInWord) values++;
    isInWord = kind === WORD && byte !== QUOTE;
    if (values > MAX_JSON_VALUES) return `it has more than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}

/** The index of the quote at the end of a string, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
