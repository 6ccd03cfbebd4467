/** The delimiters of tables, the most common one first. */
const DELIMITERS = [",", ";", "\t", "|"];
/** The beginning of a text in which the delimiter is looked for, in characters. */
const LOOKED_AT = 4096;

/**
 * Reads the beginning of a table: fields in quotes may contain delimiters, line ends and doubled quotes (RFC 4180).
 *
 * @param maxRows Rows to read at most.
 */
export function parseTable(
  text: string,
  maxRows: number,
  delimiter: string = delimiterOf(text),
): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length && rows.length < maxRows) {
    const [value, end] = text[at] === '"'
      ? quotedAt(text, at, delimiter)
      : plainAt(text, at, delimiter);
    row.push(value);
    at = end;
    if (text[at] === delimiter) {
      at++;
      // A delimiter at the very end is followed by an empty field.
      if (at < text.length) continue;
      row.push("");
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    rows.push(row);
    row = [];
  }
  return rows;
}

function plainAt(text: string, start: number, delimiter: string): [string, number] {
  let end = start;
  while (end < text.length && text[end] !== delimiter && !isLineEnd(text[end])) end++;
  return [text.slice(start, end), end];
}

function quotedAt(text: string, start: number, delimiter: string): [string, number] {
  let value = "";
  for (let from = start + 1;;) {
    const quote = text.indexOf('"', from);
    // A field without its closing quote is the rest of the text.
    if (quote < 0) return [value + text.slice(from), text.length];
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      // Text between a closing quote and the delimiter belongs to the field.
      const [rest, end] = plainAt(text, quote + 1, delimiter);
      return [value + rest, end];
    }
    value += '"';
    from = quote + 2;
  }
}

function isLineEnd(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}

/** The delimiter that occurs most often outside of quotes in the first lines. */
export function delimiterOf(text: string): string {
  const plain = text.slice(0, LOOKED_AT).replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((one) => plain.split(one).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}
