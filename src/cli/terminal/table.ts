import { printable, textWidth } from "./text.ts";

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
