import type { Origin } from "./forwarded.ts";
import { type Field, joinedField, listedTokens } from "../http1/fields.ts";
import { NO_BODY } from "../http1/framing.ts";
import type { RequestHead } from "../http1/request_head.ts";
import { type Judgement, keyNameHeader } from "./judge.ts";
import { withoutSession } from "./session_cookie.ts";

/** Headers about one connection (RFC 9110, 7.6.1), and those that the gate writes itself. */
const OWN = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "expect",
  "host",
  "forwarded",
  "x-real-ip",
  "x-api-key",
]);

/** What the head of a request is made from. */
export interface Forwarding {
  head: RequestHead;
  /** What the application is asked for. */
  target: string;
  prefix: string;
  /** The application's own host and port. */
  authority: string;
  origin: Origin;
  judgement: Judgement;
  /** The protocols that the connection may change to. */
  upgrade: string | undefined;
}

/** The head of a request as the application gets it. Order, spelling and repetition of the caller's headers stay. */
export function requestText(forwarding: Forwarding): string {
  const { head, target, prefix, authority, origin, judgement, upgrade } = forwarding;
  const { method, fields, framing, connection } = head;
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const field of fields) {
    const value = passedValue(field, connection);
    if (value !== undefined) text += `${field.name}: ${value}\r\n`;
  }
  if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  else if (framing.kind === "length" && sendsLength(head)) {
    text += `Content-Length: ${framing.length}\r\n`;
  }
  if (upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  for (const [name, value] of ownFields({ origin, prefix, judgement })) {
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/** What the gate tells the application of a request. */
export function ownFields(
  { origin, prefix, judgement }: Pick<Forwarding, "origin" | "prefix" | "judgement">,
): [string, string][] {
  const own: [string, string][] = [
    ["X-Forwarded-For", origin.address],
    ["X-Forwarded-Proto", origin.proto],
  ];
  if (origin.host !== undefined) own.push(["X-Forwarded-Host", origin.host]);
  if (prefix !== "") own.push(["X-Forwarded-Prefix", prefix]);
  if (judgement.allowed && judgement.caller === "key") {
    own.push(["X-Auth-Key-Name", keyNameHeader(judgement.keyName)]);
  }
  return own;
}

/**
 * The protocols that a request asks to change to, as it has them; `undefined` where it asks for none that may be. HTTP
 * inside of HTTP would carry requests past the gate.
 */
export function askedUpgrade(
  { minor, fields, framing, connection }: RequestHead,
): string | undefined {
  if (minor === 0 || !connection.includes("upgrade")) return undefined;
  if (framing !== NO_BODY) return undefined;
  const names = listedTokens(fields, "upgrade");
  const isOther = names.every((name) => !/^(?:h2c?|https?|tls)(?:\/|$)/.test(name));
  return names.length > 0 && isOther ? joinedField(fields, "upgrade") : undefined;
}

/** What of a header goes on. */
export function passedValue(
  { lower, value }: Field,
  connection: readonly string[],
): string | undefined {
  // Some servers see no difference between the two.
  const name = lower.includes("_") ? lower.replaceAll("_", "-") : lower;
  if (OWN.has(name) || name.startsWith("x-forwarded-") || name.startsWith("x-auth-")) {
    return undefined;
  }
  if (connection.length > 0 && connection.includes(lower)) return undefined;
  return lower === "cookie" ? withoutSession(value) : value;
}

function sendsLength({ fields }: RequestHead): boolean {
  return fields.some(({ lower }) => lower === "content-length");
}
