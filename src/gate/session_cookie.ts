import type { Field } from "../http1/fields.ts";

const NAME = "kvdrive_session";

/** The tokens of sessions that a caller sends. Browsers send one for each path that it was set for. */
export function sessionTokens(fields: readonly Field[]): string[] {
  const tokens: string[] = [];
  for (const { lower, value } of fields) {
    if (lower !== "cookie" || !value.includes(NAME)) continue;
    for (const pair of value.split(";")) {
      if (isSession(pair)) tokens.push(pair.slice(pair.indexOf("=") + 1).trim());
    }
  }
  return tokens;
}

/** A Cookie header without our own cookie, and with every other one as it came; `undefined` where none is left. */
export function withoutSession(cookies: string): string | undefined {
  if (!cookies.includes(NAME)) return cookies;
  const pairs = cookies.split(";");
  const others = pairs.filter((pair) => !isSession(pair));
  if (others.length === pairs.length) return cookies;
  const left = others.join(";").trim();
  return left === "" ? undefined : left;
}

/**
 * The header that gives a browser a session, for the application below the prefix alone.
 *
 * @param maxAge Seconds; 0 takes it away.
 */
export function sessionCookie(
  token: string,
  { prefix, isSecure, maxAge }: { prefix: string; isSecure: boolean; maxAge: number },
): string {
  const attributes = [`Path=${prefix}/`, `Max-Age=${maxAge}`, "HttpOnly", "SameSite=Lax"];
  if (isSecure) attributes.push("Secure");
  return [`${NAME}=${token}`, ...attributes].join("; ");
}

function isSession(pair: string): boolean {
  const equals = pair.indexOf("=");
  return (equals === -1 ? pair : pair.slice(0, equals)).trim() === NAME;
}
