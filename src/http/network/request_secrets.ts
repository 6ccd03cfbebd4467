import { hashSecret } from "../../rules/secrets.ts";

/** The cookie of the dashboard. The gate keeps it from applications, which may have the same host. */
export const DASHBOARD_COOKIE = "kvdrive_dashboard";

/**
 * Browsers accept a cookie with this prefix over TLS only, for one host and all of its paths (RFC 6265bis, 4.1.3.2): no
 * other host of the same domain can set it.
 */
const HOST_NAME = `__Host-${DASHBOARD_COOKIE}`;

/** With this one over TLS only, also for a part of the paths. */
const SECURE_NAME = `__Secure-${DASHBOARD_COOKIE}`;

/** Carries the proof that a request comes from the page of the dashboard: see `csrfOf`. */
export const SESSION_HEADER = "X-Kvdrive-Session";

/** Cookies of that name that are looked at: a browser sends one for each path and domain that it knows. */
const MAX_COOKIES = 4;

/** How long a browser keeps the cookie, in seconds: browsers allow no more. The server ends sessions earlier. */
const COOKIE_MAX_AGE = 400 * 24 * 60 * 60;

/** The longest value of a cookie that is looked at, in characters. Ours have 32. */
const MAX_TOKEN = 128;

/**
 * Returns the proof that a page knows the session of its browser. Only pages of the server's own origin can read it, and
 * no form, image or link can send it. It is derived from the token, so the store does not hold it, and it cannot be computed
 * from what the store holds.
 */
export function csrfOf(token: string): string {
  return hashSecret(`csrf ${token}`);
}

/** Where the cookie is valid. */
export interface CookieScope {
  /** Whether the browser uses TLS. */
  isSecure: boolean;
  /** The path that the server is below, such as `/files`; empty for none. */
  basePath: string;
}

function nameFor({ isSecure, basePath }: CookieScope): string {
  if (!isSecure) return DASHBOARD_COOKIE;
  return basePath === "" ? HOST_NAME : SECURE_NAME;
}

/**
 * Returns the tokens of a request's cookies.
 *
 * @param scope Only the cookie of this scope counts. All if absent.
 */
export function dashboardTokens(headers: Headers, scope?: CookieScope): string[] {
  const cookies = headers.get("cookie");
  if (cookies === null || !cookies.includes(DASHBOARD_COOKIE)) return [];
  const names = scope === undefined ? [HOST_NAME, SECURE_NAME, DASHBOARD_COOKIE] : [nameFor(scope)];
  const tokens: string[] = [];
  // Header lines of the same name are joined with a comma.
  for (const pair of cookies.split(/[;,]/)) {
    const equals = pair.indexOf("=");
    if (equals === -1 || !names.includes(pair.slice(0, equals).trim())) continue;
    const token = pair.slice(equals + 1).trim();
    if (token !== "" && token.length <= MAX_TOKEN) tokens.push(token);
    if (tokens.length === MAX_COOKIES) break;
  }
  return tokens;
}

/** Returns the value of `Set-Cookie` that stores a token, or removes it if it is empty. */
export function dashboardCookie(token: string, scope: CookieScope): string {
  const maxAge = token === "" ? 0 : COOKIE_MAX_AGE;
  const path = scope.basePath === "" ? "/" : scope.basePath;
  const attributes = [`Path=${path}`, `Max-Age=${maxAge}`, "HttpOnly", "SameSite=Strict"];
  if (scope.isSecure) attributes.push("Secure");
  return [`${nameFor(scope)}=${token}`, ...attributes].join("; ");
}

/** HTTP Basic (RFC 7617). The scheme's name is not case-sensitive. */
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})\s*$/i;

/** The password of a request by HTTP Basic; `undefined` without one. Keys are ASCII, the same in all charsets. */
export function basicPassword(headers: Headers): string | undefined {
  const [, encoded] = BASIC.exec(headers.get("authorization") ?? "") ?? [];
  if (encoded === undefined) return undefined;
  try {
    const pair = atob(encoded);
    const colon = pair.indexOf(":");
    return colon === -1 || colon === pair.length - 1 ? undefined : pair.slice(colon + 1);
  } catch {
    return undefined;
  }
}
