import { readCredentials } from "../gate/credentials.ts";
import { judge, keyNameHeader } from "../gate/judge.ts";
import { errors } from "../http/http_error.ts";
import { Query } from "../http/query.ts";
import { decodeLeniently } from "../http/request_target.ts";
import type { Deps, Incoming } from "../http/router.ts";

/**
 * `GET /auth/{project_id}/{app}`: "answers 204 or 401 with the same judgement for a proxy that asks first". The proxy
 * writes the method of the caller's request into `?method=`, if it wants preflights to pass: no caller can write there.
 */
export async function forwardAuth(
  { request: { headers }, params, query, address, visit }: Incoming,
  { store, wrongKeys }: Deps,
): Promise<Response> {
  const method = new Query(query).one("method");
  const name = decodeLeniently(params["app"] ?? "");
  const app = await store.apps.find(decodeLeniently(params["project"] ?? ""), name);
  if (app === undefined) throw errors.noApplication(name);
  if (method === "OPTIONS" && isPreflight(headers)) return allowed();
  const fields = [...headers].map(([name, value]) => ({ name, lower: name, value }));
  const judgement = await judge(store, () => readCredentials(fields), app);
  if (judgement.allowed) {
    visit.key = judgement.key;
    return allowed(judgement.caller === "key" ? judgement.keyName : undefined);
  }
  if (!judgement.sentKey) throw errors.noKeyOfApp();
  // Of all refusals, nginx passes on this status alone: it says as well how long a caller has to wait.
  throw errors.wrongKeyOfApp(wrongKeys.refuse(address()));
}

function isPreflight(headers: Headers): boolean {
  return headers.has("origin") && headers.has("access-control-request-method");
}

/** The name is always there, empty where no key called: proxies that copy it then copy nothing that a caller wrote. */
function allowed(keyName = ""): Response {
  const headers = { "Cache-Control": "no-store", "X-Auth-Key-Name": keyNameHeader(keyName) };
  return new Response(null, { status: 204, headers });
}
