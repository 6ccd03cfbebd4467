/**
 * Forms that browsers send with a file (RFC 7578). The fields before the file are kept, the file is streamed, and what
 * follows it is ignored: "the file … must be the last field in the form. Any fields below it are ignored."
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type BodyLimits, readBody } from "../../http/body.ts";
import { KIB } from "../../rules/units.ts";
import type { SizeRange } from "../auth/post_policy.ts";
import { S3Error } from "../s3_error.ts";
import type { ChecksumAlgorithm } from "./checksum.ts";
import { expectedChecksum, expectedMd5 } from "./digests.ts";
import { checkedPayload, type Payload, tooLarge } from "./payload.ts";

/** "The form data and boundaries (excluding the contents of the file) cannot exceed 20 KB": before it, and after it. */
const MAX_FIELDS = 20 * KIB;

/** What a form may have besides its file, in bytes. */
export const MAX_FORM_OVERHEAD = 2 * MAX_FIELDS;

/** The characters of a boundary (RFC 2046, 5.1.1), which has at most 70 and does not end with a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** What a browser sent. */
export interface PostForm {
  /** The fields before the file by name in lower case, with `${filename}` replaced by the name of the file. */
  fields: ReadonlyMap<string, string>;
  /** The bytes of the file, to be read once. */
  file: AsyncIterable<Uint8Array>;
}

/**
 * Reads a form up to its file.
 *
 * @param limits `limit` is for the whole body.
 * @throws {S3Error} if it is no such form.
 * @throws {HttpError} if it stops coming.
 */
