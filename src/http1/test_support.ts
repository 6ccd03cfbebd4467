import { Buffer } from "node:buffer";
import { ByteReader, type ByteSource } from "./connection.ts";

/** The bytes of a text, one a character. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** A connection that gives these pieces one by one, and then ends or breaks. */
export function sourceOf(pieces: readonly string[], { breaks = false } = {}): ByteSource {
  const waiting = pieces.map(bytes);
  return {
    read(into) {
      const [piece] = waiting;
      if (piece === undefined) {
        return breaks ? Promise.reject(new Deno.errors.ConnectionReset()) : Promise.resolve(null);
      }
      const part = piece.subarray(0, into.length);
      into.set(part);
      if (part.length < piece.length) waiting[0] = piece.subarray(part.length);
      else waiting.shift();
      return Promise.resolve(part.length);
    },
  };
}

export function readerOf(...pieces: readonly string[]): ByteReader {
  return new ByteReader(sourceOf(pieces));
}

/** The text cut in two at every place, and into single characters. */
export function cuts(text: string): string[][] {
  const halves = Array.from({ length: text.length + 1 }, (_, at) => {
    return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== "");
  });
  return [...halves, [...text]];
}
