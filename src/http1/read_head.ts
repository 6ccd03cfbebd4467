import { MAX_HEAD } from "../drive/limits.ts";
import type { ByteReader } from "./byte_reader.ts";
import { Malformed } from "./malformed.ts";

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;

/**
 * Reads the head of a message, up to and without its empty line, one character a byte; `undefined` where the connection
 * ended before its first byte. One empty line before it is left out: "a server … SHOULD ignore at least one empty line
 * (CRLF) received prior to the request-line" (RFC 9112, 2.2).
 *
 * @throws {Malformed} where it has control characters, is too long, or breaks off.
 */
export async function readHead(reader: ByteReader): Promise<string | undefined> {
  let scanned = 0;
  let mayBeEmpty = true;
  for (;;) {
    if (mayBeEmpty && reader.length >= 2) {
      if (startsWithEmptyLine(reader)) reader.takeTo(reader.start + 2);
      mayBeEmpty = false;
    }
    const end = findHeadEnd(reader.buffer, reader.start, reader.start + scanned, reader.end);
    if (end - reader.start > MAX_HEAD) throw tooLong();
    if (end !== -1) {
      const text = reader.text(reader.start, end - 4);
      reader.takeTo(end);
      return text;
    }
    scanned = reader.length;
    if (reader.isFull) throw tooLong();
    if (await reader.fill()) continue;
    if (reader.length === 0) return undefined;
    throw new Malformed("its head is not complete");
  }
}

function tooLong(): Malformed {
  return new Malformed(`its head has more than ${MAX_HEAD} bytes`, 431);
}

function startsWithEmptyLine({ buffer, start }: ByteReader): boolean {
  return buffer[start] === CR && buffer[start + 1] === LF;
}

/**
 * Where the head that begins at `start` ends, or -1 where it does so behind `end`. What lies before `from` was looked at.
 *
 * "A recipient … MUST … reject" a bare CR (RFC 9112, 2.2), and so do we with a bare LF: where we see one line, nobody
 * behind us may see two.
 */
export function findHeadEnd(
  bytes: Uint8Array,
  start: number,
  from: number,
  end: number,
): number {
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    const before = at > start ? bytes[at - 1] : 0;
    if (byte === LF) {
      if (before !== CR) throw new Malformed("a line of its head does not end with CR LF");
      if (at - 3 >= start && bytes[at - 2] === LF) return at + 1;
    } else if (before === CR) {
      throw new Malformed("its head has a CR that ends no line");
    } else if (byte < SPACE && byte !== CR && byte !== TAB || byte === DELETE) {
      throw new Malformed("its head has a control character");
    }
  }
  return -1;
}
