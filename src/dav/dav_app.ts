import { observeEnd, requestIdOf, type RequestKind } from "../http/request_context.ts";
import { assertHost, parseTarget } from "../http/request_target.ts";
import { errors } from "../http/http_error.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { withoutBody } from "../http/responses/http_response.ts";
import type { Permission } from "../rules/rights.ts";
import { authorize, type DavCall, type DavDeps, type Incoming } from "./dav_call.ts";
import { davErrors, errorResponse, toDavError } from "./dav_error.ts";
import { parsePath } from "./dav_path.ts";
import { DAV_ROUTE } from "./dav_request.ts";
import { copy, move } from "./methods/copy_move.ts";
import { remove } from "./methods/delete.ts";
import { get } from "./methods/get.ts";
import { lock, unlock } from "./methods/lock.ts";
import { mkcol } from "./methods/mkcol.ts";
import { propfind } from "./methods/propfind.ts";
import { proppatch } from "./methods/proppatch.ts";
import { put } from "./methods/put.ts";
import { emptyResponse } from "./responses.ts";

/** A method: what it needs of a key, and its handler. The handler checks drives and names. */
interface Method {
  permissions: readonly Permission[];
  /** How its requests are counted while they run; `other` if absent. */
  kind?: RequestKind;
  handle: (call: DavCall, deps: DavDeps) => Promise<Response>;
}

const METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(
  {
    GET: { permissions: ["read"], kind: "download", handle: get },
    HEAD: { permissions: ["read"], kind: "download", handle: get },
    PUT: { permissions: ["write"], kind: "upload", handle: put },
    DELETE: { permissions: ["delete"], handle: remove },
    MKCOL: { permissions: ["write"], handle: mkcol },
    COPY: { permissions: ["read", "write"], handle: copy },
    MOVE: { permissions: ["read", "write", "delete"], handle: move },
    PROPFIND: { permissions: ["list"], handle: propfind },
    PROPPATCH: { permissions: ["write"], handle: proppatch },
    LOCK: { permissions: ["write"], handle: lock },
    UNLOCK: { permissions: ["write"], handle: unlock },
  } satisfies Record<string, Method>,
));

const ALLOWED = ["OPTIONS", ...METHODS.keys()].join(", ");

/** WebDAV (RFC 4918, classes 1, 2 and 3): answers every request below `/dav`, and never throws. */
export function createDavApp(
  deps: DavDeps,
): (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response> {
  return async (request, info) => {
    const requestId = requestIdOf(request.headers);
    const context = deps.observer.begin(requestId, request.method);
    const incoming: Incoming = { request, requestId, info, context };
    const answer = await deps.running.track(request, () => dispatch(incoming, deps))
      .catch((error: unknown) => failureOf(error, incoming, deps));
    answer.headers.set("X-Request-Id", requestId);
    const sent = request.method === "HEAD" ? withoutBody(answer) : answer;
    observeEnd(incoming, sent, deps);
    return sent;
  };
}

async function dispatch(incoming: Incoming, deps: DavDeps): Promise<Response> {
  const { request, context } = incoming;
  assertHost(request.headers);
  const method = METHODS.get(request.method);
  deps.observer.route(context, DAV_ROUTE, method?.kind ?? "other");
  if (request.method === "OPTIONS") return options();
  if (method === undefined) {
    throw davErrors.methodNotAllowed(
      `The method ${request.method} is not one of WebDAV: see Allow for others`,
      ALLOWED,
    );
  }
  if (deps.isDraining()) throw errors.shuttingDown();
  const path = parsePath(parseTarget(request, deps.basePath).segments);
  const call = await authorize(incoming, path, deps);
  call.rights.require(...method.permissions);
  return await method.handle(call, deps);
}

/** Clients ask for options before they have sent a key. The response tells nothing about what is stored. */
function options(): Response {
  return emptyResponse(200, {
    "Allow": ALLOWED,
    "DAV": "1, 2, 3",
    // Without it Microsoft Office opens files read-only.
    "MS-Author-Via": "DAV",
    "Accept-Ranges": "bytes",
  });
}

function failureOf(
  error: unknown,
  { requestId }: Incoming,
  { onError }: DavDeps,
): HttpResponse {
  const rendered = toDavError(error);
  if (rendered.status >= 500 && rendered.cause !== undefined) onError(rendered.cause, requestId);
  return errorResponse(rendered);
}
