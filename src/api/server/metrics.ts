import { HttpResponse } from "../../http/responses/http_response.ts";
import { bearerToken, keyRefusal } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { forMetrics } from "../../openapi/info.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import { hashSecret, isSameSecret, MAX_KEY_HEADER } from "../../rules/secrets.ts";
import type { Deps, Endpoint, RoutedRequest } from "../endpoint.ts";

/** `GET /metrics`: the metrics for Prometheus, with the token for metrics or the administrator's. */
export const showMetrics: Endpoint = {
  operation: {
    id: "showMetrics",
    tag: "The server",
    summary: "Metrics of the server",
    description:
      "In the text format of Prometheus. Needs the token for metrics or the administrator's.",
    success: {
      200: plainResponse("The metrics.", { "Cache-Control": header("NoStore") }, {
        "text/plain": { schema: { type: "string" } },
      }),
    },
    failures: {
      Unauthorized: "The token is missing or unknown.",
      TooManyWrongKeys: "Too many wrong keys came from this network.",
      Unavailable: "The store cannot be reached.",
    },
  },
  access: { security: forMetrics },
  async handle(request, deps) {
    await authorize(request, deps);
    const bytes = new TextEncoder().encode(await deps.metrics.render());
    return new HttpResponse(bytes, {
      headers: {
        "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
        "Content-Length": String(bytes.byteLength),
        "Cache-Control": "no-store",
      },
    });
  },
};

/** @throws {HttpError} 401 without one of the two tokens, 429 after too many wrong ones. */
async function authorize(
  { request: { headers }, address, context }: RoutedRequest,
  { store, metricsToken, wrongKeys }: Deps,
): Promise<void> {
  const token = bearerToken(headers);
  if (token === undefined) throw errors.missingMetricsToken();
  const hash = token.length > MAX_KEY_HEADER ? undefined : hashSecret(token);
  if (hash !== undefined && metricsToken !== undefined && isSameSecret(hash, metricsToken)) {
    context.key = "metrics";
  } else if (hash !== undefined && await store.adminToken.hasHash(hash)) {
    context.key = "admin";
  } else {
    throw keyRefusal(errors.unknownMetricsToken(), headers, { wrongKeys, address });
  }
}
