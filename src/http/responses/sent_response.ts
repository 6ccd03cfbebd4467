import type { Store } from "../../store/store.ts";
import { HttpResponse } from "./http_response.ts";
import type { RequestContext, RequestObserver } from "../request_context.ts";

/** What is known of a request while it is answered. */
interface AnsweredRequest {
  context: RequestContext;
  info: Deno.ServeHandlerInfo;
}

/** Receives the end of a request. */
interface Observers {
  observer: RequestObserver;
  store: Pick<Store, "usageHistory">;
}

/** Returns the response to `HEAD`: the same headers without a body. */
export function withoutBody(response: Response): Response {
  if (response.body === null) return response;
  const { status, headers } = response;
  return new HttpResponse(null, { status, headers });
}

/**
 * Completes the context when the response has been sent. A body in memory is sent at once; the bytes of a stream are counted
 * as they leave. Reading `response.body` here would turn a body in memory into a stream, which costs more than the request.
 */
export function observeEnd(
  { context, info }: AnsweredRequest,
  response: Response,
  { observer, store }: Observers,
): void {
  context.status = response.status;
  if (!context.isStreaming && context.method !== "HEAD" && response.status !== 304) {
    context.sent = Number(response.headers.get("content-length") ?? 0);
  }
  const end = () => {
    observer.end(context);
    if (context.project !== undefined) store.usageHistory.traffic.count(context.project, context);
  };
  info.completed.then(end, end);
}
