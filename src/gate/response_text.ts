import { listedTokens } from "../http1/fields.ts";
import type { ResponseHead } from "../http1/response_head.ts";

/** Headers about one connection (RFC 9110, 7.6.1). */
export const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

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
    } else if (HOP_BY_HOP.has(lower) || (named.length > 0 && named.includes(lower))) continue;
    text += `${name}: ${value}\r\n`;
  }
  if (chunked) text += "Transfer-Encoding: chunked\r\n";
  if (closes) text += "Connection: close\r\n";
  return `${text}\r\n`;
}

/** The head of an answer that changes the protocol of the connection. */
export function upgradeText({ reason, fields }: ResponseHead): string {
  let text = `HTTP/1.1 101 ${reason}\r\n`;
  for (const { name, lower, value } of fields) {
    if (lower === "upgrade" || !HOP_BY_HOP.has(lower) && lower !== "content-length") {
      text += `${name}: ${value}\r\n`;
    }
  }
  return `${text}Connection: Upgrade\r\n\r\n`;
}
