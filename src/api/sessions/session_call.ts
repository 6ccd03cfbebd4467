/**
 * What the endpoints of the dashboard's sessions have in common.
 *
 * @module
 */
import { errors } from "../../http/http_error.ts";
import { type CookieScope, csrfOf, dashboardTokens } from "../../http/network/request_secrets.ts";
import { json } from "../../http/responses/json_response.ts";
import { hashSecret } from "../../rules/secrets.ts";
import type { BrowserSession } from "../../store/sessions/sign_ins.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import type { Schema } from "../../openapi/types.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { PERMISSIONS, Rights } from "../../rules/rights.ts";
import { scopeJson } from "../admin/json.ts";

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

const text: Schema = { type: "string" };

export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  Session: closed({
    id: { ...text, minLength: 1, description: "Names the session in lists." },
    role: { type: "string", enum: ["admin", "project"] },
    project_id: orNull(schema("ProjectId")),
    project_name: orNull(schema("Label")),
    trash_days: orNull({
      type: "integer",
      description: "The days of the project's trash, 0 if it is off; `null` for the administrator.",
    }),
    key: { ...text, description: "The prefix of the project key, or `admin`." },
    permissions: listOf({ type: "string", enum: PERMISSIONS }),
    drives: orNull(listOf(schema("DriveName"))),
    name_prefix: orNull(text),
    csrf: {
      ...text,
      pattern: "^[0-9a-f]{64}$",
      description: "The value of `X-Kvdrive-Session`, without which the cookie counts for nothing.",
    },
    created: schema("Second"),
    expires: {
      ...schema("Second"),
      description: "When the session ends, if it is not used before.",
    },
    version: { ...text, description: "The version of the server." },
    webdav: { type: "boolean", description: "Whether WebDAV is on." },
    s3: orNull({ ...text, description: "The address of S3; `null` if it is off." }),
  }),
  CurrentSession: closed({ session: orNull(schema("Session")) }),
};

/** A session as the page of the dashboard needs it. */
type SessionJson = Record<string, unknown>;

/** @param origin The origin that the browser requested. */
export async function sessionJson(
  { token, session: { record, key } }: SignedIn,
  origin: string,
  { program, store, s3, hasWebdav }: Pick<Deps, "program" | "store" | "s3" | "hasWebdav">,
): Promise<SessionJson> {
  const project = key === undefined ? undefined : await store.projects.get(key.project);
  return {
    id: record.id,
    role: key === undefined ? "admin" : "project",
    project_id: key?.project ?? null,
    project_name: project?.name ?? null,
    trash_days: key === undefined ? null : project?.trashDays ?? 0,
    key: key?.prefix ?? "admin",
    ...scopeJson(key?.rights ?? Rights.all),
    csrf: csrfOf(token),
    created: isoSeconds(record.created),
    expires: isoSeconds(record.expires),
    version: program.version,
    webdav: hasWebdav,
    s3: s3(origin) ?? null,
  };
}

/**
 * The session of the browser that sends a request, as the page of the dashboard needs it; `null` if it is not signed in.
 * Pages of other origins must not be able to read it.
 */
export async function currentSession(
  routed: Pick<RoutedRequest, "request" | "origin">,
  deps: Pick<Deps, "store" | "share" | "basePath" | "program" | "s3" | "hasWebdav">,
): Promise<SessionJson | null> {
  const [found, ...others] = await sessionsOfCookies(routed, deps);
  // One of several may be of a stranger, who wants this browser to work in a project of theirs.
  if (found === undefined || others.length > 0) return null;
  return await sessionJson(found, routed.origin(), deps);
}

/** The part of `User-Agent` that is looked at, in characters. Browsers send less. */
const MAX_USER_AGENT = 512;

/** Browsers and systems by what tells them apart. The first that fits counts: most browsers name others, too. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdgA?(?:iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:(?:Headless)?Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPod)\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/**
 * Returns the name of a browser and its system, such as `Firefox on Linux`, as far as `User-Agent` tells. It has known
 * names only, and no text that the client sent.
 */
export function browserName(userAgent: string | null): string {
  const text = (userAgent ?? "").slice(0, MAX_USER_AGENT);
  const nameIn = (names: readonly [RegExp, string][]) =>
    names.find(([pattern]) => pattern.test(text))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (system === undefined) return browser ?? "Unknown browser";
  return `${browser ?? "Unknown browser"} on ${system}`;
}
