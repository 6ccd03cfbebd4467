import { Answer } from "../../support/answer.ts";
import { joinBytes } from "../../support/bookkeeping.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Puts one answer together: with a length, chunked, or up to the end of the connection. */
export class PeerAnswer {
  /** What came behind the answer. */
  rest: Bytes = new Uint8Array();
  private pieces: Bytes[] = [];
  private size = 0;
  private head: { status: number; headers: Headers; end: number } | undefined;
  private body: Bytes | undefined;

  constructor(private readonly toHead: boolean) {}

  /** Gives whether the answer is whole. */
  take(piece: Bytes): boolean {
    this.pieces.push(piece);
    this.size += piece.length;
    this.head ??= parseHead(this.join());
    if (this.head === undefined) return false;
    const { status, headers, end } = this.head;
    if (this.toHead || status === 204 || status === 304) return this.endAt(end, end);
    if (headers.get("Transfer-Encoding") === "chunked") return this.takeChunks(end);
    const length = headers.get("Content-Length");
    if (length === null) return false;
    const bodyEnd = end + Number(length);
    return this.size >= bodyEnd && this.endAt(end, bodyEnd);
  }

  /** The answer, also one that was cut short; `undefined` without a whole head. */
  finish(): Answer | undefined {
    if (this.head === undefined) return undefined;
    const { status, headers, end } = this.head;
    return new Answer(status, headers, this.body ?? this.join().slice(end));
  }

  private endAt(from: number, to: number): true {
    const bytes = this.join();
    this.body = bytes.slice(from, to);
    this.rest = bytes.slice(to);
    return true;
  }

  private takeChunks(start: number): boolean {
    const bytes = this.join();
    const chunks: Bytes[] = [];
    for (let at = start;;) {
      const lineEnd = find(bytes, "\r\n", at);
      if (lineEnd < 0) return false;
      const size = parseInt(latin1(bytes.subarray(at, lineEnd)), 16);
      const next = lineEnd + 2 + size + 2;
      if (bytes.length < next) return false;
      chunks.push(bytes.slice(lineEnd + 2, lineEnd + 2 + size));
      at = next;
      if (size > 0) continue;
      this.body = joinBytes(chunks);
      this.rest = bytes.slice(at);
      return true;
    }
  }

  private join(): Bytes {
    if (this.pieces.length > 1) this.pieces = [joinBytes(this.pieces)];
    return this.pieces[0] ?? new Uint8Array();
  }
}

function parseHead(bytes: Bytes): { status: number; headers: Headers; end: number } | undefined {
  const end = find(bytes, "\r\n\r\n", 0);
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = latin1(bytes.subarray(0, end)).split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  return { status, headers, end: end + 4 };
}

function find(bytes: Bytes, text: string, from: number): number {
  const wanted = Array.from(text, (character) => character.charCodeAt(0));
  for (let at = from; at + wanted.length <= bytes.length; at++) {
    if (wanted.every((code, i) => bytes[at + i] === code)) return at;
  }
  return -1;
}

function latin1(bytes: Bytes): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
