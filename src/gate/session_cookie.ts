import { DASHBOARD_COOKIE } from "../http/network/request_secrets.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";

// `@std/http/cookie` is wrong here: it keeps one cookie of a name, but a browser sends one per path, and it cannot remove a
// cookie without changing the others.

const NAME = "kvdrive_session";

/**
 * Browsers accept a cookie with this prefix over TLS only, for one host and all of its paths (RFC 6265bis, 4.1.3.2): no
 * other host of the same domain can set it.
 */
const HOST_NAME = `__Host-${NAME}`;

/** The requests that a session cookie is sent with. */
export interface SessionScope {
  /** The path in front of the application's own. */
  prefix: string;
  /** Whether the browser uses TLS. */
  isSecure: boolean;
}

export const SESSION_NAMES: readonly string[] = [NAME, HOST_NAME];

/** "Safe" methods are read-only (RFC 9110, 9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Returns the name of the session cookie in a scope. */
export function sessionName({ prefix, isSecure }: SessionScope): string {
  return isSecure && prefix === "" ? HOST_NAME : NAME;
}

/** Returns the value of a Set-Cookie header that stores a session token, or removes it if `maxAge` is 0 (seconds). */
export function sessionCookie(
  token: string,
  { maxAge, ...scope }: SessionScope & { maxAge: number },
): string {
  const attributes = [`Path=${scope.prefix}/`, `Max-Age=${maxAge}`, "HttpOnly", "SameSite=Lax"];
  if (scope.isSecure) attributes.push("Secure");
  return [`${sessionName(scope)}=${token}`, ...attributes].join("; ");
}

/** Returns the tokens of all session cookies with the given names. */
export function sessionTokens(headers: readonly Header[], names: readonly string[]): string[] {
  const tokens: string[] = [];
  for (const { lower, value } of headers) {
    if (lower !== "cookie" || !value.includes(NAME)) continue;
    for (const pair of value.split(";")) {
      if (names.includes(nameOf(pair))) tokens.push(pair.slice(pair.indexOf("=") + 1).trim());
    }
  }
  return tokens;
}

/** Returns a Cookie header without the cookies of the server and otherwise unchanged, or `undefined` if no cookie is left. */
export function withoutSessionCookie(cookies: string): string | undefined {
  if (!CONTAINS_NAME.test(cookies)) return cookies;
  const pairs = cookies.split(";");
  const others = pairs.filter((pair) => !SESSION_PAIR.test(pair));
  if (others.length === pairs.length) return cookies;
  const rest = others.join(";").trim();
  return rest === "" ? undefined : rest;
}

/** Whether a Set-Cookie header sets a cookie that browsers would send as one of the server. */
export function setsSessionCookie(setCookie: string): boolean {
  if (!CONTAINS_NAME.test(setCookie)) return false;
  const semicolon = setCookie.indexOf(";");
  return SESSION_PAIR.test(semicolon === -1 ? setCookie : setCookie.slice(0, semicolon));
}

/**
 * Whether a session counts for a request. A page of another host on the same site can make the browser send the cookie,
 * although it cannot read the response: it must not change anything or open a connection.
 *
 * @param host The requested host, with its port.
 */
export function mayUseSession(
  { method, headers, connection }: {
    method: string;
    headers: readonly Header[];
    connection: ReadonlySet<string>;
  },
  host: string | undefined,
): boolean {
  const isSafe = SAFE_METHODS.has(method) && !connection.has("upgrade");
  return isSafe || isSameOrigin(headers, host);
}

/**
 * Whether a browser sent the request from a page of the same origin, according to `Sec-Fetch-Site`, or to `Origin` in
 * older browsers and without TLS. Browsers send one of them with every unsafe request, and pages cannot set either.
 *
 * @param host The requested host, with its port.
 */
export function isSameOrigin(headers: readonly Header[], host: string | undefined): boolean {
  const site = joinedHeader(headers, "sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  return isSameHost(joinedHeader(headers, "origin") ?? "", host);
}

/** Ignores the scheme, as a proxy in front may have terminated TLS. */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const requested = `${protocol}//${host}`;
  return originHost !== "" && URL.canParse(requested) && new URL(requested).host === originHost;
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return (equals === -1 ? pair : pair.slice(0, equals)).trim();
}

/** The cookies of the server: of the gate's sessions and of the dashboard, which may have the same host. */
const OWN_NAMES = `(?:${NAME}|${DASHBOARD_COOKIE})`;

const CONTAINS_NAME = new RegExp(OWN_NAMES, "i");

/**
 * A cookie with the name of one of the server, with any prefix and in any case. Browsers send a cookie without a name as its value
 * only: `=kvdrive_session=x` comes back as `kvdrive_session=x`.
 */
const SESSION_PAIR = new RegExp(`^[=\\s]*(?:__[a-z-]*-)?${OWN_NAMES}\\s*(?:=|$)`, "i");
