import type { Origin } from "./forwarded.ts";
import { type Field, joinedField } from "../http1/fields.ts";
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
  "x-api-key",
]);

/**
 * Headers that proxies, platforms and servers set themselves, and that applications therefore believe: who calls, from
 * where, over what, and for which path. What a caller writes there is dropped. `Proxy` becomes the variable HTTP_PROXY
 * in CGI programs.
 */
const BELIEVED = new RegExp(
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
export interface Forwarding {
  head: RequestHead;
  /** What the application is asked for. */
  target: string;
  prefix: string;
  /** The application's own host and port. */
  authority: string;
  origin: Origin;
  judgement: Judgement;
  /** Whether the connection may change to WebSocket. */
  upgrades: boolean;
}

/** The head of a request as the application gets it. Order, spelling and repetition of the caller's headers stay. */
export function requestText(forwarding: Forwarding): string {
  const { head, target, prefix, authority, origin, judgement, upgrades } = forwarding;
  const { method, fields, framing, connection } = head;
  let text = `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const field of fields) {
    const value = passedValue(field, connection, judgement);
    if (value !== undefined) text += `${field.name}: ${value}\r\n`;
  }
  if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  else if (framing.kind === "length" && sendsLength(head)) {
    text += `Content-Length: ${framing.length}\r\n`;
  }
  if (upgrades) text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
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
 * Whether a request asks to change to the only protocol that may follow, WebSocket. HTTP inside of HTTP, for one, would
 * carry requests past the gate. An opening handshake is a GET without a body (RFC 6455, 4.1).
 */
export function asksForWebSocket(
  { method, minor, fields, framing, connection }: RequestHead,
): boolean {
  if (minor === 0 || method !== "GET" || framing !== NO_BODY) return false;
  return connection.includes("upgrade") && isWebSocket(fields);
}

/** Whether a message names WebSocket, and nothing else, as the protocol to change to. */
export function isWebSocket(fields: readonly Field[]): boolean {
  return joinedField(fields, "upgrade")?.toLowerCase() === "websocket";
}

/** What a preflight carries to an application that nobody has shown a key of. */
const OF_PREFLIGHT = /^(?:origin|access-control-.*)$/;

/** What of a header goes on. */
export function passedValue(
  { lower, value }: Field,
  connection: readonly string[],
  judgement: Judgement,
): string | undefined {
  if (judgement.allowed && judgement.caller === "preflight" && !OF_PREFLIGHT.test(lower)) {
    return undefined;
  }
  // Some servers see no difference between a hyphen and other characters.
  const name = UNUSUAL.test(lower) ? lower.replaceAll(/[^a-z0-9]/g, "-") : lower;
  if (OWN.has(name) || BELIEVED.test(name)) return undefined;
  if (connection.length > 0 && connection.includes(lower)) return undefined;
  return lower === "cookie" ? withoutSession(value) : value;
}

const UNUSUAL = /[^a-z0-9-]/;

function sendsLength({ fields }: RequestHead): boolean {
  return fields.some(({ lower }) => lower === "content-length");
}
