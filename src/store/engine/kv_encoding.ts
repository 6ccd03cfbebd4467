/**
 * How Deno KV writes keys and values into its SQLite file. Reading that file directly provides what Deno KV cannot: all
 * entries as they were at one moment (see `Snapshot`).
 *
 * @module
 */
import { deserialize } from "node:v8";

const STRING = 0x02;
const NUMBER = 0x21;
const END = 0x00;
/** Follows a NUL inside a string. */
const ESCAPE = 0xff;
const SIGN = 0x80;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the bytes of a key, by which the store is ordered. */
export function encodeKey(key: Deno.KvKey): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(key.flatMap(encodePart));
}

function encodePart(part: Deno.KvKeyPart): number[] {
  if (typeof part === "number") return [NUMBER, ...encodeNumber(part)];
  if (typeof part !== "string") {
    throw new TypeError(`Keys consist of strings and numbers, not ${typeof part}`);
  }
  const bytes = [...encoder.encode(part)].flatMap((byte) => byte === END ? [END, ESCAPE] : [byte]);
  return [STRING, ...bytes, END];
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
      const text: number[] = [];
      while (bytes[at] !== END || bytes[at + 1] === ESCAPE) {
        if (at >= bytes.length) return undefined;
        if (bytes[at] === END) at++;
        text.push(bytes[at] === ESCAPE && bytes[at - 1] === END ? END : bytes[at] ?? 0);
        at++;
      }
      at++;
      key.push(decoder.decode(Uint8Array.from(text)));
    } else return undefined;
  }
  return key;
}

/** Encodings of values, as Deno KV numbers them. */
const V8 = 1;
const COUNTER = 2;
const BYTES = 3;

/** Returns the value that bytes encode. @throws if they encode none. */
export function decodeValue(bytes: Uint8Array<ArrayBuffer>, encoding: number): unknown {
  switch (encoding) {
    case V8:
      return deserialize(bytes);
    case COUNTER:
      return new Deno.KvU64(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    case BYTES:
      return bytes;
    default:
      throw new TypeError(`The store has a value in an unknown encoding, ${encoding}`);
  }
}

/** Returns Deno KV's name for the version of an entry. */
export function versionstampOf(version: number | bigint): string {
  return `${BigInt(version).toString(16).padStart(16, "0")}0000`;
}
