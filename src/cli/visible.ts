import { MIN_SECRET } from "../drive/limits.ts";

/**
 * Characters that a terminal obeys instead of showing them, or that turn the order of what stands around them. The two
 * joiners that emoji and some scripts are written with are harmless.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const NAMED = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** A text as a terminal may show it: one line, in which nothing but plain characters is left. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return NAMED.get(character) ?? `\\u{${code.toString(16)}}`;
  });
}

/** JSON on one line, with everything escaped that a terminal would obey. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** A word of the command line as a message repeats it. One that may hold a secret, put in the wrong place, is left out. */
export function quoted(word: string): string {
  const mayBeSecret = new RegExp(`[\\w.~+-]{${MIN_SECRET}}`).test(word);
  return mayBeSecret ? '"…"' : `"${word}"`;
}
