import { Malformed } from "./malformed.ts";

/** A header as it came. */
export interface Field {
  name: string;
  /** The name in lower case. */
  lower: string;
  /** Without white space around it. */
  value: string;
}

/** "token" of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Reads the lines behind the first one of a head. @throws {Malformed} */
export function parseFields(lines: readonly string[]): Field[] {
  const fields: Field[] = [];
  for (let i = 1; i < lines.length; i++) fields.push(parseField(lines[i] ?? ""));
  return fields;
}

function parseField(line: string): Field {
  const colon = line.indexOf(":");
  if (colon === -1) throw new Malformed("a header has no colon");
  const name = line.slice(0, colon);
  // "No whitespace is allowed between the field name and colon" (RFC 9112, 5.1); a folded line begins with white space.
  if (!isToken(name)) throw new Malformed("the name of a header is none");
  return { name, lower: name.toLowerCase(), value: trimField(line, colon + 1) };
}

/** Whether the text is a token: a method, the name of a header or of a protocol. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The text from there on without spaces and tabs around it. Other white space belongs to it. */
function trimField(text: string, from: number): string {
  let start = from;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** The value of a header that may come once. @throws {Malformed} where it comes more than once. */
export function singleField(fields: readonly Field[], lower: string): string | undefined {
  let found: string | undefined;
  for (const field of fields) {
    if (field.lower !== lower) continue;
    if (found !== undefined) throw new Malformed(`the header ${field.name} comes more than once`);
    found = field.value;
  }
  return found;
}

/** All values of a header, as one list (RFC 9110, 5.3); `undefined` where there is none. */
export function joinedField(fields: readonly Field[], lower: string): string | undefined {
  let found: string | undefined;
  for (const field of fields) {
    if (field.lower === lower) {
      found = found === undefined ? field.value : `${found}, ${field.value}`;
    }
  }
  return found;
}

/** The elements of a header that is a list of tokens, in lower case. */
export function listedTokens(fields: readonly Field[], lower: string): string[] {
  const joined = joinedField(fields, lower);
  if (joined === undefined) return NONE;
  return joined.toLowerCase().split(",").map((element) => trimField(element, 0)).filter(Boolean);
}

const NONE: string[] = [];
