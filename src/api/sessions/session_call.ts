/**
 * What the endpoints of the dashboard's sessions have in common.
 *
 * @module
 */
import { errors } from "../../http/http_error.ts";
import { type CookieScope, dashboardTokens } from "../../http/network/request_secrets.ts";
import { json } from "../../http/responses/json_response.ts";
import { hashSecret } from "../../rules/secrets.ts";
import type { BrowserSession } from "../../store/sessions/sign_ins.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";

/** Browsers run no response as a script, and give none to pages of other sites. */
const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
};

export function sessionResponse(
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Response {
  return json(status, value, { ...HEADERS, ...headers });
}

/**
 * Refuses a request of a page of another origin, so that no site can sign a browser in or out. Browsers send
 * `Sec-Fetch-Site`, or `Origin` in older ones and without TLS; pages cannot set either, and programs send neither.
 *
 * @throws {HttpError} 403
 */
export function requireSameOrigin(
  { request: { headers }, origin }: Pick<RoutedRequest, "request" | "origin">,
  { share: { publicUrl = "" } }: Pick<Deps, "share">,
): void {
  const site = headers.get("sec-fetch-site");
  if (site !== null) {
    if (site === "same-origin" || site === "none") return;
    throw errors.crossOriginRequest();
  }
  const sender = headers.get("origin");
  if (sender === null) return;
  const own = [origin(), publicUrl].map(hostOf);
  const host = hostOf(sender);
  if (host === "" || !own.includes(host)) throw errors.crossOriginRequest();
}

/** The host and port of a URL; empty for another text. The scheme is ignored: a proxy in front may have terminated TLS. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/**
 * Whether the browser uses TLS, as far as the server can know: a proxy that is not trusted may have terminated it, but
 * then the server may know its own address.
 */
export function isSecure(
  { origin }: Pick<RoutedRequest, "origin">,
  { share: { publicUrl = "" } }: Pick<Deps, "share">,
): boolean {
  const requested = origin();
  const { protocol } = URL.canParse(requested) ? new URL(requested) : { protocol: "" };
  return protocol === "https:" ||
    publicUrl.startsWith("https:") && hostOf(publicUrl) === hostOf(requested);
}

/** Returns where the cookie of a request's browser is valid. */
export function cookieScope(
  routed: Pick<RoutedRequest, "origin">,
  deps: Pick<Deps, "share" | "basePath">,
): CookieScope {
  return { isSecure: isSecure(routed, deps), basePath: deps.basePath };
}

/** A session that was found by a cookie. */
export interface SignedIn {
  token: string;
  session: BrowserSession;
}

/**
 * The sessions that the cookies of a request name, without any proof that the request comes from the dashboard's page.
 * There are several only if another host of the domain, or another port of the host, has added one.
 */
export async function sessionsOfCookies(
  routed: Pick<RoutedRequest, "request" | "origin">,
  deps: Pick<Deps, "store" | "share" | "basePath">,
): Promise<SignedIn[]> {
  const tokens = new Set(dashboardTokens(routed.request.headers, cookieScope(routed, deps)));
  const found: SignedIn[] = [];
  for (const token of tokens) {
    const session = await deps.store.signIns.find(hashSecret(token));
    if (session !== undefined) found.push({ token, session });
  }
  return found;
}
