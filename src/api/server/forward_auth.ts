import { HttpResponse } from "../../http/responses/http_response.ts";
import { authorize, readCredentials } from "../../gate/authorization.ts";
import { keyNameHeader } from "../../gate/forwarded_headers.ts";
import { isSameOrigin, SAFE_METHODS, SESSION_NAMES } from "../../gate/session_cookie.ts";
import { errors } from "../../http/http_error.ts";
import { isFromOtherSite } from "../../http/network/wrong_keys.ts";
import { decodeLeniently, Query } from "../../http/request_target.ts";
import type { Header } from "../../http1/headers.ts";
import { forCallers } from "../../openapi/info.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import type { Deps, Endpoint, RoutedRequest } from "../endpoint.ts";

/**
 * `GET /auth/{project_id}/{app}`: "answers 204 or 401 with the same judgement for a proxy that asks first". The proxy may
 * pass the method of the client's request in `?method=`, so that CORS preflights are allowed; clients cannot set it.
 *
 * `X-Forwarded-Method` is ignored, even from a trusted proxy: nginx passes on that of the client, and so does Traefik if
 * its entry point trusts `X-Forwarded-*`. A client without a key could disguise any request as a preflight.
 *
 * An application that does not exist is answered like a protected one, unless a key of the project is sent.
 */
export const forwardAuth: Endpoint = {
  operation: {
    id: "forwardAuth",
    tag: "Applications",
    summary: "Authorize a request to an application",
    description:
      "For a reverse proxy in front of an application: nginx `auth_request`, Caddy `forward_auth`, Traefik " +
      "`ForwardAuth`. The proxy passes on the headers of the client's request. An application that does not exist is " +
      "answered like a protected one, unless a key of the project is sent.",
    parameters: ["CallerMethod"],
    success: {
      204: plainResponse("The client has access.", {
        "Cache-Control": header("NoStore"),
        "X-Auth-Key-Name": header("KeyName"),
      }),
    },
    failures: {
      AccessDenied:
        "Access control is on, and the client sent no key of this application and is not its owner; or the application does not exist.",
      NotFound: "The key is one of the project, but the application does not exist.",
    },
  },
  access: { security: forCallers, allowsCors: true },
  handle: answer,
};

async function answer(
  { request: { headers }, params, query, address, context }: RoutedRequest,
  { store, wrongKeys }: Deps,
): Promise<Response> {
  const method = new Query(query).one("method");
  const project = decodeLeniently(params["project"] ?? "");
  const name = decodeLeniently(params["app"] ?? "");
  const app = await store.apps.find(project, name);
  const target = app ?? { project, app: name, created: 0, access: true };
  const fields = [...headers].map(([name, value]) => ({ name, lower: name, value }));
  const cookies = acceptsSession(headers, fields, method) ? SESSION_NAMES : [];
  const decision = await authorize(store, () => readCredentials(fields, cookies), target);
  if (decision.allowed) {
    if (app === undefined) throw errors.appNotFound(name);
    context.key = decision.key;
    return allowed(decision.caller === "key" ? decision.keyName : undefined);
  }
  if (!decision.sentKey) {
    if (method === "OPTIONS" && isPreflight(headers)) return allowed();
    throw errors.missingAppKey();
  }
  // nginx passes on 401 but not 429, so this response also carries `Retry-After`.
  const isCounted = !isFromOtherSite(headers.get("sec-fetch-site"));
  throw errors.unknownAppKey(isCounted ? wrongKeys.record(address()) : undefined);
}

/**
 * Whether session cookies are accepted, as at the gate. The proxy need not pass the method and removes `Upgrade`, but
 * browsers send `Origin` with every unsafe request and every WebSocket.
 */
function acceptsSession(
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

/** The header is always present, empty without a key: a proxy that copies it never copies one that the client sent. */
function allowed(keyName = ""): Response {
  const headers = { "Cache-Control": "no-store", "X-Auth-Key-Name": keyNameHeader(keyName) };
  return new HttpResponse(null, { status: 204, headers });
}
