/**
 * How Deno KV writes keys and values into its SQLite file. Reading that file directly provides what Deno KV cannot: all
 * entries as they were at one moment (see `Snapshot`).
 *
 * @module
 */
import { concat } from "@std/bytes/concat";
import { deserialize } from "node:v8";
import { openValue } from "./record_codec.ts";

const STRING = 0x02;
const NUMBER = 0x21;
const END = 0x00;
/** Follows a NUL inside a string. */
const ESCAPE = 0xff;
const SIGN = 0x80;

const encoder = new TextEncoder();
/** A byte order mark at the start of a name is a part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the text whose UTF-8 a key has. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Returns the bytes of a key, by which the store is ordered. */
export function encodeKey(key: Deno.KvKey): Uint8Array<ArrayBuffer> {
  if (key.every(isPlain)) return encodePlain(key);
  const last = key.at(-1);
  const head = key.slice(0, -1);
  if (typeof last !== "number" || !head.every(isPlain)) return concat(key.map(encodePart));
  return concat([encodePlain(head), encodePart(last)]);
}

/** Whether a part is a string without NUL, as nearly all are. */
function isPlain(part: Deno.KvKeyPart): part is string {
  return typeof part === "string" && !part.includes("\0");
}

/** Both bytes around a string are characters of UTF-8 too, so that one call encodes all strings. */
function encodePlain(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  let text = "";
  for (const part of parts) text += `\x02${part}\0`;
  return encoder.encode(text);
}

function encodePart(part: Deno.KvKeyPart): Uint8Array<ArrayBuffer> {
  if (typeof part === "number") return concat([Uint8Array.of(NUMBER), encodeNumber(part)]);
  if (typeof part !== "string") {
    throw new TypeError(`Keys consist of strings and numbers, not ${typeof part}`);
  }
  const bytes = [...encoder.encode(part)].flatMap((byte) => byte === END ? [END, ESCAPE] : [byte]);
  return Uint8Array.of(STRING, ...bytes, END);
}

/** Inverts negative numbers and sets the sign bit of others, so that their bytes sort like the numbers. */
function encodeNumber(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, number);
  return flipSign(bytes, (bytes[0] ?? 0) >= SIGN);
}

function flipSign(bytes: Uint8Array, isNegative: boolean): Uint8Array {
  if (isNegative) return bytes.map((byte) => byte ^ 0xff);
  return bytes.map((byte, i) => i === 0 ? byte ^ SIGN : byte);
}

/** Returns the key that bytes encode; `undefined` if it has parts other than strings and numbers. */
export function decodeKey(bytes: Uint8Array): (string | number)[] | undefined {
  const key: (string | number)[] = [];
  let at = 0;
  while (at < bytes.length) {
    const type = bytes[at++];
    if (type === NUMBER) {
      const encoded = bytes.slice(at, at += 8);
      if (encoded.length < 8) return undefined;
      const flipped = flipSign(encoded, (encoded[0] ?? 0) < SIGN);
      key.push(new DataView(flipped.slice().buffer).getFloat64(0));
    } else if (type === STRING) {
      const end = bytes.indexOf(END, at);
      if (end === -1) return undefined;
      if (bytes[end + 1] === ESCAPE) {
        const [text, next] = decodeEscaped(bytes, at);
        if (text === undefined) return undefined;
        key.push(text);
        at = next;
      } else {
        key.push(decoder.decode(bytes.subarray(at, end)));
        at = end + 1;
      }
    } else return undefined;
  }
  return key;
}

/** Returns a string with NULs, and the index after its end; no string if it does not end. */
function decodeEscaped(bytes: Uint8Array, start: number): [text: string | undefined, next: number] {
  const text: number[] = [];
  let at = start;
  while (bytes[at] !== END || bytes[at + 1] === ESCAPE) {
    if (at >= bytes.length) return [undefined, at];
    const byte = bytes[at++] ?? END;
    text.push(byte);
    if (byte === END) at++;
  }
  return [decoder.decode(Uint8Array.from(text)), at + 1];
}

/** Encodings of values, as Deno KV numbers them. */
const V8 = 1;
export const COUNTER = 2;
const BYTES = 3;

export const COUNTER_LENGTH = 8;

/** Returns the value of an entry. @throws if its bytes encode none. */
export function decodeValue(
  key: Deno.KvKey,
  { v: bytes, v_encoding: encoding }: Pick<KvRow, "v" | "v_encoding">,
): unknown {
  switch (Number(encoding)) {
    case V8:
      // Only stores of the first format have records in this form.
      return deserialize(bytes);
    case COUNTER:
      if (bytes.byteLength !== COUNTER_LENGTH) throw new TypeError("it is no counter");
      return new Deno.KvU64(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    case BYTES:
      return openValue(key, bytes);
    default:
      throw new TypeError(`The store has a value in an unknown encoding, ${encoding}`);
  }
}

/** A row of the table in which Deno KV keeps its entries. */
export interface KvRow {
  k: Uint8Array<ArrayBuffer>;
  v: Uint8Array<ArrayBuffer>;
  v_encoding: number;
  version: number;
}

export const KV_COLUMNS = "k, v, v_encoding, version";

/** This byte follows a key's bytes in the first key that is greater than all keys beginning with it. */
const AFTER_PREFIX = 0xff;

/** Returns the first bytes of all keys below a prefix, and the first bytes after them. */
export function prefixRange(
  prefix: Deno.KvKey,
): [start: Uint8Array<ArrayBuffer>, end: Uint8Array<ArrayBuffer>] {
  const start = encodeKey(prefix);
  return [start, concat([start, Uint8Array.of(AFTER_PREFIX)])];
}

/** Returns the least bytes of a key that are greater than those of another one. */
export function afterKey(key: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat([key, Uint8Array.of(0)]);
}

/** Returns Deno KV's name for the version of an entry. */
export function versionstampOf(version: number | bigint): string {
  return `${version.toString(16).padStart(16, "0")}0000`;
}
