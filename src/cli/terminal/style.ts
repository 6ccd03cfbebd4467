import type { Environment } from "./output.ts";

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
export function styleFor(output: { isTerminal(): boolean }, env: Environment): Style {
  const { NO_COLOR = "", TERM } = env;
  return NO_COLOR !== "" || TERM === "dumb" || !output.isTerminal() ? PLAIN : COLOURED;
}
