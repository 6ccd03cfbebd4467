import { deadline } from "@std/async/deadline";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import { SECOND } from "../../rules/units.ts";
import type { Deps, RoutedRequest } from "../router.ts";

/** "503 … when the store does not answer within 1 s", and how long one look at it is believed. */
const READY_TIMEOUT = SECOND;

const READY_KEPT = SECOND;

/** `GET /healthz`: 200 for as long as the process answers at all. It asks nobody. */
export function showHealth(): Promise<Response> {
  return Promise.resolve(json(200, { status: "ok" }));
}

/** `GET /readyz`: 200 where requests can be answered, 503 where not: at shutdown, or while the store hangs. */
export async function showReadiness(
  _incoming: RoutedRequest,
  { readiness, isDraining }: Deps,
): Promise<Response> {
  if (isDraining()) throw errors.shuttingDown();
  if (!await readiness.isReady()) throw errors.storeUnavailable(undefined);
  return json(200, { status: "ready" });
}

/**
 * Whether the store can be worked with. However many ask, one look at it is on its way at a time: while a store hangs,
 * everybody is told so at once, and nothing piles up.
 */
export class Readiness {
  readonly #probe: (signal: AbortSignal) => Promise<void>;
  #answer: Promise<boolean> | undefined;
  #isLooking = false;
  #lookedAt = -Infinity;

  /** @param probe Works on the store; it throws where that failed, and should end with the signal. */
  constructor(probe: (signal: AbortSignal) => Promise<void>) {
    this.#probe = probe;
  }

  /** Gives an answer within `READY_TIMEOUT`, one that is at most `READY_KEPT` old. */
  async isReady(): Promise<boolean> {
    const isKept = performance.now() - this.#lookedAt < READY_KEPT;
    if (this.#answer === undefined || !this.#isLooking && !isKept) this.#answer = this.#look();
    return await this.#answer;
  }

  async #look(): Promise<boolean> {
    this.#isLooking = true;
    const timeout = AbortSignal.timeout(READY_TIMEOUT);
    const probing = this.#probe(timeout).finally(() => {
      this.#isLooking = false;
      this.#lookedAt = performance.now();
    });
    try {
      await deadline(probing, READY_TIMEOUT);
      return true;
    } catch {
      // The store does not answer in time, or answers that it cannot. Whoever works with it is told why.
      probing.catch(() => {});
      this.#answer = Promise.resolve(false);
      return false;
    }
  }
}
