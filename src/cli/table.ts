import { visible } from "./visible.ts";

/** What stands in a column: numbers stand right, `null` is a dash. */
export type Cell = string | number | null;

/** Characters that take two columns of a terminal. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const GAP = "  ";

/**
 * Lines of columns under their headings, aligned as a terminal shows them.
 *
 * @param emphasize What to do with the line of headings.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  emphasize: (line: string) => string,
): string {
  const texts = rows.map((row) => row.map((cell) => cell === null ? "-" : visible(String(cell))));
  const widths = headings.map((heading, column) =>
    Math.max(...[heading, ...texts.map((row) => row[column] ?? "")].map(width))
  );
  const isNumber = headings.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  const line = (row: readonly string[]) =>
    row.map((text, column) => {
      const space = " ".repeat((widths[column] ?? 0) - width(text));
      return isNumber[column] === true ? space + text : text + space;
    }).join(GAP).trimEnd();
  return [emphasize(line(headings)), ...texts.map(line)].map((text) => `${text}\n`).join("");
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function width(text: string): number {
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}
