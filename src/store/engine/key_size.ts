/**
 * The size of keys and values, against the limits of commits and for the choice of a file.
 *
 * @module
 */
/** Returns whether an entry holds bytes of a file, and therefore takes many pages of the store's file. */
export function holdsBytes([kind]: Deno.KvKey): boolean {
  return kind === "chunk" || kind === "content";
}

/** Returns the bytes of a key as Deno KV encodes it: each part has a type and an end, and a NUL counts twice. */
export function encodedLength(key: Deno.KvKey): number {
  return key.reduce<number>((sum, part) => sum + partLength(part), 0);
}

const encoder = new TextEncoder();

// deno-lint-ignore no-control-regex -- exactly the characters of one byte
const ASCII_WITHOUT_NUL = /^[\x01-\x7f]*$/;

function partLength(part: Deno.KvKeyPart): number {
  if (typeof part === "number") return 9;
  if (typeof part !== "string") {
    throw new TypeError(`Keys consist of strings and numbers, not ${typeof part}`);
  }
  if (ASCII_WITHOUT_NUL.test(part)) return part.length + 2;
  const nuls = part.includes("\0") ? part.split("\0").length - 1 : 0;
  return encoder.encode(part).byteLength + nuls + 2;
}
