/**
 * A message that is not one of HTTP/1.1, or one that we do not take. The message says what is wrong with it, as the end
 * of a sentence; the status is what a caller who sent it gets.
 */
export class MalformedMessage extends Error {
  override readonly name = "Malformed";

  constructor(message: string, readonly status: 400 | 405 | 414 | 417 | 431 | 501 | 505 = 400) {
    super(message);
  }
}

/** A header as it came. */
export interface Header {
  name: string;
  /** The name in lower case. */
  lower: string;
  /** Without white space around it. */
  value: string;
}

/** "token" of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Reads the lines behind the first one of a head. @throws {MalformedMessage} */
export function parseHeaders(lines: readonly string[]): Header[] {
  const fields: Header[] = [];
  for (let i = 1; i < lines.length; i++) fields.push(parseHeader(lines[i] ?? ""));
  return fields;
}

function parseHeader(line: string): Header {
  const colon = line.indexOf(":");
  if (colon === -1) throw new MalformedMessage("a header has no colon");
  const name = line.slice(0, colon);
  // "No whitespace is allowed between the field name and colon" (RFC 9112, 5.1); a folded line begins with white space.
  if (!isToken(name)) throw new MalformedMessage("the name of a header is none");
  return { name, lower: name.toLowerCase(), value: trimBlanks(line, colon + 1) };
}

/** Whether the text is a token: a method, the name of a header or of a protocol. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The text from there on without spaces and tabs around it. Other white space belongs to it. */
function trimBlanks(text: string, from: number): string {
  let start = from;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** The value of a header that may come once. @throws {MalformedMessage} where it comes more than once. */
export function singleHeader(fields: readonly Header[], lower: string): string | undefined {
  let found: string | undefined;
  for (const field of fields) {
    if (field.lower !== lower) continue;
    if (found !== undefined) {
      throw new MalformedMessage(`the header ${field.name} comes more than once`);
    }
    found = field.value;
  }
  return found;
}

/** All values of a header, as one list (RFC 9110, 5.3); `undefined` where there is none. */
export function joinedHeader(fields: readonly Header[], lower: string): string | undefined {
  let found: string | undefined;
  for (const field of fields) {
    if (field.lower === lower) {
      found = found === undefined ? field.value : `${found}, ${field.value}`;
    }
  }
  return found;
}

/** The elements of a header that is a list of tokens, in lower case. */
export function headerTokens(fields: readonly Header[], lower: string): string[] {
  const joined = joinedHeader(fields, lower);
  if (joined === undefined) return NONE;
  return joined.toLowerCase().split(",").map((element) => trimBlanks(element, 0)).filter(Boolean);
}

const NONE: string[] = [];
