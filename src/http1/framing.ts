import { type Field, joinedField, singleField } from "./fields.ts";
import { Malformed } from "./malformed.ts";

/** How the end of a body is known: by its length, by its last chunk, or by the end of the connection. */
export type Framing =
  | { kind: "length"; length: number }
  | { kind: "chunked" }
  | { kind: "close" };

/** There is exactly one of these. */
export const NO_BODY: Framing = { kind: "length", length: 0 };
const CHUNKED: Framing = { kind: "chunked" };
const UNTIL_CLOSE: Framing = { kind: "close" };

/**
 * The framing of a request's body. Wherever two readers could see two different ends, it is refused.
 *
 * @throws {Malformed}
 */
export function requestFraming(minor: 0 | 1, fields: readonly Field[]): Framing {
  const length = singleField(fields, "content-length");
  const coding = singleField(fields, "transfer-encoding");
  if (coding === undefined) {
    const told = length === undefined ? 0 : parseLength(length);
    return told === 0 ? NO_BODY : { kind: "length", length: told };
  }
  if (length !== undefined) {
    throw new Malformed("it has both Content-Length and Transfer-Encoding: send one");
  }
  if (minor === 0) throw new Malformed("HTTP/1.0 knows no Transfer-Encoding");
  if (coding.toLowerCase() !== "chunked") {
    throw new Malformed("only the Transfer-Encoding chunked is known here", 501);
  }
  return CHUNKED;
}

/**
 * The framing of an answer's body (RFC 9112, 6.3).
 *
 * @param method of the request.
 * @throws {Malformed}
 */
export function responseFraming(
  method: string,
  { status, minor, fields }: { status: number; minor: 0 | 1; fields: readonly Field[] },
): Framing {
  const length = lengthOf(fields);
  const coding = joinedField(fields, "transfer-encoding");
  if (coding !== undefined) {
    if (length !== undefined) throw new Malformed("it has two framings");
    if (minor === 0 || coding.toLowerCase() !== "chunked") {
      throw new Malformed("its Transfer-Encoding is not known");
    }
  }
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return NO_BODY;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : { kind: "length", length };
}

/** The length that an answer tells: once, or several times the same. */
function lengthOf(fields: readonly Field[]): number | undefined {
  let length: number | undefined;
  for (const { lower, value } of fields) {
    if (lower !== "content-length") continue;
    const told = parseLength(value);
    if (length !== undefined && length !== told) throw new Malformed("it has two lengths");
    length = told;
  }
  return length;
}

function parseLength(text: string): number {
  const length = Number(text);
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(length)) return length;
  throw new Malformed("its Content-Length is no whole number of bytes");
}
