import { authorize, readCredentials } from "../../gate/authorization.ts";
import { keyNameHeader } from "../../gate/forwarded_headers.ts";
import { isSameOrigin, SAFE_METHODS, SESSION_NAMES } from "../../gate/session_cookie.ts";
import { errors } from "../../http/http_error.ts";
import { decodeLeniently, Query } from "../../http/request_target.ts";
import type { Header } from "../../http1/headers.ts";
import type { Deps, RoutedRequest } from "../router.ts";

/**
 * `GET /auth/{project_id}/{app}`: "answers 204 or 401 with the same judgement for a proxy that asks first". The proxy
 * writes the method of the caller's request into `?method=`, if it wants preflights to pass: no caller can write there.
 *
 * An application that does not exist is answered like a protected one, until a key of the project is shown.
 */
export async function forwardAuth(
  { request: { headers }, params, query, address, visit }: RoutedRequest,
  { store, wrongKeys }: Deps,
): Promise<Response> {
  const method = new Query(query).one("method");
  const project = decodeLeniently(params["project"] ?? "");
  const name = decodeLeniently(params["app"] ?? "");
  const app = await store.apps.find(project, name);
  const asked = app ?? { project, app: name, created: 0, access: true };
  const fields = [...headers].map(([name, value]) => ({ name, lower: name, value }));
  const cookies = maySpendSession(headers, fields, method) ? SESSION_NAMES : [];
  const judgement = await authorize(store, () => readCredentials(fields, cookies), asked);
  if (judgement.allowed) {
    if (app === undefined) throw errors.appNotFound(name);
    visit.key = judgement.key;
    return allowed(judgement.caller === "key" ? judgement.keyName : undefined);
  }
  if (!judgement.sentKey) {
    if (method === "OPTIONS" && isPreflight(headers)) return allowed();
    throw errors.missingAppKey();
  }
  // Of all refusals, nginx passes on this status alone: it says as well how long a caller has to wait.
  throw errors.unknownAppKey(wrongKeys.record(address()));
}

/**
 * Whether a session counts, as at the gate. The proxy need not tell the method, and takes `Upgrade` off; but browsers send
 * `Origin` with all that is not safe, and with every WebSocket.
 */
function maySpendSession(
  headers: Headers,
  fields: readonly Header[],
  method: string | undefined,
): boolean {
  const isSafe = method === undefined || SAFE_METHODS.has(method);
  if (isSafe && !headers.has("origin")) return true;
  return isSameOrigin(fields, headers.get("host") ?? undefined);
}

function isPreflight(headers: Headers): boolean {
  return headers.has("origin") && headers.has("access-control-request-method");
}

/** The name is always there, empty where no key called: proxies that copy it then copy nothing that a caller wrote. */
function allowed(keyName = ""): Response {
  const headers = { "Cache-Control": "no-store", "X-Auth-Key-Name": keyNameHeader(keyName) };
  return new Response(null, { status: 204, headers });
}
