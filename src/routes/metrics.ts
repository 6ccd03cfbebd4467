import { timingSafeEqual } from "node:crypto";
import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { tokenOf } from "../http/admin_caller.ts";
import { refusal } from "../http/authenticate.ts";
import { errors } from "../http/http_error.ts";
import type { Deps, Incoming } from "../http/router.ts";

/** `GET /metrics`: the figures as Prometheus reads them, for the administrator and for who has the token for them. */
export async function showMetrics(incoming: Incoming, deps: Deps): Promise<Response> {
  await admit(incoming, deps);
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
async function admit(
  { request: { headers }, address, visit }: Incoming,
  { store, metricsToken, wrongKeys }: Deps,
): Promise<void> {
  const token = tokenOf(headers);
  if (token === undefined) throw errors.noMetricsToken();
  const hash = token.length > MAX_KEY_HEADER ? undefined : hashSecret(token);
  if (hash !== undefined && metricsToken !== undefined && isSame(hash, metricsToken)) {
    visit.key = "metrics";
  } else if (hash !== undefined && await store.projects.isAdminToken(hash)) {
    visit.key = "admin";
  } else {
    throw refusal(errors.unknownMetricsToken(), { wrongKeys, address });
  }
}

/** Compares two SHA-256, in a time that says nothing of where they differ. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(new TextEncoder().encode(a), new TextEncoder().encode(b));
}
