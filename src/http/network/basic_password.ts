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
