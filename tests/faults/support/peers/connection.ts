import { assert, assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { Answer } from "../../../support/answer.ts";
import { patternBytes, utf8 } from "../../../support/bytes.ts";
import { type Drive, joinBytes, query } from "../../../support/drive.ts";
import { rawRequest } from "../../../support/raw.ts";
import { assertErrorAnswer } from "../../../support/suite.ts";

type AnswerBytes = Uint8Array<ArrayBuffer>;

/** Parses one response: with a length, chunked, or up to the end of the connection. */
class ResponseParser {
  /** Bytes after the response. */
  rest: AnswerBytes = new Uint8Array();
  private pieces: AnswerBytes[] = [];
  private size = 0;
  private head: { status: number; headers: Headers; end: number } | undefined;
  private body: AnswerBytes | undefined;

  constructor(private readonly toHead: boolean) {}

  /** Adds received bytes. Returns whether the response is complete. */
  take(piece: AnswerBytes): boolean {
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

  /** Returns the response, even if it is incomplete, or `undefined` without a complete head. */
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
    const chunks: AnswerBytes[] = [];
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

  private join(): AnswerBytes {
    if (this.pieces.length > 1) this.pieces = [joinBytes(this.pieces)];
    return this.pieces[0] ?? new Uint8Array();
  }
}

function parseHead(
  bytes: AnswerBytes,
): { status: number; headers: Headers; end: number } | undefined {
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

function find(bytes: AnswerBytes, text: string, from: number): number {
  const wanted = Array.from(text, (character) => character.charCodeAt(0));
  for (let at = from; at + wanted.length <= bytes.length; at++) {
    if (wanted.every((code, i) => bytes[at + i] === code)) return at;
  }
  return -1;
}

function latin1(bytes: AnswerBytes): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Time for a response, in milliseconds. */
const RESPONSE_TIMEOUT = 28_000;

/** A TCP connection on which a test can send any bytes. */
export class Connection implements Disposable {
  /** Whether the server closed the connection, or announced it. */
  ended = false;
  private rest: Bytes = new Uint8Array();

  private constructor(private readonly socket: Deno.TcpConn) {}

  static async open(port: number): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Sends data. Returns whether the server received all of it before it closed the connection. */
  async send(data: string | Uint8Array): Promise<boolean> {
    const bytes = typeof data === "string" ? utf8(data) : data;
    try {
      for (let sent = 0; sent < bytes.length;) {
        sent += await this.socket.write(bytes.subarray(sent));
      }
      return true;
    } catch (error) {
      if (!isClosed(error)) throw error;
      return false;
    }
  }

  /** Closes the sending direction. */
  async sendEnd(): Promise<void> {
    try {
      await this.socket.closeWrite();
    } catch (error) {
      if (!isClosed(error)) throw error;
    }
  }

  /** Returns the next response, or `undefined` if the server closes the connection. */
  async answer(toHead = false): Promise<Answer | undefined> {
    return await deadline(this.readAnswer(toHead), RESPONSE_TIMEOUT);
  }

  /** Returns all bytes until the server closes the connection. */
  async readToEnd(): Promise<Bytes> {
    const pieces = [this.rest];
    this.rest = new Uint8Array();
    const read = async () => {
      for (let piece = await this.read(); piece !== null; piece = await this.read()) {
        pieces.push(piece);
      }
    };
    await deadline(read(), RESPONSE_TIMEOUT);
    return joinBytes(pieces);
  }

  /** Reads up to 64 KiB, or returns `null` if the server closed the connection. */
  async read(): Promise<Bytes | null> {
    const buffer = new Uint8Array(65_536);
    try {
      const count = await this.socket.read(buffer);
      if (count !== null) return buffer.subarray(0, count);
    } catch (error) {
      if (!isClosed(error)) throw error;
    }
    this.ended = true;
    return null;
  }

  private async readAnswer(toHead: boolean): Promise<Answer | undefined> {
    const parser = new ResponseParser(toHead);
    let piece: Bytes | null = this.rest;
    this.rest = new Uint8Array();
    for (; piece !== null; piece = await this.read()) {
      if (!parser.take(piece)) continue;
      this.rest = parser.rest;
      break;
    }
    const answer = parser.finish();
    if (/\bclose\b/i.test(answer?.headers.get("Connection") ?? "")) this.ended = true;
    return answer;
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}

function isClosed(error: unknown): boolean {
  const { ConnectionReset, BrokenPipe, NotConnected, ConnectionAborted } = Deno.errors;
  return error instanceof ConnectionReset || error instanceof BrokenPipe ||
    error instanceof NotConnected || error instanceof ConnectionAborted;
}

/**
 * Sends single bytes, each after a pause in milliseconds, until the server closes the connection.
 *
 * @param over Ends the pauses: the rest is sent at once.
 */
export async function trickle(
  connection: Connection,
  text: string,
  pause: number,
  over: Promise<void> = new Promise(() => {}),
): Promise<void> {
  let isOver = false;
  const hurry = over.then(() => isOver = true);
  for (const [i, character] of [...text].entries()) {
    await Promise.race([delay(pause), hurry]);
    const sent = isOver ? text.slice(i) : character;
    if (!await connection.send(sent) || isOver) return;
  }
}

/** Starts an upload, and sends the first bytes of its body. */
export async function beginUpload(
  port: number,
  target: string,
  announced: number,
  sent = "",
): Promise<Connection> {
  const connection = await Connection.open(port);
  const headers = { "Content-Length": String(announced) };
  await connection.send(rawRequest("POST", target, headers, sent));
  return connection;
}

/** Starts a download, and reads its first bytes. */
export async function beginDownload(port: number, target: string): Promise<Connection> {
  const connection = await Connection.open(port);
  await connection.send(rawRequest("GET", target));
  await connection.read();
  return connection;
}

/** Returns the resident memory of a process without mapped files, in bytes; `undefined` if the system does not provide it. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  try {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const match = /^RssAnon:\s+(\d+) kB$/m.exec(status);
    return match === null ? undefined : Number(match[1]) * 1024;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Attempts of a client before it gives up. */
const MAX_TRIES = 60;

export function contentOf(index: number): Uint8Array<ArrayBuffer> {
  return patternBytes(150_000 + index, index);
}

/** Repeats an upload until it is accepted. Returns the number of rejections. */
export async function uploadWithRetries(drive: Drive, index: number): Promise<number> {
  const path = `/files${query({ name: `file-${index}` })}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = await drive.send("POST", path, { body: contentOf(index) });
    if (answer.status === 201) return tries;
    assertErrorAnswer(answer.expect(503));
    const seconds = Number(answer.header("Retry-After"));
    assert(Number.isInteger(seconds) && seconds > 0, `Retry-After: ${seconds}`);
    await delay(200);
  }
  throw new Error(`The upload ${index} was never accepted`);
}

/** Asserts that all uploads are stored completely. */
export async function assertAllStored(drive: Drive, count: number): Promise<void> {
  const files = await drive.details();
  assertEquals(files.length, count);
  for (let index = 0; index < count; index++) {
    assertEquals((await drive.get(`file-${index}`)).expect(200).bytes, contentOf(index));
  }
}
