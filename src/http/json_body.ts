import { createHash } from "node:crypto";
import { MIB } from "../rules/units.ts";
import { MemoryShare } from "../store/engine/memory_budget.ts";
import { announcedSize, assertDigest, type BodyLimits, expectedDigest, readBody } from "./body.ts";
import { errors, type HttpError } from "./http_error.ts";
import type { RequestContext } from "./request_context.ts";
import type { BoundedResources } from "./responses/bounded_body.ts";

/** The largest JSON body of a call that takes no list of a thousand names, in bytes. */
export const MAX_FIELDS_BODY = MIB;

/** The largest JSON body that needs no memory of the budget, in bytes. Nearly all bodies are smaller. */
export const SMALL_BODY = 65_536;

/** How long a JSON body may take, in milliseconds. The largest one takes 50 s at 1 Mbit/s. */
const JSON_BODY_TIME = 60_000;

/** How a body is read, beside the limits of the server. */
export interface JsonOptions {
  /** The largest body, in bytes. */
  limit?: number;
  /** Extended by the size of the body before it is read. By default a body that is not small has memory until it is parsed. */
  memory?: MemoryShare;
}

/** A request whose body is read. */
export interface FieldsRequest {
  request: Request;
  context: RequestContext;
  /**
   * Called once the body has arrived, which may take a while: checks the sender's credentials again.
   *
   * @throws {HttpError} 401 if they were revoked or have expired since the request arrived.
   */
  reauthorize: () => Promise<void>;
}

interface JsonLimits extends BodyLimits {
  /** Returns the error for a malformed body. */
  bad: (problem: string) => HttpError;
  memory?: MemoryShare | undefined;
  /** Up to this size, in bytes, a body needs no memory. */
  uncounted?: number;
}

/**
 * The JSON value of a request body; `undefined` if the body is empty.
 *
 * @throws {HttpError} 400 if it is not JSON, has too many values or does not match `Content-Digest`, 413 if it is too large, 408 if it takes
 *   too long.
 * @throws {MemoryExhausted} if the memory for it does not become available in time.
 */
export async function readJson(request: Request, limits: JsonLimits): Promise<unknown> {
  const expected = expectedDigest(request.headers);
  const pace = limits.pace ?? { grace: Math.max(JSON_BODY_TIME, limits.idle) };
  const bytes = await gather(request, { tooLarge: errors.fieldsTooLarge, ...limits, pace });
  assertDigest(expected, createHash("sha256").update(bytes).digest("base64"));
  if (bytes.byteLength === 0) return undefined;
  const problem = jsonLimitProblem(bytes);
  if (problem !== undefined) throw limits.bad(problem);
  const text = decodeUtf8(bytes, limits);
  try {
    return JSON.parse(text);
  } catch {
    throw limits.bad("it is not JSON");
  }
}

/** The memory that is reserved at first for a body without `Content-Length`, in bytes. Nearly all bodies are smaller. */
const UNANNOUNCED = 16_384;

/** Memory for each byte of a body: for itself, for the text, and for the values. */
const BYTE_MEMORY = 3;

/** Copies the body into one buffer piece by piece, so that its memory is counted exactly. */
async function gather(request: Request, limits: JsonLimits): Promise<Uint8Array> {
  const { limit, memory, uncounted = 0 } = limits;
  const memoryOf = (bytes: number) => bytes <= uncounted ? 0 : BYTE_MEMORY * bytes;
  const announced = announcedSize(request.headers, limit, limits.tooLarge);
  let reserved = Math.min(limit, announced ?? Math.max(UNANNOUNCED, uncounted));
  if (reserved > uncounted) await memory?.extend(memoryOf(reserved));
  let buffer = new Uint8Array(0);
  let size = 0;
  for await (const piece of readBody(request, limits)) {
    const needed = size + piece.byteLength;
    if (needed > reserved) {
      // Two bodies that each held some memory while waiting for the rest could wait for each other.
      memory?.shrink(memoryOf(reserved));
      await memory?.extend(memoryOf(limit));
      reserved = limit;
    }
    if (needed > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(needed, Math.min(reserved, 2 * needed)));
      larger.set(buffer.subarray(0, size));
      buffer = larger;
    }
    buffer.set(piece, size);
    size = needed;
  }
  return buffer.subarray(0, size);
}

