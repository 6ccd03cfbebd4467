import { extensionOf } from "../../files/listing/kinds.ts";

/** What a part of a line is; empty for anything else. */
export type TokenKind = "comment" | "string" | "number" | "word" | "removed" | "";

export interface Token {
  kind: TokenKind;
  text: string;
}

/** What began on an earlier line, such as a comment. */
export interface Block {
  kind: TokenKind;
  /** Matches the rest of it, at the place where that begins. */
  rest: RegExp;
}

export interface Language {
  /** Matches the next thing that may have a color. Its groups are kinds of tokens, or `block`. */
  pattern: RegExp;
  /** The words among those that it matches that have a color; absent for all of them. */
  words?: ReadonlySet<string>;
}

/** Longer lines have no colors: they are written by programs. */
const MAX_LINE = 2000;

/** What may have several lines, by its beginning. */
const BLOCKS = new Map<string, Block>([
  ["/*", { kind: "comment", rest: /.*?\*\//y }],
  ["<!--", { kind: "comment", rest: /.*?-->/y }],
  ["--[[", { kind: "comment", rest: /.*?\]\]/y }],
  ['"""', { kind: "string", rest: /.*?"""/y }],
  ["'''", { kind: "string", rest: /.*?'''/y }],
  ["`", { kind: "string", rest: /(?:[^`\\]|\\.)*`/y }],
]);

// A string that does not end reaches to the end of its line.
const DOUBLE = String.raw`"(?:[^"\\\n]|\\.)*"?`;
const SINGLE = String.raw`'(?:[^'\\\n]|\\.)*'?`;
const STRING = `(?<string>${DOUBLE}|${SINGLE})`;
const NUMBER = String.raw`(?<number>\d[\w.]*)`;
const WORD = String.raw`(?<word>[A-Za-z_$][\w$]*)`;

/** The keywords of common languages: in most of them the others mean nothing. */
const WORDS = wordsOf(
  `abstract and as async await begin bool boolean break byte case catch chan char class const constexpr continue crate
  declare def default defer del delete do done double echo elif else elsif elseif end endif enum esac except export
  extends extern false fi final finally float fn for foreach from func function global go goto guard if impl implements
  import in include int interface instanceof internal is keyof lambda let local long loop match mod module mut namespace
  new nil nonlocal none not null number object of operator or override package pass priv private protected protocol pub
  public raise range readonly require rescue return satisfies sealed select self short signed sizeof static string struct
  super switch template then this throw throws trait true try type typedef typename typeof undefined union unless unsafe
  unsigned until use using val var virtual void volatile when where while with yield None True False Self`,
);

const SQL_NAMES =
  `add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct
  drop else end exists false foreign from full group having in index inner insert into is join key left like limit not null
  offset on or order outer primary references right rollback select set table then true union unique update using values
  view when where with`;
const SQL_WORDS = wordsOf(`${SQL_NAMES} ${SQL_NAMES.toUpperCase()}`);

const SLASHES = language(String.raw`(?<block>/\*|${"`"})|(?<comment>//.*)`, STRING, WORDS);
// A quote may begin the name of a lifetime.
const RUST_STRING = String.raw`(?<string>${DOUBLE}|'(?:[^'\\\n]|\\'|\\[^'\n]{1,9})')`;
const RUST = language(String.raw`(?<block>/\*)|(?<comment>//.*)`, RUST_STRING, WORDS);
const HASHES = language(String.raw`(?<block>"""|''')|(?<comment>(?<![\w$&])#.*)`, STRING, WORDS);
const DASHES = language(String.raw`(?<block>--\[\[)|(?<comment>--.*)`, STRING, WORDS);
const SQL = language(String.raw`(?<block>/\*)|(?<comment>--.*)`, STRING, SQL_WORDS);
const STYLES: Language = {
  pattern: new RegExp(
    String
      .raw`(?<block>/\*)|(?<comment>(?<!:)//.*)|${STRING}|(?<word>@[\w-]+)|[A-Za-z_-][\w-]*|${NUMBER}`,
    "g",
  ),
};
const MARKUP: Language = {
  pattern:
    /(?<block><!--)|(?<word><[/?!]?[A-Za-z][\w:.-]*|[/?]?>)|(?<string>(?<==)(?:"[^"\n]*"?|'[^'\n]*'?))/g,
};
// An apostrophe within a word begins no string.
const SETTINGS: Language = {
  pattern: new RegExp(
    String.raw`(?<comment>(?<!\S)[#;].*)|(?<word>^\s*(?:-\s+)?[\w.$/-]+(?=\s*[:=])|^\s*\[.*\])|` +
      String.raw`(?<string>${DOUBLE}|(?<!\w)${SINGLE})|[A-Za-z_][\w.-]*|${NUMBER}`,
    "g",
  ),
};
const CHANGES: Language = {
  pattern:
    /(?<comment>^(?:diff|index|---|\+\+\+) .*)|(?<word>^@@.*)|(?<string>^\+.*)|(?<removed>^-.*)/g,
};

/** Languages by extension. */
const EXTENSIONS: readonly (readonly [Language, string])[] = [
  [
    SLASHES,
    "js mjs cjs jsx ts mts tsx java kt kts scala c h cc cpp hpp cs go swift dart php proto json jsonc jsonl ndjson " +
    "geojson webmanifest ipynb",
  ],
  [RUST, "rs"],
  [HASHES, "py rb sh bash zsh fish ps1 pl r graphql"],
  [DASHES, "lua"],
  [SQL, "sql"],
  [STYLES, "css scss less"],
  [MARKUP, "html htm xhtml xml svg vue svelte"],
  [SETTINGS, "yml yaml toml ini conf cfg env properties"],
  [CHANGES, "diff patch"],
];

/** The language of a file; `undefined` if it has no colors. */
export function languageOf(label: string): Language | undefined {
  const extension = extensionOf(label);
  return EXTENSIONS.find(([, names]) => names.split(" ").includes(extension))?.[0];
}

/**
 * Splits a line into tokens, in a time that grows only with its length.
 *
 * @param open What an earlier line began.
 * @returns The tokens, and what the line leaves open.
 */
export function tokensOf(
  line: string,
  { pattern, words }: Language,
  open: Block | undefined,
): [tokens: Token[], open: Block | undefined] {
  if (line.length > MAX_LINE) return [[{ kind: "", text: line }], undefined];
  const tokens: Token[] = [];
  let [from, at] = [0, 0];
  const add = (kind: TokenKind, start: number, end: number) => {
    if (start > from) tokens.push({ kind: "", text: line.slice(from, start) });
    if (end > start) tokens.push({ kind, text: line.slice(start, end) });
    from = at = end;
  };
  while (at < line.length) {
    if (open !== undefined) {
      open.rest.lastIndex = at;
      const isOver = open.rest.test(line);
      add(open.kind, at, isOver ? open.rest.lastIndex : line.length);
      if (isOver) open = undefined;
      continue;
    }
    pattern.lastIndex = at;
    const found = pattern.exec(line);
    if (found === null) break;
    const { index, groups = {}, 0: text } = found;
    const end = index + text.length;
    const { block, word, ...others } = groups;
    const kind = Object.keys(others).find((kind) => others[kind] !== undefined) as TokenKind;
    if (block !== undefined) {
      open = BLOCKS.get(block);
      add(open?.kind ?? "", index, end);
    } else if (kind !== undefined) add(kind, index, end);
    else if (word !== undefined && (words?.has(word) ?? true)) add("word", index, end);
    else at = end;
  }
  add("", line.length, line.length);
  return [tokens, open];
}

function language(beginnings: string, string: string, words: ReadonlySet<string>): Language {
  return { pattern: new RegExp(`${beginnings}|${string}|${WORD}|${NUMBER}`, "g"), words };
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
