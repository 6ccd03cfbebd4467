/**
 * Patterns for names: `*` and `?` stop at `/`, `**` does not, and `\` takes the special meaning of `*`, `?` and `\` away. (Not
 * a library: these give brackets and braces a meaning, which are common in file names.)
 *
 * @module
 */

/** A character of a pattern, or a wildcard. */
type Token = { text: string } | { wildcard: "*" | "?" | "**" | "**/" };

/** A pattern for whole names. */
export class Glob {
  /** The name that the pattern stands for, if it has no wildcard. */
  readonly literal: string | undefined;
  /** The folder in which all matches are: what precedes the first wildcard, up to its last `/`. */
  readonly folder: string;
  /** What all matches begin with. */
  readonly prefix: string;
  /** Whether all matches are directly in `folder`. */
  readonly isFlat: boolean;
  readonly #pattern: RegExp;

  constructor(text: string) {
    const tokens = [...tokensOf(text)];
    const end = tokens.findIndex((token) => "wildcard" in token);
    this.prefix = literalOf(end === -1 ? tokens : tokens.slice(0, end));
    this.literal = end === -1 ? this.prefix : undefined;
    this.folder = this.prefix.slice(0, this.prefix.lastIndexOf("/") + 1);
    this.isFlat = !tokens.some((token, index) =>
      "text" in token ? token.text === "/" && index > end : token.wildcard.startsWith("**")
    );
    this.#pattern = new RegExp(`^${tokens.map(patternOf).join("")}$`, "su");
  }

  matches(name: string): boolean {
    return this.#pattern.test(name);
  }
}

/** Returns a pattern that matches one name only. */
export function escapeGlob(name: string): string {
  return name.replaceAll(/[*?\\]/g, "\\$&");
}

/** Returns a text without the backslashes that take a special meaning away; wildcards stand for themselves. */
export function unescapeGlob(text: string): string {
  return text.replaceAll(/\\([*?\\])/g, "$1");
}

function* tokensOf(text: string): Iterable<Token> {
  const parts = /\\[*?\\]|\*{2,}\/?|[*?]|[^]/gu;
  for (const { 0: part, index } of text.matchAll(parts)) {
    if (part.length === 2 && part.startsWith("\\")) yield { text: part.slice(1) };
    else if (!part.startsWith("*") && part !== "?") yield { text: part };
    else if (part === "*" || part === "?") yield { wildcard: part };
    // Between slashes it also stands for no folder at all.
    else if (part.endsWith("/") && (index === 0 || text[index - 1] === "/")) {
      yield { wildcard: "**/" };
    } else {
      yield { wildcard: "**" };
      if (part.endsWith("/")) yield { text: "/" };
    }
  }
}

function literalOf(tokens: readonly Token[]): string {
  return tokens.map((token) => "text" in token ? token.text : "").join("");
}

const PATTERNS = { "*": "[^/]*", "?": "[^/]", "**": ".*", "**/": "(?:.*/)?" } as const;

function patternOf(token: Token): string {
  return "text" in token
    ? token.text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, "\\$&")
    : PATTERNS[token.wildcard];
}

/** A pattern of a filter. */
interface Rule {
  glob: Glob;
  /** Whether everything in a folder that matches also matches. */
  coversFolders: boolean;
}

/**
 * Chooses files by `--include` and `--exclude`. Names are those below the folder that is transferred. A file passes if it
 * matches one of the former, where there are any, and none of the latter.
 */
export class NameFilter {
  readonly #include: readonly Rule[];
  readonly #exclude: readonly Rule[];

  constructor({ include = [], exclude = [] }: FilterPatterns) {
    this.#include = include.map(ruleOf);
    this.#exclude = exclude.map(ruleOf);
  }

  /** Reports whether a file passes. */
  passes(name: string): boolean {
    const isMatched = ({ glob }: Rule) => glob.matches(name);
    return (this.#include.length === 0 || this.#include.some(isMatched)) &&
      !this.#exclude.some(isMatched);
  }

  /** Reports whether a folder that may be empty passes. Its name ends with a slash. */
  passesFolder(name: string): boolean {
    const isMatched = ({ glob, coversFolders }: Rule) => coversFolders && glob.matches(name);
    return (this.#include.length === 0 || this.#include.some(isMatched)) && !this.prunes(name);
  }

  /** Reports whether nothing in a folder can pass. Its name ends with a slash. */
  prunes(name: string): boolean {
    return this.#exclude.some(({ glob, coversFolders }) => coversFolders && glob.matches(name));
  }
}

export interface FilterPatterns {
  include?: readonly string[];
  exclude?: readonly string[];
}

/**
 * "A pattern without a slash matches the last segment at any depth." One that ends with a slash matches everything in
 * the folders of that name, and one that begins with a slash is about the whole name.
 */
function ruleOf(pattern: string): Rule {
  const isOfFolder = pattern.endsWith("/");
  const base = isOfFolder ? pattern.replace(/\/+$/, "") : pattern;
  const whole = base.includes("/") ? base.replace(/^\//, "") : `**/${base}`;
  const text = isOfFolder ? `${whole}/**` : whole;
  return { glob: new Glob(text), coversFolders: /(^|\/)\*\*$/.test(text) };
}
