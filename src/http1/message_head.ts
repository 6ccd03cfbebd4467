import { isHost } from "../rules/hosts.ts";
import { type Framing, requestFraming } from "./body.ts";
import type { ByteReader } from "./connection.ts";
import {
  type Header,
  headerTokens,
  isToken,
  MalformedMessage,
  parseHeaders,
  singleHeader,
} from "./headers.ts";

/** Bytes in the head of a message: the limit of Deno's own server. */
export const MAX_HEAD = 65_536;

/** Headers of a message. Browsers send some 20, and common servers accept 100. */
export const MAX_HEADERS = 256;

/** Bytes in the target of a request to a proxy: half the head limit of common servers, twice what browsers send. */
export const MAX_TARGET = 16_384;

export interface RequestHead {
  method: string;
  /** The target: a path with its query, or `*`. Unchanged for a proxy; for a server, in ASCII. */
  target: string;
  /** The minor version of HTTP/1. */
  minor: 0 | 1;
  headers: readonly Header[];
  /** The unchanged value of Host. Only HTTP/1.0 may omit it. */
  host: string | undefined;
  framing: Framing;
  /** The options in the header Connection, in lower case. */
  connection: ReadonlySet<string>;
}

export interface ResponseHead {
  status: number;
  /** The unchanged reason phrase. */
  reason: string;
  minor: 0 | 1;
  headers: readonly Header[];
}

/** What the receiver of a request accepts: a server any target, a proxy only what it can forward to an application. */
export type Role = "server" | "proxy";

/** What a path or query must not contain: white space, bytes outside ASCII, and a fragment. */
const INVALID_IN_TARGET = /[^\x21-\x7e]|#/;

