import { Semaphore } from "../../rules/concurrency.ts";
import { MINUTE, SECOND } from "../../rules/units.ts";
import { StoreUnavailable } from "../engine/errors.ts";

export const REMOTE_READS = 32;

/**
 * How long a question whether the store is back is left unanswered until it is asked anew, twice as long each time, and
 * the pause after one that failed.
 */
const REMOTE_PROBE_TIME = 5 * SECOND;

const REMOTE_MAX_PROBE_TIME = MINUTE;

const REMOTE_PROBE_PAUSE = SECOND;

/** What of a handle reaches the store. */
export type KvMethods = Pick<Deno.Kv, "get" | "getMany" | "list" | "atomic">;

/** Something took longer than it may. */
export class TimeoutExceeded extends Error {
  override readonly name = "Overdue";
}

/**
 * What the work gives, if that is within so many milliseconds.
 *
 * @param end Ends the waiting earlier.
 * @throws {TimeoutExceeded} otherwise; what comes of the work later concerns nobody.
 */
export async function withTimeout<T>(
  time: number,
  work: Promise<T>,
  end?: Promise<void>,
): Promise<T> {
  work.catch(() => {});
  const overdue = Promise.withResolvers<never>();
  const timer = setTimeout(() => overdue.reject(new TimeoutExceeded("No answer in time")), time);
  end?.then(() => overdue.reject(new TimeoutExceeded("Nobody waits any more")));
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Puts a deadline on everything that is asked of a store behind a network, whose client by itself waits and tries again
 * without end. What passed its deadline stays with that client, so as long as the store does not answer nothing more is
 * asked of it: that fails at once, and memory is bounded by what was on its way. One question whether the store is back
 * waits meanwhile.
 */
export class Reachability {
  readonly #probe: () => Promise<unknown>;
  readonly #reads = new Semaphore(REMOTE_READS);
  readonly #closed = Promise.withResolvers<void>();
  readonly #onBack = new Set<() => void>();
  #isAway = false;
  #isClosed = false;

  /** @param probe A read of the store. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** Whether the store answered when it was last asked. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /**
   * Runs some work for at most so many milliseconds.
   *
   * @throws {StoreUnavailable} if it takes longer, if the store does not answer anyway, or its answer makes no sense.
   */
  async within<T>(time: number, work: () => Promise<T>): Promise<T> {
    if (this.#isAway) throw new StoreUnavailable("The store does not answer");
    try {
      return await withTimeout(time, work());
    } catch (error) {
      if (error instanceof TimeoutExceeded) this.#wait();
      throw isOurs(error) ? error : unavailable(error);
    }
  }

  /** The same for a read, few of which run at once. */
  read<T>(time: number, work: () => Promise<T>): Promise<T> {
    return this.#reads.run(() => this.within(time, work));
  }

  /** Has something done whenever the store answers again after something passed its deadline. */
  onBack(listener: () => void): void {
    this.#onBack.add(listener);
  }

  /** Ends the waiting for a store that is away. */
  close(): void {
    this.#isClosed = true;
    this.#closed.resolve();
  }

  /** Until the store answers. A question that nobody answers for long may have been lost, and is asked anew. */
  async #wait(): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    let time = REMOTE_PROBE_TIME;
    while (this.#isAway && !this.#isClosed) {
      try {
        await withTimeout(time, this.#probe(), this.#closed.promise);
        this.#isAway = false;
        for (const listener of this.#onBack) listener();
      } catch (error) {
        if (error instanceof TimeoutExceeded) time = Math.min(2 * time, REMOTE_MAX_PROBE_TIME);
        else await pause(REMOTE_PROBE_PAUSE, this.#closed.promise);
      }
    }
  }
}

async function pause(time: number, end: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, time);
  await Promise.race([over.promise, end]);
  clearTimeout(timer);
}

/** What is a defect of ours: an operation over a limit. A handle that was closed was one that led nowhere. */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError ||
    (error instanceof Error && error.message.includes("(status=400"));
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable("The store cannot be reached", { cause });
}
