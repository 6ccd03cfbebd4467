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
