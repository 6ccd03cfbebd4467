import { errors } from "../http/http_error.ts";
import { clientAddress, type TrustedProxies } from "../http/network/client_address.ts";
import { NO_BODY } from "../http1/body.ts";
import { type Header, headerTokens, joinedHeader } from "../http1/headers.ts";
import { isHost, type RequestHead, type ResponseHead } from "../http1/message_head.ts";
import { setsSessionCookie, withoutSessionCookie } from "./session_cookie.ts";

/** Whether somebody is let in to an application, and as whom: `key` is the prefix of the key, or `session`. */
export type AccessDecision =
  | { allowed: true; caller: "anyone" | "owner" | "session" | "preflight"; key?: string }
  | { allowed: true; caller: "key"; key?: string; keyName: string }
  | { allowed: false; sentKey: boolean };

/** The name of a key as a header can hold it: what is not plain ASCII, and what would be trimmed, is percent-encoded. */
export function keyNameHeader(name: string): string {
  const encoded = encodeURI(name);
  return name.trim() === name ? encoded.replaceAll("%20", " ") : encoded;
}

/** Where a request came from, as far as we believe it. */
export interface ClientInfo {
  /** The caller's address. */
  address: string;
  proto: "http" | "https";
  /** The host that the caller called, with its port. It selects the application; only HTTP/1.0 may have none. */
  host: string | undefined;
}

/** What the gate knows of a connection. */
export interface Peer {
  address: Deno.NetAddr;
  /** Whether the connection is one of TLS. */
  isSecure: boolean;
}

/**
 * Reads where a request came from: the connection says it, or a trusted proxy at its other end.
 *
 * @throws {HttpError} 400 where such a proxy names a host that is none.
 */
export function clientInfoOf(
  { fields, host }: Pick<RequestHead, "fields" | "host">,
  { address, isSecure }: Peer,
  trusted: TrustedProxies | undefined,
): ClientInfo {
  const own: ClientInfo = {
    address: clientAddress(address, NO_HEADERS, undefined),
    proto: isSecure ? "https" : "http",
    host,
  };
  if (trusted === undefined || !trusted.has(own.address)) return own;
  const told = (name: string) => joinedHeader(fields, name)?.split(",").at(-1)?.trim();
  const hops = new Headers({ "x-forwarded-for": joinedHeader(fields, "x-forwarded-for") ?? "" });
  const proto = told("x-forwarded-proto")?.toLowerCase();
  return {
    address: clientAddress(address, hops, trusted),
    proto: proto === "https" || proto === "http" ? proto : own.proto,
    host: forwardedHost(told("x-forwarded-host")) ?? host,
  };
}

function forwardedHost(told: string | undefined): string | undefined {
  if (told === undefined || told === "") return undefined;
  if (!isHost(told)) throw errors.badForwardedHost();
  return told;
}

const NO_HEADERS = new Headers();

/** Headers about one connection (RFC 9110, 7.6.1), and those that the gate writes itself. */
const REQUEST_HOP_BY_HOP = new Set([
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
  "x-api-key",
]);

/**
 * Headers that proxies, platforms and servers set themselves, and that applications therefore believe: who calls, from
 * where, over what, and for which path. What a caller writes there is dropped. `Proxy` becomes the variable HTTP_PROXY
 * in CGI programs.
 */
const TRUSTED_BY_APPS = new RegExp(
  "^(?:" + [
    "proxy",
    // The caller's address.
    "forwarded|x-forwarded(?:-.*)?|x-real-(?:ip|port)|client-ip|x-client-ip|x-cluster-client-ip|true-client-ip",
    "cf-connecting-ip(?:v6)?|cf-pseudo-ipv4|fastly-client-ip|fly-client-ip|x-azure-clientip|x-appengine-user-ip",
    "x-originating-ip|x-envoy-external-address|x-remote-.*|remote-.*",
    // The address that was called.
    "x-original-.*|x-rewrite-url|x-host|x-scheme|x-url-scheme|front-end-https|x-script-name|script-name",
    // Who calls, as a proxy found out.
    "x-auth-.*|x-authenticated-.*|x-authentik-.*|x-webauth-.*|x-ms-client-principal.*|cf-access-.*",
    "x-goog-authenticated-user-.*|x-goog-iap-.*|x-amzn-oidc-.*",
    // The certificate with which the caller identifies itself.
    "client-cert(?:-.*)?|x-client-(?:cert|dn|verify)(?:-.*)?|x-(?:ssl|tls)-.*|ssl-client-.*|x-arr-clientcert",
  ].join("|") + ")$",
);

/** What the head of a request is made from. */
export interface UpstreamRequest {
  head: RequestHead;
  /** What the application is asked for. */
  target: string;
  prefix: string;
  /** The application's own host and port. */
  authority: string;
  origin: ClientInfo;
  judgement: AccessDecision;
  /** Whether the connection may change to WebSocket. */
  upgrades: boolean;
}

