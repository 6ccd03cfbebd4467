import { gateErrors } from "./gate_response.ts";
import { clientAddress, type TrustedProxies } from "../http/network/client_address.ts";
import { NO_BODY } from "../http1/body.ts";
import { HSTS, HSTS_HEADER } from "../http/browser_headers.ts";
import { type Header, headerTokens, joinedHeader } from "../http1/headers.ts";
import type { RequestHead, ResponseHead } from "../http1/message_head.ts";
import { isHost } from "../rules/hosts.ts";
import { setsSessionCookie, withoutSessionCookie } from "./session_cookie.ts";

/** The client's address and the URL that it requested, as far as they are trusted. */
export interface ClientInfo {
  address: string;
  proto: "http" | "https";
  /** The requested host with its port, which selects the application. Only HTTP/1.0 may omit it. */
  host: string | undefined;
}

/** The other end of a connection: a client or a proxy. */
export interface Peer {
  /** The IP address in its normal form. */
  address: string;
  /** Whether the connection uses TLS. */
  isSecure: boolean;
}

export interface UpstreamRequest {
  /** The head that the client sent. */
  head: RequestHead;
  target: string;
  /** The path in front of the application's own. */
  prefix: string;
  /** The application's host and port. */
  authority: string;
  client: ClientInfo;
  /** The id of the request, as in the log. */
  id: string;
  /** The name of the application's key that authorized the request. */
  keyName: string | undefined;
  /** Whether this is a CORS preflight without a key. */
  isPreflight: boolean;
  /** Whether the connection may change to WebSocket. */
  upgrades: boolean;
}

/** Headers about one connection (RFC 9110, 7.6.1), which a proxy does not forward. */
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
 * The headers of a request that are not forwarded: hop-by-hop headers, the gate's key, and those that the gate sets.
 */
const REQUEST_DROPPED = new Set([
  ...HOP_BY_HOP,
  "proxy-authorization",
  "content-length",
  "expect",
  "host",
  "x-api-key",
  "x-request-id",
]);

/**
 * Headers that applications trust because proxies, platforms and servers set them: the user, the client's address, the
 * scheme and the path. They are dropped from requests, as a client could forge them. CGI programs see `Proxy` as the
 * variable HTTP_PROXY.
 */
const TRUSTED_BY_APPS = new RegExp(
  "^(?:" + [
    "proxy(?:-.*)?",
    // The client's address.
    "forwarded|x-forwarded(?:-.*)?|x-real-(?:ip|port)|client-ip|x-client-ip|x-cluster-client-ip|true-client-ip",
    "cf-connecting-ip(?:v6)?|cf-pseudo-ipv4|fastly-client-ip|fly-client-ip|x-azure-clientip|x-appengine-user-ip",
    "x-originating-ip|x-envoy-external-address|x-remote-.*|remote-.*",
    // The requested URL.
    "x-original-.*|x-rewrite-url|x-host|x-scheme|x-url-scheme|front-end-https|x-script-name|script-name",
    // The user that a proxy authenticated.
    "x-auth-.*|x-authenticated-.*|x-authentik-.*|x-webauth-.*|x-ms-client-principal.*|cf-access-.*",
    "x-goog-authenticated-user-.*|x-goog-iap-.*|x-amzn-oidc-.*",
    // The client's certificate.
    "client-cert(?:-.*)?|x-client-(?:cert|dn|verify)(?:-.*)?|x-(?:ssl|tls)-.*|ssl-client-.*|x-arr-clientcert",
  ].join("|") + ")$",
);

/** The only headers of a preflight that reach an application, as no key was shown. */
const PREFLIGHT = /^(?:origin|access-control-.*)$/;

/** A header name with characters that some servers treat like a hyphen. */
const UNUSUAL_NAME = /[^a-z0-9-]/;

const NO_HEADERS = new Headers();

/** Returns the other end of a connection. */
export function peerOf(address: Deno.NetAddr, isSecure: boolean): Peer {
  return { address: clientAddress(address, NO_HEADERS, undefined), isSecure };
}

/**
 * Determines the client of a request: the peer, or the client that a trusted proxy names in `X-Forwarded-*`.
 *
 * @throws {HttpError} 400 if such a proxy names an invalid host.
 */
export function clientInfoOf(
  { headers, host }: Pick<RequestHead, "headers" | "host">,
  { address, isSecure }: Peer,
  trusted: TrustedProxies | undefined,
): ClientInfo {
  const peer: ClientInfo = { address, proto: isSecure ? "https" : "http", host };
  if (trusted === undefined || !trusted.has(address)) return peer;
  const last = (name: string) => joinedHeader(headers, name)?.split(",").at(-1)?.trim();
  const hops = new Headers({ "x-forwarded-for": joinedHeader(headers, "x-forwarded-for") ?? "" });
  const proto = last("x-forwarded-proto")?.toLowerCase();
  return {
    address: clientAddress({ transport: "tcp", hostname: address, port: 0 }, hops, trusted),
    proto: proto === "https" || proto === "http" ? proto : peer.proto,
    host: forwardedHost(last("x-forwarded-host")) ?? host,
  };
}

function forwardedHost(host: string | undefined): string | undefined {
  if (host === undefined || host === "") return undefined;
  if (!isHost(host)) throw gateErrors.badForwardedHost();
  return host;
}

