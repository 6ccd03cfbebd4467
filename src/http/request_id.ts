/** What a caller may name its request: printable, without blanks or quotes, and short enough for a log. */
const SANE = /^[A-Za-z0-9._~:@/+=-]{1,128}$/;

/** The caller's `X-Request-Id` if it is a sane one, else a new one. One with the caller's secret in it is none for a log. */
export function requestIdOf(headers: Headers): string {
  const id = headers.get("x-request-id");
  return id !== null && SANE.test(id) && !hasSecret(id, headers) ? id : crypto.randomUUID();
}

function hasSecret(id: string, headers: Headers): boolean {
  const secrets = [headers.get("x-api-key"), headers.get("authorization")?.replace(/^\w+ +/, "")];
  return secrets.some((secret) => secret && id.includes(secret));
}
