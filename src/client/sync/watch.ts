import { ClientError, Refused } from "../errors.ts";

/** Milliseconds without another change until changes are transferred, and after which that no longer counts. */
const QUIET_TIME = 500;
const MAX_DELAY = 5000;

/** Milliseconds between two passes if nothing is known to have changed: of a local source, and of one on a server. */
const LOCAL_RESCAN = 60_000;
const REMOTE_RESCAN = 10_000;

/** Milliseconds until a pass that failed is repeated. */
const RETRY_DELAY = 5000;

/** How many times as long as a pass takes is waited for the next one, if nothing is known to have changed. */
const IDLE_FACTOR = 9;

export interface WatchOptions {
  /** The folder of this machine that is the source; `undefined` if the source is on a server. */
  folder: string | undefined;
  /** Makes the target like the source. */
  pass: () => Promise<void>;
  /** Receives why a pass failed, once until another reason or a success. */
  onFailure: (error: ClientError) => void;
  /** Receives why changes are found by reading all of the folder only. */
  onNotice: (sentence: string) => void;
  /** Ends watching. */
  signal: AbortSignal;
  rescan?: number;
  retryDelay?: number;
}

/**
 * Runs a pass, and another one after each change, until it is aborted. Failures such as an outage of the server do not end
 * it.
 *
 * @throws {Refused} if the server does not accept the key.
 */
export async function watch(options: WatchOptions): Promise<void> {
  const { folder, pass, signal, retryDelay = RETRY_DELAY } = options;
  const rescan = options.rescan ?? (folder === undefined ? REMOTE_RESCAN : LOCAL_RESCAN);
  let reported = "";
  while (!signal.aborted) {
    // Changes during the pass are those of the next one.
    using changes = new ChangeWatch(folder, options.onNotice);
    let wait = retryDelay;
    const start = performance.now();
    try {
      await pass();
      reported = "";
      wait = Math.max(rescan, (performance.now() - start) * IDLE_FACTOR);
    } catch (error) {
      const isLasting = error instanceof Refused && error.status === 401;
      if (!(error instanceof ClientError) || isLasting) throw error;
      if (error.message !== reported) options.onFailure(error);
      reported = error.message;
    }
    await changes.next(wait, signal);
  }
}

/** Notices changes in a folder. */
class ChangeWatch implements Disposable {
  readonly #watcher: Deno.FsWatcher | undefined;
  #lastChange: number | undefined;
  #firstChange: number | undefined;
  #onChange: () => void = () => {};

  constructor(folder: string | undefined, onNotice: (sentence: string) => void) {
    if (folder === undefined) return;
    try {
      this.#watcher = Deno.watchFs(folder, { recursive: true });
      this.#follow(this.#watcher);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onNotice(`Cannot watch ${folder} (${reason}): it is read again every minute`);
    }
  }

  /** Waits until a change is followed by a quiet time, but not longer than `longest`. */
  async next(longest: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + longest;
    for (;;) {
      const now = performance.now();
      if (signal.aborted) return;
      const due = this.#due ?? end;
      if (now >= Math.min(due, end)) return;
      await this.#pause(Math.min(due, end) - now, signal);
    }
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }

  get #due(): number | undefined {
    if (this.#lastChange === undefined || this.#firstChange === undefined) return undefined;
    return Math.min(this.#lastChange + QUIET_TIME, this.#firstChange + MAX_DELAY);
  }

  async #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#onChange = resolve;
    signal.addEventListener("abort", this.#onChange);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", this.#onChange);
  }

  async #follow(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const { kind } of watcher) {
        // Reading the files would start another pass.
        if (kind === "access") continue;
        this.#lastChange = performance.now();
        this.#firstChange ??= this.#lastChange;
        this.#onChange();
      }
    } catch {
      // The folder is gone. The next pass says so.
    }
  }
}