/** Returns the head of an upstream request. The client's headers keep their order, spelling and repetition. */
export function serializeRequestHead(request: UpstreamRequest): string {
  const { head, target, authority, isPreflight, upgrades } = request;
  const { method, headers, framing, connection } = head;
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const header of headers) {
    const value = upstreamValue(header, connection, isPreflight);
    if (value !== undefined) text += `${header.name}: ${value}\r\n`;
  }
  if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  else if (framing.kind === "length" && hasContentLength(head)) {
    text += `Content-Length: ${framing.length}\r\n`;
  }
  if (upgrades) text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  for (const [name, value] of gateHeaders(request)) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

/** Returns the headers that the gate adds to an upstream request. */
export function gateHeaders(
  { client, id, prefix, keyName }: Pick<UpstreamRequest, "client" | "id" | "prefix" | "keyName">,
): [string, string][] {
  const headers: [string, string][] = [
    ["X-Request-Id", id],
    ["X-Forwarded-For", client.address],
    ["X-Forwarded-Proto", client.proto],
  ];
  if (client.host !== undefined) headers.push(["X-Forwarded-Host", client.host]);
  if (prefix !== "") headers.push(["X-Forwarded-Prefix", prefix]);
  if (keyName !== undefined) headers.push(["X-Auth-Key-Name", keyNameHeader(keyName)]);
  return headers;
}

/** Returns a key's name as a header value. Characters outside ASCII, and outer white space, are percent-encoded. */
export function keyNameHeader(name: string): string {
  const encoded = encodeURI(name);
  return name.trim() === name ? encoded.replaceAll("%20", " ") : encoded;
}

/** Returns the value of a client's header for the application, or `undefined` if the header is dropped. */
export function upstreamValue(
  { lower, value }: Header,
  connection: ReadonlySet<string>,
  isPreflight: boolean,
): string | undefined {
  if (isPreflight && !PREFLIGHT.test(lower)) return undefined;
  const name = UNUSUAL_NAME.test(lower) ? lower.replaceAll(/[^a-z0-9]/g, "-") : lower;
  if (REQUEST_DROPPED.has(name) || TRUSTED_BY_APPS.test(name)) return undefined;
  if (connection.has(lower)) return undefined;
  return lower === "cookie" ? withoutSessionCookie(value) : value;
}

/**
 * Whether a request is an opening handshake of WebSocket: a GET without a body (RFC 6455, 4.1). No other upgrade is
 * forwarded: HTTP/2 over cleartext, for example, would carry requests past the gate.
 */
export function isWebSocketRequest(
  { method, minor, headers, framing, connection }: RequestHead,
): boolean {
  if (minor === 0 || method !== "GET" || framing !== NO_BODY) return false;
  return connection.has("upgrade") && upgradesToWebSocket(headers);
}

/** Whether the header Upgrade names WebSocket and nothing else. */
export function upgradesToWebSocket(headers: readonly Header[]): boolean {
  return joinedHeader(headers, "upgrade")?.toLowerCase() === "websocket";
}

/**
 * Returns the head of a response for the client, which may change the connection to WebSocket. The application's headers
 * keep their order, spelling and repetition. `X-Request-Id` is added unless the application set it.
 *
 * @param options The id of the request, whether the body is sent in chunks, whether the connection closes after it, and
 * whether browsers have to use https only.
 */
export function serializeResponseHead(
  response: ResponseHead,
  { id, chunked, closes, hsts = false }: {
    id: string;
    chunked: boolean;
    closes: boolean;
    hsts?: boolean;
  },
): string {
  const connection = headerTokens(response.headers, "connection");
  const isUpgrade = response.status === 101;
  let text = `HTTP/1.1 ${response.status} ${response.reason}\r\n`;
  let hasLength = false;
  let hasId = false;
  for (const { name, lower, value } of response.headers) {
    if (lower === "content-length") {
      // "A server MUST NOT send a Content-Length … with a status code of 1xx or 204" (RFC 9110, 8.6), nor repeat it.
      if (hasLength || isUpgrade || response.status === 204) continue;
      hasLength = true;
    } else if (!reachesClient({ lower, value }, connection)) continue;
    if (lower === "x-request-id") hasId = true;
    text += `${name}: ${value}\r\n`;
  }
  if (!hasId) text += `X-Request-Id: ${id}\r\n`;
  if (hsts && joinedHeader(response.headers, HSTS_HEADER.toLowerCase()) === undefined) {
    text += `${HSTS_HEADER}: ${HSTS}\r\n`;
  }
  if (chunked) text += "Transfer-Encoding: chunked\r\n";
  if (isUpgrade) text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  else if (closes) text += "Connection: close\r\n";
  return `${text}\r\n`;
}

/**
 * Whether an application's header is forwarded to the client. Drops hop-by-hop headers, session cookies of the gate,
 * and `Service-Worker-Allowed`, which would give one application's service worker the paths of others.
 *
 * @param connection The options in the header Connection.
 */
export function reachesClient(
  { lower, value }: Pick<Header, "lower" | "value">,
  connection: ReadonlySet<string>,
): boolean {
  if (HOP_BY_HOP.has(lower) || connection.has(lower)) return false;
  if (lower === "service-worker-allowed") return false;
  return lower !== "set-cookie" || !setsSessionCookie(value);
}

function hasContentLength({ headers }: RequestHead): boolean {
  return headers.some(({ lower }) => lower === "content-length");
}
