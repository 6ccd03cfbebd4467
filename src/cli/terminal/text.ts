import { MIN_SECRET_LENGTH } from "../../rules/secrets.ts";

/** "1 file", "2 files". */
export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * Characters that a terminal obeys instead of showing them, or that turn the order of what stands around them. The two
 * joiners that emoji and some scripts are written with are harmless.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const NAMED = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** A text as a terminal may show it: one line, in which nothing but plain characters is left. */
export function printable(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return NAMED.get(character) ?? `\\u{${code.toString(16)}}`;
  });
}

/** JSON on one line, with everything escaped that a terminal would obey. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(INVISIBLE, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** A word of the command line as a message repeats it. One that may hold a secret, put in the wrong place, is left out. */
export function quoteWord(word: string): string {
  const mayBeSecret = new RegExp(`[\\w.~+-]{${MIN_SECRET_LENGTH}}`).test(word);
  return mayBeSecret ? '"…"' : `"${word}"`;
}

/** Characters that take two columns of a terminal. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The columns of a terminal that a line of visible text takes. */
export function textWidth(text: string): number {
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += widthOf(segment);
  return columns;
}

/** A text that takes at most so many columns; where it takes more, its end, which tells names apart, behind `…`. */
export function fitEnd(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let room = columns - 1;
  let end = "";
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    room -= widthOf(segment);
    if (room < 0) break;
    end = segment + end;
  }
  return columns < 1 ? "" : `…${end}`;
}

function widthOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Part of the pure rules, as messages of the store need it as well. */
export { formatBytes } from "../../rules/units.ts";