function decodeUtf8(bytes: Uint8Array, { bad }: JsonLimits): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bad("it is not UTF-8");
  }
}

/** Returns what is wrong with a text, as the end of a sentence that begins with the name of its field. */
type ProblemOf = (text: string) => string | undefined;

/** The fields of a JSON object in a request body. */
export class Fields {
  private constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  /**
   * Reads a request body. An empty body counts as an object without fields.
   *
   * @param known The names of the allowed fields.
   * @throws {HttpError} 400 if it is not a JSON object or has an unknown field, 401 if the sender was revoked meanwhile, 413
   *   if it is too large.
   * @throws {MemoryExhausted} if the memory for it does not become available in time.
   */
  static async read(
    { request, context, reauthorize }: FieldsRequest,
    { idleTimeout: idle, store }: BoundedResources,
    known: readonly string[],
    { limit = MAX_FIELDS_BODY, memory }: JsonOptions = {},
  ): Promise<Fields> {
    const bad = (problem: string) => errors.badObject(known, problem);
    using own = new MemoryShare(store.memory.json, context.project ?? "");
    const counting = memory === undefined ? { memory: own, uncounted: SMALL_BODY } : { memory };
    const sent = await readJson(request, { limit, idle, bad, context, ...counting });
    await reauthorize();
    return Fields.of(sent === undefined ? {} : sent, known);
  }

  /**
   * Returns the fields of a JSON value.
   *
   * @param known The names of the allowed fields.
   * @param within The field that has the value, if it is not the body itself.
   * @throws {HttpError} 400 if it is not an object or has an unknown field.
   */
  static of(sent: unknown, known: readonly string[], within?: string): Fields {
    if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
      throw within === undefined
        ? errors.badObject(known, "it is not an object")
        : errors.badField(within, `must be an object with ${known.join(", ")}`);
    }
    for (const name in sent) {
      if (known.includes(name)) continue;
      throw errors.unknownField(within === undefined ? name : `${within}.${name}`, known);
    }
    return new Fields(sent as Record<string, unknown>);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  #get(name: string): unknown {
    return this.has(name) ? this.values[name] : undefined;
  }

  /** Items, 1 (or `min`) to `max`; `undefined` if the field is absent. @throws {HttpError} 400 naming the field. */
  list(name: string, max: number, { min = 1 } = {}): readonly unknown[] | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw errors.badField(name, "must be an array");
    if (value.length >= min && value.length <= max) return value;
    throw errors.badField(name, `must be an array of ${min} to ${max} items`);
  }

  /** Strings, 1 (or `min`) to `max`; `undefined` if the field is absent. @throws {HttpError} 400 naming the field. */
  texts(name: string, max: number, { min = 1 } = {}): readonly string[] | undefined {
    const items = this.list(name, max, { min });
    if (items === undefined || items.every((item) => typeof item === "string")) return items;
    throw errors.badField(name, "has an item that is not a string");
  }

  /** Whether the field is `null`. */
  isNull(name: string): boolean {
    return this.#get(name) === null;
  }

  /** A whole number in a range; `undefined` if the field is absent. @throws {HttpError} 400 naming the field. */
  wholeNumber(name: string, min: number, max: number): number | undefined {
    return this.#numberIn(name, min, max, `a whole number from ${min} to ${max}`);
  }

  /** The same, or `null`. @throws {HttpError} 400 naming the field. */
  integerOrNull(name: string, min: number, max: number): number | null | undefined {
    if (this.isNull(name)) return null;
    return this.#numberIn(name, min, max, `a whole number from ${min} to ${max}, or null`);
  }

  /** A number of bytes or `null`; `undefined` if the field is absent. @throws {HttpError} 400 naming the field. */
  sizeOrNull(name: string): number | null | undefined {
    if (this.isNull(name)) return null;
    const wanted = "a whole number of bytes from 1 to 2^53 - 1, or null";
    return this.#numberIn(name, 1, Number.MAX_SAFE_INTEGER, wanted);
  }

  #numberIn(name: string, min: number, max: number, wanted: string): number | undefined {
    const value = this.#get(name);
    if (value === undefined) return undefined;
    const isWhole = typeof value === "number" && Number.isSafeInteger(value);
    if (isWhole && value >= min && value <= max) return value;
    throw errors.badField(name, `must be ${wanted}`);
  }

  /** A required text. @throws {HttpError} 400 naming the field. */
  text(name: string, problemOf: ProblemOf): string {
    const text = this.textOrNull(name, problemOf);
    if (text === undefined || text === null) throw errors.missingField(name);
    return text;
  }

  /** A text; `undefined` if the field is absent or `null`. @throws {HttpError} 400 naming the field. */
  optionalText(name: string, problemOf: ProblemOf): string | undefined {
    return this.textOrNull(name, problemOf) ?? undefined;
  }

  /** A text or `null`; `undefined` if the field is absent. @throws {HttpError} 400 naming the field. */
  textOrNull(name: string, problemOf: ProblemOf): string | null | undefined {
    const value = this.#get(name);
    if (value === undefined || value === null) return value;
    if (typeof value !== "string") throw errors.badField(name, "must be a string");
    const problem = problemOf(value);
    if (problem !== undefined) throw errors.badField(name, problem);
    return value;
  }

  /**
   * Strings, 1 to `max`, without repetitions; `undefined` if the field is absent or `null`.
   *
   * @throws {HttpError} 400 naming the field.
   */
  optionalTexts(name: string, max: number, problemOf: ProblemOf): string[] | undefined {
    if (this.isNull(name)) return undefined;
    const items = this.texts(name, max);
    for (const item of items ?? []) {
      const problem = problemOf(item);
      if (problem !== undefined) throw errors.badItem(name, item, problem);
    }
    return items && [...new Set(items)];
  }

  /**
   * The fields of a nested object; `undefined` if the field is absent.
   *
   * @throws {HttpError} 400 if it is not an object or has an unknown field.
   */
  object(name: string, known: readonly string[]): Fields | undefined {
    const value = this.#get(name);
    return value === undefined ? undefined : Fields.of(value, known, name);
  }

  /** `true` or `false`. @throws {HttpError} 400 naming the field. */
  flagOr(name: string, absent: boolean): boolean {
    return this.has(name) ? this.flag(name) : absent;
  }

  /** A required `true` or `false`. @throws {HttpError} 400 naming the field. */
  flag(name: string): boolean {
    const value = this.#get(name);
    if (value === undefined) throw errors.missingField(name);
    if (typeof value !== "boolean") throw errors.badField(name, "must be true or false");
    return value;
  }
}

