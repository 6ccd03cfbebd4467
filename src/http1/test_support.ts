import { Buffer } from "node:buffer";
import { ByteReader, type ByteSource } from "./connection.ts";

/** Returns the bytes of a text, one per character. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** Returns a source that delivers the pieces one by one, then ends, or fails if `breaks`. */
export function sourceOf(pieces: readonly string[], { breaks = false } = {}): ByteSource {
  const pending = pieces.map(bytes);
  return {
    read(into) {
      const [piece] = pending;
      if (piece === undefined) {
        return breaks ? Promise.reject(new Deno.errors.ConnectionReset()) : Promise.resolve(null);
      }
      const part = piece.subarray(0, into.length);
      into.set(part);
      if (part.length < piece.length) pending[0] = piece.subarray(part.length);
      else pending.shift();
      return Promise.resolve(part.length);
    },
  };
}

export function readerOf(...pieces: readonly string[]): ByteReader {
  return new ByteReader(sourceOf(pieces));
}

/** Returns the text cut in two at every position, and cut into single characters. */
export function cuts(text: string): string[][] {
  const halves = Array.from({ length: text.length + 1 }, (_, at) => {
    return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== "");
  });
  return [...halves, [...text]];
}
