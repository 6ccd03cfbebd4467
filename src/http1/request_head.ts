import { MAX_FIELDS, MAX_TARGET } from "../drive/limits.ts";
import { type Field, isToken, listedTokens, parseFields, singleField } from "./fields.ts";
import { type Framing, requestFraming } from "./framing.ts";
import { Malformed } from "./malformed.ts";

/** What stands before the body of a request. */
export interface RequestHead {
  method: string;
  /** As it came: a path with its query, or `*`. */
  target: string;
  minor: 0 | 1;
  fields: readonly Field[];
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

/** Reads the head of a request. A server judges the form of Host itself. @throws {Malformed} */
export function parseRequestHead(text: string, role: Role = "proxy"): RequestHead {
  const lines = text.split("\r\n");
  if (lines.length > MAX_FIELDS + 1) {
    throw new Malformed(`it has more than ${MAX_FIELDS} headers`, 431);
  }
  const { method, target, minor } = parseRequestLine(lines[0] ?? "", role);
  const fields = parseFields(lines);
  const host = singleField(fields, "host");
  if (host === undefined ? minor === 1 : role === "proxy" && !HOST.test(host)) {
    throw new Malformed("its Host is not a host name with an optional port");
  }
  const connection = listedTokens(fields, "connection");
  const framing = requestFraming(minor, fields);
  return { method, target, minor, fields, host, framing, connection };
}

function parseRequestLine(
  line: string,
  role: Role,
): Pick<RequestHead, "method" | "target" | "minor"> {
  const first = line.indexOf(" ");
  const last = line.lastIndexOf(" ");
  if (first === last) throw new Malformed("its first line is not method, target and version");
  const method = line.slice(0, first);
  const target = line.slice(first + 1, last);
  const minor = minorOf(line.slice(last + 1));
  if (!isToken(method)) throw new Malformed("its method is none");
  // Both would lead past the application.
  if (role === "proxy" && (method === "CONNECT" || method === "TRACE")) {
    throw new Malformed(`the method ${method} is not allowed here`, 405);
  }
  if (role === "proxy" && target.length > MAX_TARGET) {
    throw new Malformed(`its target has more than ${MAX_TARGET} bytes`, 414);
  }
  const isPath = target.startsWith("/") || role === "server" && ABSOLUTE.test(target);
  if ((!isPath || NO_TARGET.test(target)) && !(target === "*" && method === "OPTIONS")) {
    throw new Malformed("its target is not a path that begins with a slash, percent-encoded");
  }
  return { method, target, minor };
}

function minorOf(version: string): 0 | 1 {
  if (version === "HTTP/1.1") return 1;
  if (version === "HTTP/1.0") return 0;
  const isOther = /^HTTP\/[0-9](?:\.[0-9])?$/.test(version);
  throw new Malformed("it is not of HTTP/1.1 or HTTP/1.0", isOther ? 505 : 400);
}
