/**
 * How Deno KV writes keys and values into its SQLite file. Whoever reads the file itself gets what Deno KV cannot give:
 * all entries as they are at one moment.
 *
 * @module
 */

import { deserialize } from "node:v8";

const STRING = 0x02;
const NUMBER = 0x21;
const END = 0x00;
/** Stands behind a NUL inside of a string. */
const ESCAPE = 0xff;
const SIGN = 0x80;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a key, which the store is ordered by. */
export function encodeKey(key: Deno.KvKey): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(key.flatMap(encodePart));
}

function encodePart(part: Deno.KvKeyPart): number[] {
  if (typeof part === "number") return [NUMBER, ...encodeNumber(part)];
  if (typeof part !== "string") {
    throw new TypeError(`Keys are made of strings and numbers, not ${typeof part}`);
  }
  const bytes = [...encoder.encode(part)].flatMap((byte) => byte === END ? [END, ESCAPE] : [byte]);
  return [STRING, ...bytes, END];
}

/** Negative numbers are inverted and others get a sign, so that their order is that of their bytes. */
function encodeNumber(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, number);
  return turnSign(bytes, (bytes[0] ?? 0) >= SIGN);
}

function turnSign(bytes: Uint8Array, isNegative: boolean): Uint8Array {
  if (isNegative) return bytes.map((byte) => byte ^ 0xff);
  return bytes.map((byte, i) => i === 0 ? byte ^ SIGN : byte);
}

/** The key that bytes stand for; `undefined` where it has parts of another kind than ours have. */
export function decodeKey(bytes: Uint8Array): (string | number)[] | undefined {
  const key: (string | number)[] = [];
  let at = 0;
  while (at < bytes.length) {
    const type = bytes[at++];
    if (type === NUMBER) {
      const encoded = bytes.slice(at, at += 8);
      if (encoded.length < 8) return undefined;
      const turned = turnSign(encoded, (encoded[0] ?? 0) < SIGN);
      key.push(new DataView(turned.slice().buffer).getFloat64(0));
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

/** Numbers that say how a value is written. */
const V8 = 1;
const COUNTER = 2;
const BYTES = 3;

/** The value that bytes stand for. Throws where they stand for none. */
export function decodeValue(bytes: Uint8Array<ArrayBuffer>, encoding: number): unknown {
  switch (encoding) {
    case V8:
      return deserialize(bytes);
    case COUNTER:
      return new Deno.KvU64(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    case BYTES:
      return bytes;
    default:
      throw new TypeError(`The store has a value in an unknown form, ${encoding}`);
  }
}

/** As Deno KV names the version of an entry. */
export function versionstampOf(version: number | bigint): string {
  return `${BigInt(version).toString(16).padStart(16, "0")}0000`;
}
