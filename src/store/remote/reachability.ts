import { delay } from "@std/async/delay";
import { Semaphore } from "../../rules/concurrency.ts";
import { MINUTE, SECOND } from "../../rules/units.ts";
import { StoreUnavailable } from "../engine/errors.ts";

/** Reads of a remote store in flight. More than of an embedded one, because each waits for a network round trip. */
export const REMOTE_READS = 32;

/** How long one probe of an unreachable store may take: doubled after each timeout, up to the maximum. */
const PROBE_TIMEOUT = 5 * SECOND;
const MAX_PROBE_TIMEOUT = MINUTE;

/** Pause after a probe that failed with an error. */
const PROBE_PAUSE = SECOND;

/** Work exceeded its deadline. */
export class TimeoutExceeded extends Error {
  override readonly name = "TimeoutExceeded";
}

/**
 * Returns the result of some work if it comes in time. A later result or failure is ignored.
 *
 * Own code: `deadline` of `@std/async` keeps its timer after the work is done, so every call to the store would leave
 * one.
 *
 * @param timeout In milliseconds.
 * @param signal Ends the wait earlier, with its reason.
 * @throws {TimeoutExceeded}
 */
export async function withTimeout<T>(
  timeout: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  work.catch(() => {});
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutExceeded("No answer in time")), timeout);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/**
 * Sets deadlines for all calls to a store behind a network, because Deno KV's client waits and retries without end.
 *
 * A call that exceeds its deadline stays in that client. Therefore, while the store does not answer, further calls fail
 * at once, which bounds memory by the calls that were in flight. One probe at a time waits until the store is back.
 */
export class Reachability {
  readonly #reads = new Semaphore(REMOTE_READS);
  readonly #closing = new AbortController();
  readonly #onBack = new Set<() => void>();
  #isAway = false;

  /** @param probe A read of the store. */
  constructor(private readonly probe: () => Promise<unknown>) {}

  /** Whether the store has not answered since a call exceeded its deadline. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /**
   * Runs a call with a deadline, in milliseconds.
   *
   * @throws {StoreUnavailable} if the call takes longer, the store is away, or its answer makes no sense.
   */
  async within<T>(timeout: number, call: () => Promise<T>): Promise<T> {
    if (this.#isAway) throw new StoreUnavailable("The store does not answer");
    try {
      return await withTimeout(timeout, call());
    } catch (error) {
      if (error instanceof TimeoutExceeded) this.#waitUntilBack();
      throw isDefect(error) ? error : unavailable(error);
    }
  }

  /** Runs a read with a deadline; at most `REMOTE_READS` run at once. */
  read<T>(timeout: number, call: () => Promise<T>): Promise<T> {
    return this.#reads.run(() => this.within(timeout, call));
  }

  /** Registers a listener for every return of a store that was away. */
  onBack(listener: () => void): void {
    this.#onBack.add(listener);
  }

  /** Stops probing. */
  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  /** Probes until the store answers. A probe without an answer may have been lost, so it is repeated. */
  async #waitUntilBack(): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    const { signal } = this.#closing;
    let timeout = PROBE_TIMEOUT;
    while (this.#isAway && !signal.aborted) {
      try {
        await withTimeout(timeout, this.probe(), signal);
        this.#isAway = false;
        for (const listener of this.#onBack) listener();
      } catch (error) {
        if (error instanceof TimeoutExceeded) timeout = Math.min(2 * timeout, MAX_PROBE_TIMEOUT);
        else await delay(PROBE_PAUSE, { signal }).catch(() => {});
      }
    }
  }
}

/** Returns whether an error is a defect of kvdrive, such as an operation over a limit. */
function isDefect(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError ||
    (error instanceof Error && error.message.includes("(status=400"));
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable("The store cannot be reached", { cause });
}
