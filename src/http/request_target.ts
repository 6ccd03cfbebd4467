import { parseUtcTime } from "../rules/dates.ts";
import { isHost } from "../rules/hosts.ts";
import { MAX_LIST } from "../rules/names.ts";
import { errors } from "./http_error.ts";

/** The path and the query of a request, unchanged: `URL` would resolve `..` and `%2e%2e`, which are ordinary names here. */
export interface RequestTarget {
  /** The segments of the path after the first slash below the base path, percent-encoded; none outside of it. */
  segments: string[];
  /** The query without `?`, percent-encoded. */
  query: string;
}

/** @throws {HttpError} 400 if the Host header is malformed. HTTP/1.0 allows requests without one. */
export function assertHost(headers: Headers): void {
  const host = headers.get("host");
  if (host !== null && !isHost(host)) throw errors.badHost(host);
}

/**
 * The target of a request. Valid only if the Host header is: see `assertHost`.
 *
 * @param basePath The path that all routes are below, such as `/files`.
 */
export function parseTarget({ url }: Pick<Request, "url">, basePath = ""): RequestTarget {
  const authority = url.indexOf("://") + 3;
  const question = url.indexOf("?", authority);
  const end = question === -1 ? url.length : question;
  const slash = url.indexOf("/", authority);
  const path = slash === -1 || slash > end ? "/" : url.slice(slash, end);
  return { segments: segmentsBelow(basePath, path), query: url.slice(end + 1) };
}

function segmentsBelow(basePath: string, path: string): string[] {
  if (path === basePath) return [""];
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length + 1).split("/") : [];
}

/** Decodes a segment of the path. @throws {HttpError} 400 if it is not percent-encoded UTF-8. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errors.badEncoding("path");
  }
}

/** Decodes a segment of the path; one that cannot be decoded is returned unchanged. */
export function decodeLeniently(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * The parameters of a query string, by the rules of `application/x-www-form-urlencoded`. `URLSearchParams` is not used: it
 * replaces malformed encoding instead of rejecting it.
 */
export class Query {
  readonly #values = new Map<string, string[]>();

  /** @throws {HttpError} 400 if it is not percent-encoded UTF-8. */
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

  /** The value of a parameter; `undefined` if it is absent. @throws {HttpError} 400 if it is repeated. */
  one(name: string): string | undefined {
    const values = this.#values.get(name) ?? [];
    if (values.length > 1) throw errors.repeatedParameter(name);
    return values[0];
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }

  /** The value of a required parameter. @throws {HttpError} 400 if it is absent or repeated. */
  required(name: string): string {
    const value = this.one(name);
    if (value === undefined) throw errors.missingParameter(name);
    return value;
  }

  /** All values of a parameter that may be repeated. */
  all(name: string): string[] {
    return this.#values.get(name) ?? [];
  }

  /** `true` or `false`. @throws {HttpError} 400 for any other value. */
  flag(name: string, absent: boolean): boolean {
    const value = this.one(name);
    if (value === undefined) return absent;
    if (value !== "true" && value !== "false") {
      throw errors.badParameter(name, value, "true or false");
    }
    return value === "true";
  }

  /** A whole number of at least 1; `undefined` if it is absent. @throws {HttpError} 400 for any other value. */
  positive(name: string): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    if (!/^0*[1-9]\d*$/.test(value)) {
      throw errors.badParameter(name, value, "a whole number of at least 1");
    }
    return Number(value);
  }

  /** The page of a list of names that is asked for. @throws {HttpError} 400 if `limit` is not at least 1. */
  page(): { limit: number; prefix: string; last: string } {
    const limit = Math.min(this.positive("limit") ?? MAX_LIST, MAX_LIST);
    return { limit, prefix: this.one("prefix") ?? "", last: this.one("last") ?? "" };
  }

  /** The same of a list by ids. @throws {HttpError} 400 if `last` is longer than any id, too. */
  pageOfIds(): { limit: number; prefix: string; last: string } {
    const page = this.page();
    if (page.last.length <= MAX_ID) return page;
    throw errors.badParameter("last", page.last, '"paging.last" of the previous page');
  }

  /** A whole number from 1 to `max`; `undefined` if it is absent. @throws {HttpError} 400 for any other value. */
  wholeNumber(name: string, max: number, what = "a whole number"): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < 1 || number > max) {
      throw errors.badParameter(name, value, `${what} from 1 to ${max}`);
    }
    return number;
  }

  /** A UTC time in milliseconds since 1970; `undefined` if it is absent. @throws {HttpError} 400 for any other text. */
  utcTime(name: string): number | undefined {
    const value = this.one(name);
    if (value === undefined) return undefined;
    const time = parseUtcTime(value);
    if (time === undefined) {
      throw errors.badParameter(name, value, "a time in UTC like 2021-04-22T11:50:08.123Z");
    }
    return time;
  }
}

/** The characters of an id at most. The store could not look for a text of thousands. */
const MAX_ID = 128;

/** Percent-encoding, or `+` for a space. */
const ENCODED = /[%+]/;

function decodeQuery(text: string): string {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw errors.badEncoding("query string");
  }
}
