/**
 * Responses whose headers are a map of our own. The runtime's `Headers` sort and copy themselves each time they are read,
 * which takes two fifths of the processor time of a small download.
 *
 * @module
 */
import { PieceStream } from "./response_stream.ts";

/** Not allowed in the value of a header: what ends a line, and what is more than a byte (Fetch standard, 2.2.2). */
const INVALID_VALUE = /[\0\n\r\u0100-\uffff]/;

/** HTTP's whitespace, which is no part of a value at its ends. */
const SPACE = "\t\n\r ";

/** A name of a header (RFC 9110, 5.1). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The headers of a response, in the order in which they were set. Several values of a name are one list. */
export class ResponseHeaders implements Headers {
  /** By name in lower case. */
  #values = new Map<string, string>();

  constructor(init: Readonly<Record<string, string>> = {}) {
    for (const name in init) this.set(name, init[name] ?? "");
  }

  /** Returns these headers, to which others can be added. They are not validated again. */
  copy(): ResponseHeaders {
    const copy = new ResponseHeaders();
    copy.#values = new Map(this.#values);
    return copy;
  }

  /** @throws {TypeError} if the name or the value is not valid in HTTP. */
  set(name: string, value: string): void {
    this.#values.set(validName(name), validValue(value));
  }

  /** @throws {TypeError} if the name or the value is not valid in HTTP. */
  append(name: string, value: string): void {
    const key = validName(name);
    const current = this.#values.get(key);
    const added = validValue(value);
    this.#values.set(key, current === undefined ? added : `${current}, ${added}`);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  getSetCookie(): string[] {
    const cookie = this.get("set-cookie");
    return cookie === null ? [] : [cookie];
  }

  forEach(callback: (value: string, name: string, parent: this) => void): void {
    for (const [name, value] of this.#values) callback(value, name, this);
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }

  keys(): MapIterator<string> {
    return this.#values.keys();
  }

  values(): MapIterator<string> {
    return this.#values.values();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

function validName(name: string): string {
  if (!NAME.test(name)) throw new TypeError(`Invalid name of a header: ${JSON.stringify(name)}`);
  return name.toLowerCase();
}

function validValue(value: string): string {
  const trimmed = trim(value);
  if (INVALID_VALUE.test(trimmed)) {
    throw new TypeError(`Invalid value of a header: ${JSON.stringify(value)}`);
  }
  return trimmed;
}

/** Removes whitespace at both ends, in time that grows with the length: a client may choose the value. */
function trim(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && SPACE.includes(value.charAt(start))) start++;
  while (end > start && SPACE.includes(value.charAt(end - 1))) end--;
  return value.slice(start, end);
}

/** A response for the server of `http1/`. The runtime's own server needs a copy: see `toRuntimeResponse`. */
export class HttpResponse extends Response {
  /** The whole body, if it is bytes. The runtime's `Response` would copy them twice. */
  readonly content: Uint8Array<ArrayBuffer> | undefined;
  /** What reads the body, if it comes in pieces. */
  readonly pieces: PieceStream | undefined;
  readonly #headers: Headers;
  #copy: Response | undefined;

  constructor(
    body: BodyInit | PieceStream | null,
    { status = 200, headers = {} }: {
      status?: number;
      headers?: Headers | Readonly<Record<string, string>>;
    } = {},
  ) {
    const content = body instanceof Uint8Array ? body as Uint8Array<ArrayBuffer> : undefined;
    const pieces = body instanceof PieceStream ? body : undefined;
    super(content === undefined && !(body instanceof PieceStream) ? body : null, { status });
    this.content = content;
    this.pieces = pieces;
    this.#headers = isHeaders(headers) ? headers : new ResponseHeaders(headers);
  }

  override get headers(): Headers {
    return this.#headers;
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#isOwn ? this.#consumable().body : super.body;
  }

  override get bodyUsed(): boolean {
    return this.#isOwn ? this.#consumable().bodyUsed : super.bodyUsed;
  }

  override async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return await (this.#isOwn ? this.#consumable().bytes() : super.bytes());
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  override async text(): Promise<string> {
    return await (this.#isOwn ? this.#consumable().text() : super.text());
  }

  override async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  get #isOwn(): boolean {
    return this.content !== undefined || this.pieces !== undefined;
  }

  #consumable(): Response {
    return this.#copy ??= new Response(this.content ?? this.pieces?.toReadableStream());
  }
}

function isHeaders(init: Headers | Readonly<Record<string, string>>): init is Headers {
  return init instanceof ResponseHeaders || init instanceof Headers;
}

/** Returns a response that the runtime's own server can send. */
export function toRuntimeResponse(response: Response): Response {
  if (!(response instanceof HttpResponse)) return response;
  const { body, status, headers } = response;
  return new Response(body, { status, headers: [...headers] });
}

/** Returns the response to `HEAD`: the same headers without a body. */
export function withoutBody(response: Response): Response {
  if (response.body === null) return response;
  const { status, headers } = response;
  return new HttpResponse(null, { status, headers });
}

/** Characters that may stand for themselves in `filename*` (RFC 8187, 3.2.1), besides letters and digits. */
const ATTRIBUTE_CHARACTERS = /[^A-Za-z0-9!#$&+.^_`|~-]/gu;

/** Most names, which stand for themselves in both forms. */
const SIMPLE = /^[A-Za-z0-9._-]*$/;

/** Not allowed in the fallback: quotes, what begins an escape, and everything beyond printable ASCII. */
const NOT_IN_FALLBACK = /[^ -~]|["\\%]/gu;

const encoder = new TextEncoder();

/**
 * Returns the value of `Content-Disposition` for a file (RFC 6266): its name in ASCII for old programs, and whole in
 * `filename*`.
 */
export function contentDisposition(type: "attachment" | "inline", filename: string): string {
  if (SIMPLE.test(filename)) return `${type}; filename="${filename}"; filename*=UTF-8''${filename}`;
  const fallback = filename.replaceAll(NOT_IN_FALLBACK, "_");
  const whole = filename.replaceAll(ATTRIBUTE_CHARACTERS, encodeCharacter);
  return `${type}; filename="${fallback}"; filename*=UTF-8''${whole}`;
}

function encodeCharacter(character: string): string {
  const bytes = encoder.encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}
