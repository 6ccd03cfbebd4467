import { MIN_SECRET_LENGTH } from "../../rules/secrets.ts";

/**
 * Characters that a terminal interprets instead of showing, or that change the direction of the text around them. The two
 * joiners that emoji and some scripts need are harmless.
 */
const CONTROL = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const NAMED = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** Escapes control characters, so that untrusted text takes one line and cannot control a terminal. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return NAMED.get(character) ?? `\\u{${code.toString(16)}}`;
  });
}

/** Returns JSON on one line, with control characters escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(CONTROL, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** Quotes a word of the command line for a message. A word that may be a misplaced secret becomes "…". */
export function quoteWord(word: string): string {
  const mayBeSecret = new RegExp(`[\\w.~+-]{${MIN_SECRET_LENGTH}}`).test(word);
  return mayBeSecret ? '"…"' : `"${word}"`;
}

/** "1 file", "2 files". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Characters that take two columns of a terminal. (Not `@std/cli/unicode-width`: it counts the parts of an emoji sequence
 * one by one, and its npm release lacks its data file.)
 */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Splits text into what a user sees as one character each. Made on demand: it loads tables that servers never need. */
function graphemesOf(text: string): Intl.SegmentData[] {
  return [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)];
}

/** Returns the columns that printable text takes on a terminal. */
export function textWidth(text: string): number {
  let columns = 0;
  for (const { segment } of graphemesOf(text)) columns += widthOf(segment);
  return columns;
}

/** Shortens a text to a number of columns. It keeps the end, which tells names apart: "…cat.jpg". */
export function fitEnd(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let room = columns - 1;
  let end = "";
  for (const { segment } of graphemesOf(text).reverse()) {
    room -= widthOf(segment);
    if (room < 0) break;
    end = segment + end;
  }
  return columns < 1 ? "" : `…${end}`;
}

function widthOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}

/** The content of a cell: numbers are aligned right, `null` becomes a dash. */
export type Cell = string | number | null;

const GAP = "  ";

/**
 * Formats rows as columns under headings, aligned by their width on a terminal.
 *
 * @param emphasize Formats the line of headings.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  emphasize: (line: string) => string,
): string {
  const texts = rows.map((row) => row.map((cell) => cell === null ? "-" : printable(String(cell))));
  const widths = headings.map((heading, column) =>
    Math.max(...[heading, ...texts.map((row) => row[column] ?? "")].map(textWidth))
  );
  const isNumber = headings.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  const line = (row: readonly string[]) =>
    row.map((text, column) => {
      const space = " ".repeat((widths[column] ?? 0) - textWidth(text));
      return isNumber[column] === true ? space + text : text + space;
    }).join(GAP).trimEnd();
  return [emphasize(line(headings)), ...texts.map(line)].map((text) => `${text}\n`).join("");
}

export interface Style {
  bold(text: string): string;
  /** For what matters less. */
  dim(text: string): string;
}

const PLAIN: Style = { bold: (text) => text, dim: (text) => text };

const COLOURED: Style = {
  bold: (text) => `\x1b[1m${text}\x1b[0m`,
  dim: (text) => `\x1b[2m${text}\x1b[0m`,
};

/** Returns the style of an output: plain text unless it is a terminal, and NO_COLOR is not set. */
export function styleFor(
  output: { isTerminal(): boolean },
  env: { NO_COLOR?: string | undefined; TERM?: string | undefined },
): Style {
  const { NO_COLOR = "", TERM } = env;
  return NO_COLOR !== "" || TERM === "dumb" || !output.isTerminal() ? PLAIN : COLOURED;
}
