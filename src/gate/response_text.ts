import { type Field, listedTokens } from "../http1/fields.ts";
import type { ResponseHead } from "../http1/response_head.ts";
import { setsSession } from "./session_cookie.ts";

/** Headers about one connection (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Whether a header of an application goes on to the browser: not where it is about one connection, would set a cookie of
 * the gate, or would give one application's service worker the paths of others.
 *
 * @param named What the header Connection names.
 */
export function passes(
  { lower, value }: Pick<Field, "lower" | "value">,
  named: readonly string[],
): boolean {
  if (HOP_BY_HOP.has(lower) || named.length > 0 && named.includes(lower)) return false;
  if (lower === "service-worker-allowed") return false;
  return lower !== "set-cookie" || !setsSession(value);
}

/** How an answer goes on to the caller. */
export interface Passing {
  /** Whether its body goes in chunks. */
  chunked: boolean;
  /** Whether the connection ends with it. */
  closes: boolean;
}

/** The head of an answer as the caller gets it. Order, spelling and repetition of the application's headers stay. */
export function responseText(answer: ResponseHead, { chunked, closes }: Passing): string {
  const named = listedTokens(answer.fields, "connection");
  let text = `HTTP/1.1 ${answer.status} ${answer.reason}\r\n`;
  let hasLength = false;
  for (const { name, lower, value } of answer.fields) {
    if (lower === "content-length") {
      // "A server MUST NOT send a Content-Length … with a status code of 1xx or 204" (RFC 9110, 8.6); twice is no better.
      if (hasLength || answer.status === 204) continue;
      hasLength = true;
    } else if (!passes({ lower, value }, named)) continue;
    text += `${name}: ${value}\r\n`;
  }
  if (chunked) text += "Transfer-Encoding: chunked\r\n";
  if (closes) text += "Connection: close\r\n";
  return `${text}\r\n`;
}

/** The head of an answer that changes the protocol of the connection to WebSocket. */
export function upgradeText({ reason, fields }: ResponseHead): string {
  let text = `HTTP/1.1 101 ${reason}\r\n`;
  for (const { name, lower, value } of fields) {
    if (lower !== "content-length" && passes({ lower, value }, [])) text += `${name}: ${value}\r\n`;
  }
  return `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
}