export async function readForm(
  request: Request,
  limits: Omit<BodyLimits, "tooLarge">,
): Promise<PostForm> {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(request.headers)}`, "latin1");
  const source = new FormSource(readBody(request, { ...limits, tooLarge }), delimiter);
  try {
    const fields = new Map<string, string>();
    await source.takeUntil(delimiter);
    while (true) {
      await source.takeBoundaryLine();
      const { name, fileName } = parsePartHead(await source.takeUntil(END_OF_HEAD));
      if (name === "file") return { fields: expand(fields, fileName), file: source.file() };
      if (fields.has(name)) throw malformed(`the field ${name} occurs more than once`);
      fields.set(name, decode(await source.takeUntil(delimiter)));
    }
  } catch (error) {
    await source.cancel();
    throw error;
  }
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");

function boundaryOf(headers: Headers): string {
  const type = headers.get("content-type") ?? "";
  const [, quoted, token] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))\s*(?:;.*)?$/i.exec(
      type,
    ) ??
      [];
  const boundary = quoted ?? token ?? "";
  if (BOUNDARY.test(boundary)) return boundary;
  throw malformed("its type must be multipart/form-data, with a boundary");
}

/** "All variables within the form are expanded prior to validating the policy." */
function expand(fields: Map<string, string>, fileName: string): Map<string, string> {
  for (const [name, value] of fields) {
    fields.set(name, value.replaceAll("${filename}", () => fileName));
  }
  return fields;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw malformed("a field is not UTF-8");
  }
}

/** What the head of a part of a form says. */
interface PartHead {
  /** The name of the field in lower case. */
  name: string;
  /** The name of the file without folders; empty if there is none. */
  fileName: string;
}

/** A parameter of a header, with a value in quotes or without. */
const PARAMETER = /\s*;\s*([A-Za-z0-9*_-]+)=(?:"((?:\\["\\]|[^"])*)"|([^\s;"]*))/y;

/**
 * Parses the head of a part: `Content-Disposition: form-data; name="…"; filename="…"`. Other headers are ignored.
 *
 * @throws {S3Error}
 */
function parsePartHead(head: Buffer): PartHead {
  for (const line of head.toString("latin1").split("\r\n")) {
    const [start] = /^content-disposition:\s*form-data(?=\s*;)/i.exec(line) ?? [];
    if (start === undefined) continue;
    const parameters = parseParameters(line, start.length);
    const name = parameters.get("name") ?? "";
    if (name === "") break;
    // "Only the text following the last slash or backslash is used."
    const fileName = (parameters.get("filename") ?? "").replace(/^.*[\\/]/s, "");
    return { name: name.toLowerCase(), fileName };
  }
  throw malformed("a part has no Content-Disposition that names its field");
}

function parseParameters(line: string, from: number): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, token = ""] of matchesFrom(line, from)) {
    const value = quoted === undefined ? token : unescape(quoted);
    parameters.set(name.toLowerCase(), Buffer.from(value, "latin1").toString("utf8"));
  }
  return parameters;
}

function* matchesFrom(line: string, from: number): Generator<RegExpExecArray> {
  const parameter = new RegExp(PARAMETER);
  parameter.lastIndex = from;
  for (let match = parameter.exec(line); match !== null; match = parameter.exec(line)) yield match;
}

/** Browsers write quotes and the ends of lines as `%22`, `%0D` and `%0A`; other clients put a backslash before quotes. */
function unescape(quoted: string): string {
  return quoted.replaceAll(/\\(["\\])/g, "$1").replaceAll(
    /%(22|0D|0A)/gi,
    (_, hex: string) => String.fromCharCode(parseInt(hex, 16)),
  );
}

/** A body that is read up to delimiters. */
class FormSource {
  /** Received bytes that were not read yet. A line end is put before them, as the body may start with a boundary. */
  #buffer = Buffer.from("\r\n");
  /** Bytes that may still come before the file. */
  #allowed = MAX_FIELDS;

  constructor(
    private readonly pieces: AsyncGenerator<Uint8Array>,
    private readonly delimiter: Buffer,
  ) {}

  /** Returns the bytes before a delimiter, and skips the delimiter. */
  async takeUntil(delimiter: Buffer): Promise<Buffer> {
    let from = 0;
    while (true) {
      const at = this.#buffer.indexOf(delimiter, from);
      const end = at === -1 ? this.#buffer.byteLength : at + delimiter.byteLength;
      if (end > this.#allowed) throw fieldsTooLarge();
      if (at !== -1) {
        const taken = this.#buffer.subarray(0, at);
        this.#skip(end);
        return taken;
      }
      from = Math.max(0, end - delimiter.byteLength);
      await this.#receive();
    }
  }

  /** Skips what follows a boundary in its line. Leaves the end of the line, as the head of a part may be empty. */
  async takeBoundaryLine(): Promise<void> {
    let end: number;
    while ((end = this.#buffer.indexOf("\r\n")) === -1) {
      if (this.#buffer.byteLength > this.#allowed) throw fieldsTooLarge();
      await this.#receive();
    }
    const padding = this.#buffer.toString("latin1", 0, end);
    if (padding.startsWith("--")) throw malformed("it has no file");
    if (!/^[ \t]*$/.test(padding)) throw malformed("a boundary is followed by more than spaces");
    this.#skip(end);
  }

  #skip(length: number): void {
    this.#buffer = this.#buffer.subarray(length);
    this.#allowed -= length;
  }

  /** Yields the bytes of the file, and drops what follows it. */
  async *file(): AsyncGenerator<Uint8Array> {
    const delimiter = this.delimiter;
    try {
      let at: number;
      while ((at = this.#buffer.indexOf(delimiter)) === -1) {
        const length = this.#buffer.byteLength - delimiter.byteLength + 1;
        if (length > 0) {
          yield this.#buffer.subarray(0, length);
          this.#buffer = this.#buffer.subarray(length);
        }
        await this.#receive();
      }
      if (at > 0) yield this.#buffer.subarray(0, at);
      this.#buffer = this.#buffer.subarray(at + delimiter.byteLength);
      await this.#drop();
    } finally {
      await this.cancel();
    }
  }

  /** Reads what follows the file. @throws {S3Error} if the form is not closed. */
  async #drop(): Promise<void> {
    do {
      if (this.#buffer.byteLength > MAX_FIELDS) throw fieldsTooLarge();
    } while (await this.#receive(false));
    const rest = this.#buffer.toString("latin1");
    const close = `${this.delimiter.toString("latin1")}--`;
    if (!rest.startsWith("--") && !rest.includes(close)) throw malformed("it is not closed");
  }

  /** Adds a piece to the buffer. Returns whether there was one. @throws {S3Error} if one is required. */
  async #receive(isRequired = true): Promise<boolean> {
    const { done, value } = await this.pieces.next();
    if (done !== true) {
      this.#buffer = Buffer.concat([this.#buffer, value]);
      return true;
    }
    if (isRequired) throw malformed("it ends too early");
    return false;
  }

  async cancel(): Promise<void> {
    await this.pieces.return(undefined);
  }
}

function fieldsTooLarge(): S3Error {
  return new S3Error(
    "MaxPostPreDataLengthExceeded",
    `The fields of the form have more than ${MAX_FIELDS} bytes: send the file in the field "file"`,
  );
}

function malformed(problem: string): S3Error {
  return new S3Error("MalformedPOSTRequest", `The form is malformed: ${problem}`);
}

/**
 * Returns the file of a form as a payload.
 *
 * @param size What the policy allows.
 * @param compute The checksum that is computed if the form has none.
 */
export function formPayload(
  { fields, file }: PostForm,
  size: SizeRange | undefined,
  compute?: ChecksumAlgorithm,
): Payload {
  const lookup = (name: string) => fields.get(name);
  const expected = {
    md5: expectedMd5(lookup),
    checksum: expectedChecksum(lookup, fields.keys()),
  };
  const { min, max } = size ?? { min: 0, max: Infinity };
  const payload = checkedPayload(atMost(file, max), { announced: undefined, expected, compute });
  return {
    ...payload,
    finish: (received) => {
      if (received.size < min) {
        throw new S3Error(
          "EntityTooSmall",
          `Your proposed upload is smaller than the minimum allowed size of ${min} bytes`,
          { ProposedSize: String(received.size), MinSizeAllowed: String(min) },
        );
      }
      return payload.finish(received);
    },
  };
}

async function* atMost(
  bytes: AsyncIterable<Uint8Array>,
  max: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of bytes) {
    size += piece.byteLength;
    if (size > max) tooLarge(max);
    yield piece;
  }
}
