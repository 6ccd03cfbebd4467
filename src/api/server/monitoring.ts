import { deadline } from "@std/async/deadline";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { header, jsonResponse, plainResponse } from "../../openapi/messages.ts";
import { closed } from "../../openapi/schemas.ts";
import { type Deps, type Endpoint, publicEndpoint, type RoutedRequest } from "../endpoint.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { bearerToken, keyRefusal } from "../../http/authentication.ts";
import { forMetrics } from "../../openapi/info.ts";
import { hashSecret, isSameSecret, MAX_KEY_HEADER } from "../../rules/secrets.ts";

/** "503 … when the store does not answer within 1 s", in milliseconds. */
const READY_TIMEOUT = 1000;

/** How long the result of a check is reused, in milliseconds. */
const READY_TTL = 1000;

/** `GET /healthz`: 200 while the process answers, also during shutdown; performs no checks. */
export const showHealth = publicEndpoint(
  {
    id: "showHealth",
    tag: "The server",
    summary: "Whether the server is alive",
    description: "200 while the process answers at all.",
    success: { 200: jsonResponse("The server is alive.", "Alive") },
    neverFailsBy: ["Unavailable"],
    schemas: { Alive: closed({ status: { const: "ok" } }) },
  },
  () => Promise.resolve(json(200, { status: "ok" })),
  { duringShutdown: true },
);

/** `GET /readyz`: 200 if requests can be answered, 503 during shutdown and while the store does not answer. */
export const showReadiness = publicEndpoint({
  id: "showReadiness",
  tag: "The server",
  summary: "Whether the server accepts requests",
  success: { 200: jsonResponse("The server accepts requests.", "Ready") },
  failures: { Unavailable: "It is shutting down, or its store cannot be reached." },
  schemas: { Ready: closed({ status: { const: "ready" } }) },
}, async (_request, { readiness, isDraining }) => {
  if (isDraining()) throw errors.shuttingDown();
  if (!await readiness.isReady()) throw errors.storeUnavailable(undefined);
  return json(200, { status: "ready" });
}, { duringShutdown: true });

/**
 * Checks whether the store answers. At most one check runs at a time, however many callers ask: while the store hangs, each
 * of them gets the last result at once, and no checks pile up.
 */
export class Readiness {
  #result: Promise<boolean> | undefined;
  #isProbing = false;
  #probedAt = -Infinity;

  /** @param probe Uses the store. It throws if that fails, and should end when the signal aborts. */
  constructor(private readonly probe: (signal: AbortSignal) => Promise<void>) {}

  /** Answers within `READY_TIMEOUT`, from a check that ended at most `READY_TTL` ago. */
  async isReady(): Promise<boolean> {
    const isFresh = performance.now() - this.#probedAt < READY_TTL;
    if (this.#result === undefined || !this.#isProbing && !isFresh) this.#result = this.#check();
    return await this.#result;
  }

  async #check(): Promise<boolean> {
    this.#isProbing = true;
    const timeout = AbortSignal.timeout(READY_TIMEOUT);
    const probing = this.probe(timeout).finally(() => {
      this.#isProbing = false;
      this.#probedAt = performance.now();
    });
    try {
      await deadline(probing, READY_TIMEOUT);
      return true;
    } catch {
      // The reason is reported where the store is used.
      probing.catch(() => {});
      this.#result = Promise.resolve(false);
      return false;
    }
  }
}

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
