import { timingSafeEqual } from "node:crypto";
import { bearerToken, keyRefusal } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { hashSecret, MAX_KEY_HEADER } from "../../rules/secrets.ts";
import type { Deps, RoutedRequest } from "../router.ts";

/** `GET /metrics`: the figures as Prometheus reads them, for the administrator and for who has the token for them. */
export async function showMetrics(incoming: RoutedRequest, deps: Deps): Promise<Response> {
  await authorizeMetrics(incoming, deps);
  const bytes = new TextEncoder().encode(await deps.metrics.render());
  return new Response(bytes, {
    headers: {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
      "Content-Length": String(bytes.byteLength),
      "Cache-Control": "no-store",
    },
  });
}

/** @throws {HttpError} 401 without one of the two tokens, 429 after too many wrong ones. */
async function authorizeMetrics(
  { request: { headers }, address, visit }: RoutedRequest,
  { store, metricsToken, wrongKeys }: Deps,
): Promise<void> {
  const token = bearerToken(headers);
  if (token === undefined) throw errors.missingMetricsToken();
  const hash = token.length > MAX_KEY_HEADER ? undefined : hashSecret(token);
  if (hash !== undefined && metricsToken !== undefined && isSame(hash, metricsToken)) {
    visit.key = "metrics";
  } else if (hash !== undefined && await store.projects.isAdminToken(hash)) {
    visit.key = "admin";
  } else {
    throw keyRefusal(errors.unknownMetricsToken(), { wrongKeys, address });
  }
}

/** Compares two SHA-256, in a time that says nothing of where they differ. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(new TextEncoder().encode(a), new TextEncoder().encode(b));
}
