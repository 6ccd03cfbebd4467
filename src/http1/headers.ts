/**
 * A message that violates HTTP/1.1, or uses a part of it that is not supported. `message` completes the sentence "The
 * request is malformed: …"; `status` is the response to a client that sent it.
 */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";

  constructor(message: string, readonly status: 400 | 405 | 414 | 417 | 431 | 501 | 505 = 400) {
    super(message);
  }
}

/** A header line, with the spelling that was received. */
export interface Header {
  name: string;
  /** The name in lower case. */
  lower: string;
  /** The value without leading and trailing spaces and tabs. */
  value: string;
}

/** "token" of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const NO_TOKENS: string[] = [];

/** Parses the lines of a head after its first. @throws {MalformedMessage} */
export function parseHeaders(lines: readonly string[]): Header[] {
  const headers: Header[] = [];
  for (let i = 1; i < lines.length; i++) headers.push(parseHeader(lines[i] ?? ""));
  return headers;
}

/** Parses one header line. @throws {MalformedMessage} */
export function parseHeader(line: string): Header {
  const colon = line.indexOf(":");
  if (colon === -1) throw new MalformedMessage("a header has no colon");
  const name = line.slice(0, colon);
  // "No whitespace is allowed between the field name and colon" (RFC 9112, 5.1). A folded line starts with white space.
  if (!isToken(name)) throw new MalformedMessage("a header has an invalid name");
  return { name, lower: name.toLowerCase(), value: trimBlanks(line, colon + 1) };
}

/** Whether a text is a token: a method, the name of a header, or the name of a protocol. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the value of a header, or `undefined` if it is absent. @throws {MalformedMessage} if it is repeated. */
export function singleHeader(headers: readonly Header[], lower: string): string | undefined {
  let found: string | undefined;
  for (const header of headers) {
    if (header.lower !== lower) continue;
    if (found !== undefined) {
      throw new MalformedMessage(`the header ${header.name} occurs more than once`);
    }
    found = header.value;
  }
  return found;
}

/** Returns all values of a header joined by commas (RFC 9110, 5.3), or `undefined` if it is absent. */
export function joinedHeader(headers: readonly Header[], lower: string): string | undefined {
  let found: string | undefined;
  for (const header of headers) {
    if (header.lower === lower) {
      found = found === undefined ? header.value : `${found}, ${header.value}`;
    }
  }
  return found;
}

/** Returns the elements of a header that holds a list of tokens, in lower case. */
export function headerTokens(headers: readonly Header[], lower: string): string[] {
  const joined = joinedHeader(headers, lower);
  if (joined === undefined) return NO_TOKENS;
  return joined.toLowerCase().split(",").map((element) => trimBlanks(element, 0)).filter(Boolean);
}

/** Returns the text from a position on without spaces and tabs around it. Other white space is part of a value. */
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
