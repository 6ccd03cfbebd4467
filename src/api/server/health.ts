import { deadline } from "@std/async/deadline";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed } from "../../openapi/schemas.ts";
import { publicEndpoint } from "../endpoint.ts";

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
