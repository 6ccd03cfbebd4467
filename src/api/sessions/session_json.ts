import { csrfOf } from "../../http/network/request_secrets.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import type { Schema } from "../../openapi/types.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { PERMISSIONS, Rights } from "../../rules/rights.ts";
import { scopeJson } from "../admin/json.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { sessionsOfCookies, type SignedIn } from "./session_call.ts";

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
 * Returns the name of a browser and its system, such as `Firefox on Linux`, as far as `User-Agent` tells. It consists of
 * known names, whatever was sent.
 */
export function browserName(userAgent: string | null): string {
  const text = (userAgent ?? "").slice(0, MAX_USER_AGENT);
  const nameIn = (names: readonly [RegExp, string][]) =>
    names.find(([pattern]) => pattern.test(text))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (system === undefined) return browser ?? "Unknown browser";
  return `${browser ?? "Unknown browser"} on ${system}`;
}
