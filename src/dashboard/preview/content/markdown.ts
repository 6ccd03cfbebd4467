import { Lexer, type Token } from "marked";

/** Longer texts are shown as their source, in characters. */
const MAX_MARKDOWN = 300_000;
/** Longer paragraphs are left as they are, in characters: some take quadratic time. */
const MAX_PARAGRAPH = 10_000;
/** After this time the rest is left as it is, in milliseconds: reading stops the page. */
const MAX_TIME = 1000;

/** Reads a Markdown file. Returns `undefined` for a text that is too long or too deep. */
export function readMarkdown(text: string): Token[] | undefined {
  if (text.length > MAX_MARKDOWN) return undefined;
  const end = performance.now() + MAX_TIME;
  try {
    const lexer = new Lexer();
    const tokens = lexer.blockTokens(text.replaceAll(/\r\n?/g, "\n"), lexer.tokens);
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length > MAX_PARAGRAPH || performance.now() > end) {
        tokens.push({ type: "text", raw: src, text: src });
      } else lexer.inlineTokens(src, tokens);
    }
    return tokens;
  } catch {
    // Thousands of quotations within each other are deeper than the stack.
    return undefined;
  }
}

/** The names of characters that Markdown files use most. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  middot: "·",
  bull: "•",
  rarr: "→",
  larr: "←",
  times: "×",
};

/** Replaces references such as `&amp;` and `&#8217;` by their characters. */
export function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (all, ten, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name]! : all;
    const code = ten === undefined ? parseInt(hex, 16) : Number(ten);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
