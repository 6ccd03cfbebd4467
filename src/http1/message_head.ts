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

/** The head of a message at the gate, as Deno's own server has it. */
export const MAX_HEAD = 65_536;

/** Headers of a request at the gate: browsers send some 20, and common servers take 100. */
export const MAX_HEADERS = 256;

/** A target at the gate: half of what common servers take in all, twice what browsers send. */
export const MAX_TARGET = 16_384;

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
 * @throws {MalformedMessage} where it has control characters, is too long, or breaks off.
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
    if (end - reader.start > MAX_HEAD) throw tooLong();
    if (end !== -1) {
      const text = reader.text(reader.start, end - 4);
      reader.skipTo(end);
      return text;
    }
    scanned = reader.length;
    if (reader.isFull) throw tooLong();
    if (await reader.fill()) continue;
    if (reader.length === 0) return undefined;
    throw new MalformedMessage("its head is not complete");
  }
}

function tooLong(): MalformedMessage {
  return new MalformedMessage(`its head has more than ${MAX_HEAD} bytes`, 431);
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
      if (before !== CR) throw new MalformedMessage("a line of its head does not end with CR LF");
      if (at - 3 >= start && bytes[at - 2] === LF) return at + 1;
    } else if (before === CR) {
      throw new MalformedMessage("its head has a CR that ends no line");
    } else if (byte < SPACE && byte !== CR && byte !== TAB || byte === DELETE) {
      throw new MalformedMessage("its head has a control character");
    }
  }
  return -1;
}

/** What stands before the body of a request. */
export interface RequestHead {
  method: string;
  /** As it came: a path with its query, or `*`. */
  target: string;
  minor: 0 | 1;
  fields: readonly Header[];
  /** As it came; only HTTP/1.0 may have none. */
  host: string | undefined;
  framing: Framing;
  /** What the header Connection names, in lower case. */
  connection: readonly string[];
}

/** A host name or address with an optional port (RFC 3986, 3.2.2), neither of them empty. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+;=-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;

/** Whether a text can be the value of a Host header. */
export function isHost(text: string): boolean {
  return HOST.test(text);
}

/** What neither a path nor a query can have, encoded or not: white space, bytes beyond ASCII, and a fragment. */
const NO_TARGET = /[^\x21-\x7e]|#/;

/** "A server MUST accept the absolute-form in requests" (RFC 9112, 3.2.2). */
const ABSOLUTE = /^https?:\/\/[^\/?#]+(?:[\/?]|$)/i;

/** What a request may ask: of a server everything, of a proxy nothing that leads past the application. */
export type Role = "server" | "proxy";

/** Reads the head of a request. A server judges the form of Host itself. @throws {MalformedMessage} */
export function parseRequestHead(text: string, role: Role = "proxy"): RequestHead {
  const lines = text.split("\r\n");
  if (lines.length > MAX_HEADERS + 1) {
    throw new MalformedMessage(`it has more than ${MAX_HEADERS} headers`, 431);
  }
  const { method, target, minor } = parseRequestLine(lines[0] ?? "", role);
  const fields = parseHeaders(lines);
  const host = singleHeader(fields, "host");
  if (host === undefined ? minor === 1 : role === "proxy" && !HOST.test(host)) {
    throw new MalformedMessage("its Host is not a host name with an optional port");
  }
  const connection = headerTokens(fields, "connection");
  const framing = requestFraming(minor, fields);
  return { method, target, minor, fields, host, framing, connection };
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
  const target = line.slice(first + 1, last);
  const minor = minorOf(line.slice(last + 1));
  if (!isToken(method)) throw new MalformedMessage("its method is none");
  // Both would lead past the application.
  if (role === "proxy" && (method === "CONNECT" || method === "TRACE")) {
    throw new MalformedMessage(`the method ${method} is not allowed here`, 405);
  }
  if (role === "proxy" && target.length > MAX_TARGET) {
    throw new MalformedMessage(`its target has more than ${MAX_TARGET} bytes`, 414);
  }
  const isPath = target.startsWith("/") || role === "server" && ABSOLUTE.test(target);
  if ((!isPath || NO_TARGET.test(target)) && !(target === "*" && method === "OPTIONS")) {
    throw new MalformedMessage(
      "its target is not a path that begins with a slash, percent-encoded",
    );
  }
  return { method, target, minor };
}

function minorOf(version: string): 0 | 1 {
  if (version === "HTTP/1.1") return 1;
  if (version === "HTTP/1.0") return 0;
  const isOther = /^HTTP\/[0-9](?:\.[0-9])?$/.test(version);
  throw new MalformedMessage("it is not of HTTP/1.1 or HTTP/1.0", isOther ? 505 : 400);
}

/** What stands before the body of an answer. */
export interface ResponseHead {
  status: number;
  /** The words behind the status, as they came. */
  reason: string;
  minor: 0 | 1;
  fields: readonly Header[];
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: (.*))?$/;

/** Reads the head of an answer. @throws {MalformedMessage} */
export function parseResponseHead(text: string): ResponseHead {
  const lines = text.split("\r\n");
  const found = STATUS_LINE.exec(lines[0] ?? "");
  if (found === null) throw new MalformedMessage("its first line is not version and status");
  const [, minor, status, reason = ""] = found;
  return {
    status: Number(status),
    reason,
    minor: minor === "0" ? 0 : 1,
    fields: parseHeaders(lines),
  };
}
