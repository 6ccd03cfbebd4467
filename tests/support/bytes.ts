import { assert } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { encodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";

export const KIB = 1024;
export const MIB = 1024 * KIB;
/** What a store value holds at most: sizes around its multiples are where pieces get lost. */
export const PIECE = 64 * KIB;
/** "at most 10 MB", read the lenient way. */
export const MAX_PAYLOAD = 10 * MIB;
/** "Each chunk is at least 5 MB", read the lenient way. */
export const MIN_PART = 5_000_000;

/**
 * Bytes that look random but are the same for the same size and seed (xorshift32). They have no
 * period, so a piece that is missing, repeated, or in the wrong place always shows.
 */
export function patternBytes(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(size / 4));
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, size);
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** `assertEquals` on megabytes would take seconds, and print them. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what = "bytes"): void {
  const sizes = `${actual.length} bytes instead of ${expected.length}`;
  assert(equals(actual, expected), `The ${what} differ (${sizes})`);
}

export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}

/** A digest field's value as RFC 9530 writes it: `sha-256=:…:`. */
export async function digestField(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha-256=:${encodeBase64(await crypto.subtle.digest("SHA-256", bytes))}:`;
}

/** A body of unknown length: it travels with `Transfer-Encoding: chunked`. */
export function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(offset, offset + PIECE));
      offset += PIECE;
    },
  });
}