/** "A server MUST accept the absolute-form in requests" (RFC 9112, 3.2.2). */
const ABSOLUTE_TARGET = /^https?:\/\/[^\/?#]+(?:[\/?]|$)/i;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: (.*))?$/;

/**
 * Reads the head of a message without its empty line, one character per byte. Returns `undefined` if the connection
 * ends before the first byte. Skips one empty line before the head: "a server … SHOULD ignore at least one empty line
 * (CRLF) received prior to the request-line" (RFC 9112, 2.2).
 *
 * @throws {MalformedMessage} if the head has control characters, is too long, or is incomplete.
 */
export async function readHead(reader: ByteReader): Promise<string | undefined> {
  let scanned = 0;
  let mayBeEmpty = true;
  for (;;) {
    if (mayBeEmpty && reader.length >= 2) {
      if (startsWithEmptyLine(reader)) reader.skipTo(reader.start + 2);
      mayBeEmpty = false;
    }
    const end = findHeadEnd(reader.buffer, reader.start, reader.start + scanned, reader.end);
    if (end - reader.start > MAX_HEAD) throw headTooLong();
    if (end !== -1) {
      const text = reader.text(reader.start, end - 4);
      reader.skipTo(end);
      return text;
    }
    scanned = reader.length;
    if (reader.isFull) throw headTooLong();
    if (await reader.fill()) continue;
    if (reader.length === 0) return undefined;
    throw new MalformedMessage("its head is incomplete");
  }
}

/** Parses the head of a request. The caller validates Host for the role "server". @throws {MalformedMessage} */
export function parseRequestHead(text: string, role: Role = "proxy"): RequestHead {
  const end = firstLineEnd(text);
  const { method, target, minor } = parseRequestLine(text.slice(0, end), role);
  const headers = parseHeaders(text, end + 2, MAX_HEADERS);
  const host = singleHeader(headers, "host");
  if (host === undefined ? minor === 1 : role === "proxy" && !isHost(host)) {
    throw new MalformedMessage("its Host is not a host name with an optional port");
  }
  const connection = headerTokens(headers, "connection");
  const framing = requestFraming(minor, headers);
  return { method, target, minor, headers, host, framing, connection };
}

/** Parses the head of a response. @throws {MalformedMessage} */
export function parseResponseHead(text: string): ResponseHead {
  const end = firstLineEnd(text);
  const found = STATUS_LINE.exec(text.slice(0, end));
  if (found === null) throw new MalformedMessage("its first line is not version and status");
  const [, minor, status, reason = ""] = found;
  return {
    status: Number(status),
    reason,
    minor: minor === "0" ? 0 : 1,
    headers: parseHeaders(text, end + 2, Infinity),
  };
}

function firstLineEnd(head: string): number {
  const end = head.indexOf("\r\n");
  return end === -1 ? head.length : end;
}

/** Whether a client waits for "100 Continue" before it sends the body. */
export function expectsContinue({ minor, headers }: RequestHead): boolean {
  if (minor === 0) return false;
  return headers.some(({ lower, value }) =>
    lower === "expect" && value.toLowerCase() === "100-continue"
  );
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;

/**
 * Returns the end of the head that begins at `start`, or -1 if it is not before `end`. Bytes before `from` were scanned
 * earlier.
 *
 * "A recipient of such a bare CR MUST consider that element to be invalid" (RFC 9112, 2.2). A bare LF is rejected too:
 * an application behind the gate must not see two lines where the gate sees one.
 */
function findHeadEnd(bytes: Uint8Array, start: number, from: number, end: number): number {
  let before = from > start ? bytes[from - 1] : 0;
  for (let at = from; at < end; before = bytes[at++]) {
    const byte = bytes[at] ?? 0;
    if (byte >= SPACE && byte !== DELETE && before !== CR) continue;
    if (byte === LF) {
      if (before !== CR) throw new MalformedMessage("a line of its head does not end with CR LF");
      if (at - 3 >= start && bytes[at - 2] === LF) return at + 1;
    } else if (before === CR) {
      throw new MalformedMessage("its head has a CR without LF");
    } else if (byte < SPACE && byte !== CR && byte !== TAB || byte === DELETE) {
      throw new MalformedMessage("its head has a control character");
    }
  }
  return -1;
}

function startsWithEmptyLine({ buffer, start }: ByteReader): boolean {
  return buffer[start] === CR && buffer[start + 1] === LF;
}

function headTooLong(): MalformedMessage {
  return new MalformedMessage(`its head has more than ${MAX_HEAD} bytes`, 431);
}

function parseRequestLine(
  line: string,
  role: Role,
): Pick<RequestHead, "method" | "target" | "minor"> {
  const first = line.indexOf(" ");
  const last = line.lastIndexOf(" ");
  if (first === last) {
    throw new MalformedMessage("its first line is not method, target and version");
  }
  const method = line.slice(0, first);
  const sent = line.slice(first + 1, last);
  const target = role === "server" ? encodeRawBytes(sent) : sent;
  const minor = parseMinorVersion(line.slice(last + 1));
  if (!isToken(method)) throw new MalformedMessage("its method is invalid");
  // CONNECT would open a tunnel past the application, and TRACE would echo headers that the gate adds or removes.
  if (role === "proxy" && (method === "CONNECT" || method === "TRACE")) {
    throw new MalformedMessage(`the method ${method} is not allowed here`, 405);
  }
  if (role === "proxy" && target.length > MAX_TARGET) {
    throw new MalformedMessage(`its target has more than ${MAX_TARGET} bytes`, 414);
  }
  const isPath = target.startsWith("/") || role === "server" && ABSOLUTE_TARGET.test(target);
  if ((!isPath || INVALID_IN_TARGET.test(target)) && !(target === "*" && method === "OPTIONS")) {
    throw new MalformedMessage(
      "its target is not a path that begins with a slash, percent-encoded",
    );
  }
  return { method, target, minor };
}

/** Percent-encodes the bytes outside ASCII: curl sends an address as its user has written it. */
function encodeRawBytes(target: string): string {
  return target.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function parseMinorVersion(version: string): 0 | 1 {
  if (version === "HTTP/1.1") return 1;
  if (version === "HTTP/1.0") return 0;
  const isOtherVersion = /^HTTP\/[0-9](?:\.[0-9])?$/.test(version);
  throw new MalformedMessage("its version is not HTTP/1.1 or HTTP/1.0", isOtherVersion ? 505 : 400);
}
