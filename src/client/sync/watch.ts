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
}

/**
 * Runs a pass, and another one after each change. Failures such as an outage of the server do not end it.
 *
 * @throws {Refused} if the server does not accept the key.
 */
export async function watch(
  { folder, pass, onFailure, onNotice }: WatchOptions,
): Promise<never> {
  const rescan = folder === undefined ? REMOTE_RESCAN : LOCAL_RESCAN;
  let reported = "";
  for (;;) {
    // Changes during the pass are those of the next one.
    using changes = new ChangeWatch(folder, onNotice);
    let wait = RETRY_DELAY;
    const start = performance.now();
    try {
      await pass();
      reported = "";
      wait = Math.max(rescan, (performance.now() - start) * IDLE_FACTOR);
    } catch (error) {
      const isLasting = error instanceof Refused && error.status === 401;
      if (!(error instanceof ClientError) || isLasting) throw error;
      if (error.message !== reported) onFailure(error);
      reported = error.message;
    }
    await changes.next(wait);
  }
}

class ChangeWatch implements Disposable {
  readonly #watcher: Deno.FsWatcher | undefined;
  #lastChange = Infinity;
  #firstChange = Infinity;
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
  async next(longest: number): Promise<void> {
    const end = performance.now() + longest;
    for (;;) {
      const left = Math.min(this.#due, end) - performance.now();
      if (left <= 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, left);
      this.#onChange = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }

  /** When the changes so far are to be transferred. */
  get #due(): number {
    return Math.min(this.#lastChange + QUIET_TIME, this.#firstChange + MAX_DELAY);
  }

  async #follow(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const { kind } of watcher) {
        // Reading the files would start another pass.
        if (kind === "access") continue;
        this.#lastChange = performance.now();
        this.#firstChange = Math.min(this.#firstChange, this.#lastChange);
        this.#onChange();
      }
    } catch {
      // The folder is gone. The next pass says so.
    }
  }
}
