const ESCAPE = "\x1b";
const SEQUENCE_OR_CHARACTER = new RegExp(`${ESCAPE}\\[[\\d;?]*[A-Za-z]|[^${ESCAPE}]`, "gsu");

/** What a terminal shows of what a program writes: lines, and the sequences that clear. */
export class Screen {
  lines: string[] = [""];
  /** The longest text that stood in a line at any time. */
  widest = 0;
  #row = 0;
  #column = 0;

  write(text: string): void {
    for (const [piece] of text.matchAll(SEQUENCE_OR_CHARACTER)) this.#put(piece);
  }

  #put(piece: string): void {
    const line = this.lines[this.#row] ?? "";
    if (piece === "\r") this.#column = 0;
    else if (piece === "\n") this.lines[++this.#row] ??= "";
    else if (piece === "\x1b[K" || piece === "\x1b[J") {
      this.lines[this.#row] = line.slice(0, this.#column);
    } else if (piece.length === 1) {
      this.lines[this.#row] = line.slice(0, this.#column) + piece + line.slice(++this.#column);
      this.widest = Math.max(this.widest, (this.lines[this.#row] ?? "").length);
    }
  }
}
