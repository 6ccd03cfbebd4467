import { assert } from "@std/assert";

/** What a printed `curl` line asks for. */
export interface CurlRequest {
  method: string;
  url: string;
  headers: Headers;
  body: string | undefined;
}

/** The `curl` command in a text, with the lines that a backslash joins to it. */
export function findCurlLine(text: string): string {
  const match = /^[ \t$]*(curl\b(?:\\\n|.)*)$/m.exec(text);
  assert(match?.[1] !== undefined, `No curl line in: ${text}`);
  return match[1].trim();
}

/** Reads a `curl` line the way a shell and curl do, as far as a first upload needs it. */
export function parseCurlLine(line: string): CurlRequest {
  const [command, ...words] = splitWords(line);
  assert(command === "curl", line);
  const headers = new Headers();
  let [method, url, body]: (string | undefined)[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-H" || word === "--header") addHeader(headers, words.shift() ?? "");
    else if (word === "-X" || word === "--request") method = words.shift();
    else if (word === "-d" || word.startsWith("--data")) body = words.shift();
    else if (word.startsWith("http")) url = word;
    else assert(/^-[fsS]+$|^--fail|^--silent|^--show-error/.test(word), `Unknown: ${word}`);
  }
  assert(url !== undefined, `No address in: ${line}`);
  return { method: method ?? (body === undefined ? "GET" : "POST"), url, headers, body };
}

function addHeader(headers: Headers, line: string): void {
  const colon = line.indexOf(":");
  headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
}

/** The words of a shell command without variables: quotes, backslashes and spaces. */
function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece] of line.matchAll(/'[^']*'|"(?:\\.|[^"\\])*"|\\[\s\S]|\s+|[^\s'"\\]+/g)) {
    if (/^\s/.test(piece)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (piece !== "\\\n") {
      word = (word ?? "") + unquote(piece);
    }
  }
  return word === undefined ? words : [...words, word];
}

function unquote(piece: string): string {
  if (piece.startsWith("'")) return piece.slice(1, -1);
  if (piece.startsWith('"')) return piece.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1");
  return piece.startsWith("\\") ? piece.slice(1) : piece;
}
