import { errors } from "../http/http_error.ts";
import { json } from "../http/json_response.ts";
import type { Deps, Incoming } from "../http/router.ts";

/** `GET /healthz`: 200 for as long as the process answers at all. It asks nobody. */
export function showHealth(): Promise<Response> {
  return Promise.resolve(json(200, { status: "ok" }));
}

/** `GET /readyz`: 200 where requests can be answered, 503 where not: at shutdown, or while the store hangs. */
export async function showReadiness(
  _incoming: Incoming,
  { readiness, isDraining }: Deps,
): Promise<Response> {
  if (isDraining()) throw errors.shuttingDown();
  if (!await readiness.isReady()) throw errors.unavailable(undefined);
  return json(200, { status: "ready" });
}