/** The head of a request as the application gets it. Order, spelling and repetition of the caller's headers stay. */
export function serializeRequestHead(forwarding: UpstreamRequest): string {
  const { head, target, prefix, authority, origin, judgement, upgrades } = forwarding;
  const { method, fields, framing, connection } = head;
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const field of fields) {
    const value = forwardedValue(field, connection, judgement);
    if (value !== undefined) text += `${field.name}: ${value}\r\n`;
  }
  if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  else if (framing.kind === "length" && sendsLength(head)) {
    text += `Content-Length: ${framing.length}\r\n`;
  }
  if (upgrades) text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  for (const [name, value] of forwardedHeaders({ origin, prefix, judgement })) {
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/** What the gate tells the application of a request. */
export function forwardedHeaders(
  { origin, prefix, judgement }: Pick<UpstreamRequest, "origin" | "prefix" | "judgement">,
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
 * Whether a request asks to change to the only protocol that may follow, WebSocket. HTTP inside of HTTP, for one, would
 * carry requests past the gate. An opening handshake is a GET without a body (RFC 6455, 4.1).
 */
export function isWebSocketRequest(
  { method, minor, fields, framing, connection }: RequestHead,
): boolean {
  if (minor === 0 || method !== "GET" || framing !== NO_BODY) return false;
  return connection.includes("upgrade") && upgradesToWebSocket(fields);
}

/** Whether a message names WebSocket, and nothing else, as the protocol to change to. */
export function upgradesToWebSocket(fields: readonly Header[]): boolean {
  return joinedHeader(fields, "upgrade")?.toLowerCase() === "websocket";
}

/** What a preflight carries to an application that nobody has shown a key of. */
const OF_PREFLIGHT = /^(?:origin|access-control-.*)$/;

/** What of a header goes on. */
export function forwardedValue(
  { lower, value }: Header,
  connection: readonly string[],
  judgement: AccessDecision,
): string | undefined {
  if (judgement.allowed && judgement.caller === "preflight" && !OF_PREFLIGHT.test(lower)) {
    return undefined;
  }
  // Some servers see no difference between a hyphen and other characters.
  const name = UNUSUAL.test(lower) ? lower.replaceAll(/[^a-z0-9]/g, "-") : lower;
  if (REQUEST_HOP_BY_HOP.has(name) || TRUSTED_BY_APPS.test(name)) return undefined;
  if (connection.length > 0 && connection.includes(lower)) return undefined;
  return lower === "cookie" ? withoutSessionCookie(value) : value;
}

const UNUSUAL = /[^a-z0-9-]/;

function sendsLength({ fields }: RequestHead): boolean {
  return fields.some(({ lower }) => lower === "content-length");
}

/** Headers about one connection (RFC 9110, 7.6.1). */
const RESPONSE_HOP_BY_HOP = new Set([
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
export function isForwarded(
  { lower, value }: Pick<Header, "lower" | "value">,
  named: readonly string[],
): boolean {
  if (RESPONSE_HOP_BY_HOP.has(lower) || named.length > 0 && named.includes(lower)) return false;
  if (lower === "service-worker-allowed") return false;
  return lower !== "set-cookie" || !setsSessionCookie(value);
}

/** How an answer goes on to the caller. */
export interface ForwardedFraming {
  /** Whether its body goes in chunks. */
  chunked: boolean;
  /** Whether the connection ends with it. */
  closes: boolean;
}

/** The head of an answer as the caller gets it. Order, spelling and repetition of the application's headers stay. */
export function serializeResponseHead(
  answer: ResponseHead,
  { chunked, closes }: ForwardedFraming,
): string {
  const named = headerTokens(answer.fields, "connection");
  let text = `HTTP/1.1 ${answer.status} ${answer.reason}\r\n`;
  let hasLength = false;
  for (const { name, lower, value } of answer.fields) {
    if (lower === "content-length") {
      // "A server MUST NOT send a Content-Length … with a status code of 1xx or 204" (RFC 9110, 8.6); twice is no better.
      if (hasLength || answer.status === 204) continue;
      hasLength = true;
    } else if (!isForwarded({ lower, value }, named)) continue;
    text += `${name}: ${value}\r\n`;
  }
  if (chunked) text += "Transfer-Encoding: chunked\r\n";
  if (closes) text += "Connection: close\r\n";
  return `${text}\r\n`;
}

/** The head of an answer that changes the protocol of the connection to WebSocket. */
export function serializeUpgrade({ reason, fields }: ResponseHead): string {
  let text = `HTTP/1.1 101 ${reason}\r\n`;
  for (const { name, lower, value } of fields) {
    if (lower !== "content-length" && isForwarded({ lower, value }, [])) {
      text += `${name}: ${value}\r\n`;
    }
  }
  return `${text}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
}
