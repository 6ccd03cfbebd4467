import { errors } from "./http_error.ts";

/** Path and query of a request as they came: `URL` would fold `..` and `%2e%2e`, which are names like others here. */
export interface RequestTarget {
  /** The segments of the path behind the first slash, percent-encoded. */
  segments: string[];
  /** Behind the question mark, percent-encoded. */
  query: string;
}

/** A host name or address with an optional port (RFC 3986, 3.2.2). Anything else could pass for a part of the path. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::(\d{0,5}))?$/;
const MAX_PORT = 65_535;

/** @throws {HttpError} 400 where the Host header is none. */
export function assertHost(headers: Headers): void {
  const host = HOST.exec(headers.get("host") ?? "");
  if (host === null || Number(host[1] ?? 0) > MAX_PORT) throw errors.badHost();
}

/** It says what was asked only where the Host header is one: see `assertHost`. */
export function parseTarget({ url }: Request): RequestTarget {
  const authority = url.indexOf("://") + 3;
  const question = url.indexOf("?", authority);
  const end = question === -1 ? url.length : question;
  const slash = url.indexOf("/", authority);
  const path = slash === -1 || slash > end ? "" : url.slice(slash + 1, end);
  return { segments: path.split("/"), query: url.slice(end + 1) };
}

/** @throws {HttpError} 400 where a segment of the path is not percent-encoded UTF-8. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errors.badEncoding("path");
  }
}

/** The same, where what cannot be decoded stands for itself. */
export function decodeLeniently(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The parameters of a query string, by the rules of `application/x-www-form-urlencoded`. */
export class Query {
  readonly #values = new Map<string, string[]>();

  /** @throws {HttpError} 400 where it is not percent-encoded UTF-8. */
  constructor(text: string) {
    for (const pair of text.split("&")) {
      if (pair === "") continue;
      const equals = pair.indexOf("=");
      const name = decodeQuery(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? "" : decodeQuery(pair.slice(equals + 1));
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  /** The value of a parameter; `undefined` without it. @throws {HttpError} 400 where it is given twice. */
  one(name: string): string | undefined {
    const values = this.#values.get(name) ?? [];
    if (values.length > 1) throw errors.repeatedParameter(name);
    return values[0];
  }

  /** @throws {HttpError} 400 without it, or where it is given twice. */
  required(name: string): string {
    const value = this.one(name);
    if (value === undefined) throw errors.missingParameter(name);
    return value;
  }

  /** Every value of a parameter that may be repeated. */
  all(name: string): string[] {
    return this.#values.get(name) ?? [];
  }

  /** `true` or `false`. @throws {HttpError} 400 where it is something else. */
  flag(name: string, absent: boolean): boolean {
    const value = this.one(name);
    if (value === undefined) return absent;
    if (value !== "true" && value !== "false") {
      throw errors.badParameter(name, value, "true or false");
    }
    return value === "true";
  }

  /** A whole number from 1 on. @throws {HttpError} 400 where it is something else. */
  positive(name: string): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    if (!/^0*[1-9]\d*$/.test(value)) {
      throw errors.badParameter(name, value, "a whole number from 1 on");
    }
    return Number(value);
  }
}

/** Percent-encoding, or a plus for a space. */
const ENCODED = /[%+]/;

function decodeQuery(text: string): string {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw errors.badEncoding("query string");
  }
}
