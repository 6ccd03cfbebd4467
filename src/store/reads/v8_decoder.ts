/**
 * Decodes values that V8 serialized: Deno KV stores objects in this form. `deserialize` of `node:v8` does the same in
 * five times the time, and its decoders stay in memory with the bytes and the results until all garbage is collected:
 * lists of files would grow the process by gigabytes.
 *
 * The format is that of V8's `ValueSerializer`. What this module does not know, `deserialize` reads: other versions of
 * the format, and kinds of values that records do not have.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { deserialize } from "node:v8";

/** The first byte of a value. The version of the format follows. */
const HEADER = 0xff;
/** Deno KV writes the first version in Deno 2.5, and the last one in Deno 2.9. Records look the same in both. */
const FIRST_VERSION = 15;
const LAST_VERSION = 16;

/** What begins or ends a part of a value. */
const tags = {
  undefined: codeOf("_"),
  null: codeOf("0"),
  true: codeOf("T"),
  false: codeOf("F"),
  int32: codeOf("I"),
  uint32: codeOf("U"),
  double: codeOf("N"),
  latin1: codeOf('"'),
  utf16: codeOf("c"),
  object: codeOf("o"),
  objectEnd: codeOf("{"),
  array: codeOf("A"),
  arrayEnd: codeOf("$"),
  /** An array that has holes, or that V8 stores like one: each element follows its index. */
  sparseArray: codeOf("a"),
  sparseArrayEnd: codeOf("@"),
  /** Aligns the characters of a text in UTF-16. */
  padding: 0,
} as const;

function codeOf(tag: string): number {
  return tag.charCodeAt(0);
}

/** Thrown at a part that `deserialize` has to read or refuse. */
const UNKNOWN = new Error("The value has a part of an unknown kind");

/** The longest name of a property that is kept, in bytes. */
const MAX_KNOWN_NAME = 16;
/** Names are kept by a hash of this many values. */
const KNOWN_NAMES = 256;
const NO_BYTES = Buffer.alloc(0);

/** Decodes values. It keeps the names of properties, as nearly all values have the same few. */
export class V8Decoder {
  readonly #names = new Array<KnownName | undefined>(KNOWN_NAMES);
  #bytes = NO_BYTES;
  /** Where the next part begins. */
  #at = 0;

  /** @param other Decodes what this module does not know. */
  constructor(private readonly other: (bytes: Uint8Array) => unknown = deserialize) {}

  /**
   * Returns the value that bytes encode.
   *
   * @throws if they encode none.
   */
  decode(bytes: Uint8Array<ArrayBuffer>): unknown {
    const version = bytes[1] ?? 0;
    if (bytes[0] !== HEADER || version < FIRST_VERSION || version > LAST_VERSION) {
      return this.other(bytes);
    }
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = 2;
    try {
      return this.#read();
    } catch (error) {
      if (error === UNKNOWN) return this.other(bytes);
      throw error;
    } finally {
      this.#bytes = NO_BYTES;
    }
  }

  #read(): unknown {
    switch (this.#tag()) {
      case tags.latin1:
        return this.#text("latin1");
      case tags.utf16:
        return this.#text("utf16le");
      case tags.int32: {
        // Zigzag: 0, -1, 1, -2, …
        const number = this.#varint();
        return (number >>> 1) ^ -(number & 1);
      }
      case tags.uint32:
        return this.#varint();
      case tags.double:
        return this.#bytes.readDoubleLE(this.#skip(8));
      case tags.object:
        return this.#object();
      case tags.array:
        return this.#array();
      case tags.sparseArray:
        return this.#sparseArray();
      case tags.true:
        return true;
      case tags.false:
        return false;
      case tags.null:
        return null;
      case tags.undefined:
        return undefined;
      default:
        throw UNKNOWN;
    }
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    let count = 0;
    for (; !this.#ends(tags.objectEnd); count++) {
      const name = this.#name();
      // No name occurs twice. Deno has no `__proto__` that an assignment could reach.
      if (Object.hasOwn(object, name)) throw UNKNOWN;
      object[name] = this.#read();
    }
    if (this.#varint() !== count) throw UNKNOWN;
    return object;
  }

  /** Reads the name of a property. */
  #name(): string | number {
    const bytes = this.#bytes;
    const at = this.#at;
    const length = bytes[at + 1] ?? 0;
    if (bytes[at] === tags.latin1 && length <= MAX_KNOWN_NAME) {
      this.#skip(2 + length);
      return this.#knownName(at + 2, length);
    }
    const name = this.#read();
    if (typeof name !== "string" && typeof name !== "number") throw UNKNOWN;
    return name;
  }

  #array(): unknown[] {
    const length = this.#varint();
    const array: unknown[] = [];
    for (let i = 0; i < length; i++) array.push(this.#read());
    this.#endArray(tags.arrayEnd, 0, length);
    return array;
  }

  #sparseArray(): unknown[] {
    const length = this.#varint();
    const array: unknown[] = [];
    for (let i = 0; i < length; i++) {
      if (this.#read() !== i) throw UNKNOWN;
      array.push(this.#read());
    }
    this.#endArray(tags.sparseArrayEnd, length, length);
    return array;
  }

  /** Reads the end of an array. Arrays of records have no other properties than their elements. */
  #endArray(tag: number, properties: number, length: number): void {
    if (this.#ends(tag) && this.#varint() === properties && this.#varint() === length) return;
    throw UNKNOWN;
  }

  #text(encoding: "latin1" | "utf16le"): string {
    const length = this.#varint();
    if (encoding === "utf16le" && length % 2 !== 0) throw UNKNOWN;
    const start = this.#skip(length);
    return this.#bytes.toString(encoding, start, start + length);
  }

  #tag(): number {
    while (this.#bytes[this.#at] === tags.padding) this.#at++;
    return this.#bytes[this.#skip(1)] ?? tags.padding;
  }

  /** Whether the next tag is this one. If so, it is skipped. */
  #ends(tag: number): boolean {
    const isEnd = this.#bytes[this.#at] === tag;
    if (isEnd) this.#at++;
    return isEnd;
  }

  /** Reads an unsigned number of 32 bits: seven in each byte, the lowest first. All bytes but the last have the highest bit. */
  #varint(): number {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#skip(1)] ?? 0;
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number >>> 0;
    }
    throw UNKNOWN;
  }

  /** Skips bytes. Returns where they begin. */
  #skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw UNKNOWN;
    return at;
  }

  /** Returns the text of a name. Known names are not decoded again: that takes as long as reading the property. */
  #knownName(start: number, length: number): string {
    const bytes = this.#bytes;
    let hash = length;
    for (let i = start; i < start + length; i++) hash = (hash * 31 + (bytes[i] ?? 0)) | 0;
    const index = hash & (KNOWN_NAMES - 1);
    const known = this.#names[index];
    if (known !== undefined && isAt(bytes, start, length, known.bytes)) return known.text;
    const text = bytes.toString("latin1", start, start + length);
    this.#names[index] = { text, bytes: Uint8Array.from(bytes.subarray(start, start + length)) };
    return text;
  }
}

/** A name of a property. */
interface KnownName {
  text: string;
  bytes: Uint8Array;
}

function isAt(bytes: Uint8Array, start: number, length: number, name: Uint8Array): boolean {
  if (name.length !== length) return false;
  for (let i = 0; i < length; i++) if (name[i] !== bytes[start + i]) return false;
  return true;
}
