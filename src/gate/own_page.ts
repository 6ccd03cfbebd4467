import { type Field, joinedField } from "../http1/fields.ts";

/** "Safe" methods ask for nothing but an answer (RFC 9110, 9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a browser sends a request from a page of the same origin, as `Sec-Fetch-Site` says or, in older browsers and
 * without TLS, `Origin`. Browsers send one of them with every request that is not safe, and pages can write neither.
 *
 * @param host The host that the caller called, with its port.
 */
export function isFromOwnPage(fields: readonly Field[], host: string | undefined): boolean {
  const site = joinedField(fields, "sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  return isSameHost(joinedField(fields, "origin") ?? "", host);
}

/**
 * Whether the session of a browser counts for a request. A page of another host of the same site can make the browser send
 * the cookie, but read no answer; so it must not be able to change anything, nor to open a connection.
 */
export function maySpendSession(
  { method, fields, connection }: {
    method: string;
    fields: readonly Field[];
    connection: readonly string[];
  },
  host: string | undefined,
): boolean {
  const isSafe = SAFE_METHODS.has(method) && !connection.includes("upgrade");
  return isSafe || isFromOwnPage(fields, host);
}

/** The scheme says nothing: a proxy before us may have taken TLS off. */
function isSameHost(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  const own = `${protocol}//${host}`;
  return from !== "" && URL.canParse(own) && new URL(own).host === from;
}
