import { errors } from "./http_error.ts";

/** The parameters of a query string, by the rules of `application/x-www-form-urlencoded`. */
export class Query {
  readonly #values = new Map<string, string[]>();

  /** @throws {HttpError} 400 where it is not percent-encoded UTF-8. */
  constructor(text: string) {
    for (const pair of text.split("&")) {
      if (pair === "") continue;
      const equals = pair.indexOf("=");
      const name = decode(equals === -1 ? pair : pair.slice(0, equals));
      const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
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

function decode(text: string): string {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw errors.badEncoding("query string");
  }
}
