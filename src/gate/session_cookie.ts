import { type Header, joinedHeader } from "../http1/headers.ts";

const NAME = "kvdrive_session";

/**
 * With this prefix a browser takes the cookie over TLS alone, for one host and all of its paths (RFC 6265bis, 4.1.3.2): no
 * other host of the same domain can set it.
 */
const HOST_NAME = `__Host-${NAME}`;

/** Where a session counts. */
export interface SessionScope {
  /** What stands before the application's own paths. */
  prefix: string;
  /** Whether the browser speaks TLS. */
  isSecure: boolean;
}

/** All names that a cookie of the gate can have. */
export const SESSION_NAMES: readonly string[] = [NAME, HOST_NAME];

/** The name of the cookie in a scope. */
export function sessionName({ prefix, isSecure }: SessionScope): string {
  return isSecure && prefix === "" ? HOST_NAME : NAME;
}

/** The tokens of sessions that a caller sends. Browsers send one for each path that it was set for. */
export function sessionTokens(fields: readonly Header[], names: readonly string[]): string[] {
  const tokens: string[] = [];
  for (const { lower, value } of fields) {
    if (lower !== "cookie" || !value.includes(NAME)) continue;
    for (const pair of value.split(";")) {
      if (names.includes(nameOf(pair))) tokens.push(pair.slice(pair.indexOf("=") + 1).trim());
    }
  }
  return tokens;
}

/** A Cookie header without the gate's cookies, and with every other one as it came; `undefined` where none is left. */
export function withoutSessionCookie(cookies: string): string | undefined {
  if (!OURS_SOMEWHERE.test(cookies)) return cookies;
  const pairs = cookies.split(";");
  const others = pairs.filter((pair) => !isReserved(pair));
  if (others.length === pairs.length) return cookies;
  const left = others.join(";").trim();
  return left === "" ? undefined : left;
}

/** Whether an application sets a cookie that a browser would send as one of the gate's. */
export function setsSessionCookie(setCookie: string): boolean {
  if (!OURS_SOMEWHERE.test(setCookie)) return false;
  const semicolon = setCookie.indexOf(";");
  return isReserved(semicolon === -1 ? setCookie : setCookie.slice(0, semicolon));
}

/**
 * The header that gives a browser a session, for the application below the prefix alone.
 *
 * @param maxAge Seconds; 0 takes it away.
 */
export function sessionCookie(
  token: string,
  { maxAge, ...scope }: SessionScope & { maxAge: number },
): string {
  const attributes = [`Path=${scope.prefix}/`, `Max-Age=${maxAge}`, "HttpOnly", "SameSite=Lax"];
  if (scope.isSecure) attributes.push("Secure");
  return [`${sessionName(scope)}=${token}`, ...attributes].join("; ");
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return (equals === -1 ? pair : pair.slice(0, equals)).trim();
}

const OURS_SOMEWHERE = new RegExp(NAME, "i");

/**
 * The name with any prefix, in any case. Browsers send a cookie without a name as its value alone, so that
 * `=kvdrive_session=x` comes back as `kvdrive_session=x`.
 */
const OURS = new RegExp(`^[=\\s]*(?:__[a-z-]*-)?${NAME}\\s*(?:=|$)`, "i");

function isReserved(pair: string): boolean {
  return OURS.test(pair);
}

/** "Safe" methods ask for nothing but an answer (RFC 9110, 9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a browser sends a request from a page of the same origin, as `Sec-Fetch-Site` says or, in older browsers and
 * without TLS, `Origin`. Browsers send one of them with every request that is not safe, and pages can write neither.
 *
 * @param host The host that the caller called, with its port.
 */
export function isSameOrigin(fields: readonly Header[], host: string | undefined): boolean {
  const site = joinedHeader(fields, "sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  return isSameHost(joinedHeader(fields, "origin") ?? "", host);
}

/**
 * Whether the session of a browser counts for a request. A page of another host of the same site can make the browser send
 * the cookie, but read no answer; so it must not be able to change anything, nor to open a connection.
 */
export function mayUseSession(
  { method, fields, connection }: {
    method: string;
    fields: readonly Header[];
    connection: readonly string[];
  },
  host: string | undefined,
): boolean {
  const isSafe = SAFE_METHODS.has(method) && !connection.includes("upgrade");
  return isSafe || isSameOrigin(fields, host);
}

/** The scheme says nothing: a proxy before us may have taken TLS off. */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  const own = `${protocol}//${host}`;
  return from !== "" && URL.canParse(own) && new URL(own).host === from;
}
