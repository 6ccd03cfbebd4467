import { MAX_ADMIN_BODY } from "../drive/limits.ts";
import { errors } from "./http_error.ts";
import { readJson } from "./json_body.ts";
import type { Visit } from "./visit.ts";

/** What is wrong with a text, as the end of a sentence that begins with the name of its field. */
type ProblemOf = (text: string) => string | undefined;

/** The fields of a JSON object that a caller sent. */
export class Fields {
  readonly #values: ReadonlyMap<string, unknown>;

  private constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values;
  }

  /**
   * Reads a request's body; an empty one is an object without fields.
   *
   * @throws {HttpError} 400 where it is no JSON object or has a field that is none of the known ones, 413 where it is too large.
   */
  static async read(
    { request, visit }: { request: Request; visit: Visit },
    idle: number,
    known: readonly string[],
  ): Promise<Fields> {
    const bad = (problem: string) => errors.badObject(known, problem);
    const limits = { limit: MAX_ADMIN_BODY, idle, bad, tooLarge: errors.tooLargeObject, visit };
    const sent = await readJson(request, limits);
    const body = sent === undefined ? {} : sent;
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw bad("it is something else");
    }
    const values = new Map(Object.entries(body));
    for (const name of values.keys()) {
      if (!known.includes(name)) throw errors.unknownField(name, known);
    }
    return new Fields(values);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** A text, without which the call makes no sense. @throws {HttpError} 400 naming the field. */
  text(name: string, problemOf: ProblemOf): string {
    const text = this.textOrNull(name, problemOf);
    if (text === undefined || text === null) throw errors.missingField(name);
    return text;
  }

  /** A text that may be left out, which `null` does too. @throws {HttpError} 400 naming the field. */
  optionalText(name: string, problemOf: ProblemOf): string | undefined {
    return this.textOrNull(name, problemOf) ?? undefined;
  }

  /** A text, `null` as it was sent, `undefined` where it was not. @throws {HttpError} 400 naming the field. */
  textOrNull(name: string, problemOf: ProblemOf): string | null | undefined {
    const value = this.#values.get(name);
    if (value === undefined || value === null) return value;
    if (typeof value !== "string") throw errors.badField(name, "must be a string");
    const problem = problemOf(value);
    if (problem !== undefined) throw errors.badField(name, problem);
    return value;
  }

  /** A number of bytes, `null` as it was sent, `undefined` where it was not. @throws {HttpError} 400 naming the field. */
  sizeOrNull(name: string): number | null | undefined {
    const value = this.#values.get(name);
    if (value === undefined || value === null) return value;
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw errors.badField(name, `must be a whole number of bytes from 1 to 2^53 - 1, or null`);
  }

  /**
   * The fields of an object inside of the object; `undefined` where there is none.
   *
   * @throws {HttpError} 400 where it is none or has a field that is none of the known ones.
   */
  object(name: string, known: readonly string[]): Fields | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw errors.badField(name, `must be an object with ${known.join(", ")}`);
    }
    const values = new Map<string, unknown>(Object.entries(value));
    for (const inner of values.keys()) {
      if (!known.includes(inner)) throw errors.unknownField(`${name}.${inner}`, known);
    }
    return new Fields(values);
  }

  /** `true` or `false`. @throws {HttpError} 400 naming the field. */
  flag(name: string): boolean {
    const value = this.#values.get(name);
    if (value === undefined) throw errors.missingField(name);
    if (typeof value !== "boolean") throw errors.badField(name, "must be true or false");
    return value;
  }
}
