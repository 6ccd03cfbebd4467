import { RequestContext } from "./request_context.ts";

/** The context of a new request. */
export function someContext(): RequestContext {
  return new RequestContext("r1", "GET", 0);
}