/** The values that the JSON of a request may have, and how deep they may be nested. The largest valid body has 5003. */
export const MAX_JSON_VALUES = 10_000;
export const MAX_JSON_DEPTH = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** What a byte outside of strings is. */
const WORD = 0;
const SEPARATOR = 1;
const OPENING = 2;
const CLOSING = 3;

/** The kind of each byte. Bytes of numbers, literals and errors are parts of words. */
const KINDS = new Uint8Array(256);
for (const [kind, bytes] of [[SEPARATOR, " \t\r\n,:"], [OPENING, "[{"], [CLOSING, "]}"]] as const) {
  for (const character of bytes) KINDS[character.charCodeAt(0)] = kind;
}

/**
 * Counts the values of JSON and their depth in its bytes, before anything is built of them: a megabyte of small values
 * becomes a hundred megabytes of objects. Whether it is JSON at all is the parser's to say, which stops at the first
 * error.
 *
 * @returns What exceeds a limit, as the end of a sentence; `undefined` if nothing does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * const bytes = new TextEncoder().encode("[[[[[[[[[]]]]]]]]]");
 * assertEquals(jsonLimitProblem(bytes), "it is nested deeper than 8 levels");
 * ```
 */
export function jsonLimitProblem(bytes: Uint8Array): string | undefined {
  // Names of fields count as they begin, and no longer once their colon follows.
  let values = 0;
  let depth = 0;
  let isInWord = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const kind = KINDS[byte];
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
      values++;
    } else if (kind === OPENING) {
      if (++depth > MAX_JSON_DEPTH) return `it is nested deeper than ${MAX_JSON_DEPTH} levels`;
      values++;
    } else if (kind === CLOSING) depth--;
    else if (byte === COLON) values--;
    else if (kind === WORD && !isInWord) values++;
    isInWord = kind === WORD && byte !== QUOTE;
    if (values > MAX_JSON_VALUES) return `it has more than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}

/** The index of the quote at the end of a string, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
