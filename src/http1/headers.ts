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

/** The characters of a "token" (RFC 9110, 5.6.2) by their codes: 1, and 2 for an upper-case letter. */
const TOKEN_CHARACTERS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Z]/.test(character) ? 2 : Number(/[!#$%&'*+\-.^_`|~0-9a-z]/.test(character));
});

const COLON = 58;

const NO_TOKENS: ReadonlySet<string> = new Set();

/**
 * Parses the header lines of a head.
 *
 * @param from The position after the first line.
 * @param max The number of headers that are accepted.
 * @throws {MalformedMessage}
 */
export function parseHeaders(head: string, from: number, max: number): Header[] {
  const headers: Header[] = [];
  for (let start = from; start <= head.length;) {
    if (headers.length === max) throw new MalformedMessage(`it has more than ${max} headers`, 431);
    const lineEnd = head.indexOf("\r\n", start);
    const end = lineEnd === -1 ? head.length : lineEnd;
    headers.push(parseHeader(head, start, end));
    start = end + 2;
  }
  return headers;
}

/** Parses the header line between two positions. @throws {MalformedMessage} */
export function parseHeader(text: string, start = 0, end = text.length): Header {
  let at = start;
  let isLower = true;
  for (; at < end; at++) {
    const kind = TOKEN_CHARACTERS[text.charCodeAt(at)];
    if (kind === 2) isLower = false;
    else if (kind !== 1) break;
  }
  // "No whitespace is allowed between the field name and colon" (RFC 9112, 5.1). A folded line starts with white space.
  if (at === start || at === end || text.charCodeAt(at) !== COLON) {
    const hasColon = text.slice(start, end).includes(":");
    throw new MalformedMessage(`a header has ${hasColon ? "an invalid name" : "no colon"}`);
  }
  const name = text.slice(start, at);
  const lower = isLower ? name : name.toLowerCase();
  return { name, lower, value: trimBlanks(text, at + 1, end) };
}

/** Whether a text is a token: a method, the name of a header, or the name of a protocol. */
export function isToken(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (!TOKEN_CHARACTERS[text.charCodeAt(at)]) return false;
  }
  return text !== "";
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
export function headerTokens(headers: readonly Header[], lower: string): ReadonlySet<string> {
  const joined = joinedHeader(headers, lower);
  if (joined === undefined) return NO_TOKENS;
  const elements = joined.toLowerCase().split(",").map((element) => trimBlanks(element));
  return new Set(elements.filter(Boolean));
}

/** Returns the text between two positions without spaces and tabs around it. Other white space is part of a value. */
function trimBlanks(text: string, from = 0, to = text.length): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
