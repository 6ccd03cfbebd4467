/**
 * The canonical request of Signature Version 4 for S3: what a signature covers, in a normalized form.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { S3Error } from "../s3_error.ts";

export interface QueryParameter {
  name: string;
  value: string;
}

export interface CanonicalParts {
  method: string;
  /** As it was sent. */
  path: string;
  query: readonly QueryParameter[];
  headers: RequestHeaders;
  signedHeaders: readonly string[];
  /** The value of `x-amz-content-sha256`, or its default without this header. */
  payload: string;
}

/** Returns the canonical request as a text of characters up to U+00FF, each of which stands for a byte. */
export function canonicalRequest(parts: CanonicalParts): string {
  const { method, path, query, headers, signedHeaders, payload } = parts;
  return [
    method,
    canonicalPath(path),
    query.map(({ name, value }) => `${name}=${value}`).join("&"),
    ...signedHeaders.map((name) => `${name}:${headers.canonical(name)}`),
    "",
    signedHeaders.join(";"),
    payload,
  ].join("\n");
}

/** "Do not normalize URI paths for requests to Amazon S3": `//`, `.` and `..` stay. */
function canonicalPath(path: string): string {
  return path === "" ? "/" : reencode(path, PLAIN_PATH);
}

/** Parses a query into parameters in the canonical order. A parameter without `=` has an empty value. */
export function parseQuery(query: string): QueryParameter[] {
  const parameters = query.split("&").filter(Boolean).map((pair) => {
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? "" : pair.slice(equals + 1);
    return { name: encodeParameter(name), value: encodeParameter(value) };
  });
  return parameters.sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value));
}

function encodeParameter(text: string): string {
  return reencode(text.replaceAll("+", "%20"), PLAIN_PARAMETER);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The characters that stay: "'A'-'Z', 'a'-'z', '0'-'9', '-', '.', '_', and '~'", and in paths the slash. */
const PLAIN_PARAMETER = /^[A-Za-z0-9\-._~]*$/;
const PLAIN_PATH = /^[A-Za-z0-9\-._~/]*$/;

/** An encoded byte, a percent sign without one, or a character. */
const UNITS = /%([0-9A-Fa-f]{2})|%|[^%]/gsu;

/** Decodes a text and encodes it by the rules of S3. @throws {S3Error} */
function reencode(text: string, plain: RegExp): string {
  if (plain.test(text)) return text;
  return text.replaceAll(UNITS, (unit, hex: string | undefined) => {
    if (hex === undefined) return unit === "%" ? refuseEncoding(text) : encode(unit, plain);
    const character = String.fromCharCode(parseInt(hex, 16));
    return plain.test(character) ? character : unit.toUpperCase();
  });
}

function encode(character: string, plain: RegExp): string {
  if (plain.test(character)) return character;
  // Characters beyond ASCII are single bytes that were sent without encoding.
  const encoding = character.charCodeAt(0) > 0xff || character.length > 1 ? "utf8" : "latin1";
  return Buffer.from(character, encoding).toString("hex").toUpperCase().replace(/../g, "%$&");
}

function refuseEncoding(text: string): never {
  throw new S3Error("InvalidURI", "Could not decode the URI: a percent sign starts no byte", {
    URI: text,
  });
}

/**
 * The headers of a request by name. Headers of one name stay apart: signatures join their values with a comma, where
 * `Headers` joins them with a comma and a space.
 */
export class RequestHeaders {
  readonly #values = new Map<string, string[]>();

  constructor(lines: Iterable<readonly [name: string, value: string]>) {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase();
      const values = this.#values.get(lower);
      if (values === undefined) this.#values.set(lower, [value]);
      else values.push(value);
    }
  }

  /** The value of a header; `undefined` if it is absent. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.join(",");
  }

  /** The names in lower case. */
  names(): Iterable<string> {
    return this.#values.keys();
  }

  /** The values without blanks around them, and with single spaces inside. A header that is absent has an empty one. */
  canonical(name: string): string {
    const values = this.#values.get(name) ?? [];
    // `trim` would also cut U+00A0, which can be the last byte of a character.
    return values.map((value) =>
      value.replaceAll(/^[ \t]+|[ \t]+$/g, "").replaceAll(/[ \t]+/g, " ")
    )
      .join(",");
  }
}
