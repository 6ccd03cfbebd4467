import { toHttpError } from "../http/error_response.ts";
import type { RequestContext } from "../http/request_context.ts";
import { HSTS, HSTS_HEADER } from "../http/browser_headers.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { ConnectionLost } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { type AuthorizedRequest, authorizeRequest } from "./authorization.ts";
import type { AuthorizationContext, GateDeps } from "./context.ts";
import type { Peer } from "./forwarded_headers.ts";
import { errorResponse, gateErrors } from "./gate_response.ts";

/** A request as any server received it. */
interface ReceivedRequest {
  head: RequestHead;
  peer: Peer;
  context: RequestContext;
  /** Reads the body as text. @throws {HttpError} 413 if it has more bytes than `limit`. */
  readBody: (limit: number) => Promise<string>;
}

/**
 * The way of every request through the gate: it is authorized and then forwarded, or the gate responds to it.
 *
 * @param forward Forwards the request, and throws an `HttpError` for what the gate has to respond.
 * @throws {ConnectionLost} if the client left.
 */
export async function respond<Forwarded>(
  gate: AuthorizationContext & Pick<GateDeps, "hsts" | "onError">,
  request: ReceivedRequest,
  forward: (authorized: AuthorizedRequest) => Promise<Forwarded>,
): Promise<Forwarded | HttpResponse> {
  const { head, context } = request;
  try {
    const found = await authorizeRequest(gate, request);
    return "route" in found ? await forward(found) : completed(found, context, gate);
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    const httpError = error instanceof MalformedMessage
      ? gateErrors.badMessage(error.status, error.message)
      : toHttpError(error);
    if (httpError.status >= 500 && httpError.cause !== undefined) {
      gate.onError(httpError.cause, context.id);
    }
    return completed(errorResponse(httpError, head), context, gate);
  }
}

/** Completes a response of the gate itself, and records it. */
export function completed(
  response: HttpResponse,
  context: RequestContext,
  { hsts }: Pick<GateDeps, "hsts">,
): HttpResponse {
  context.status = response.status;
  context.isForwarded = false;
  response.headers.set("X-Request-Id", context.id);
  if (hsts) response.headers.set(HSTS_HEADER, HSTS);
  return response;
}
