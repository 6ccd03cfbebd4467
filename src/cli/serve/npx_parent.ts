import type { Environment } from "../terminal/output.ts";

/** How often the parent process is looked at, in milliseconds. */
const LOOK_INTERVAL = 500;

/**
 * Notices that `npx` was ended. It starts commands through a shell, which does not pass signals on: without this, the
 * server would stay behind. Disposal ends the looking.
 */
export class NpxParent implements Disposable {
  /** Resolves when the shell of `npx` is gone; never where something else started the program. */
  readonly gone: Promise<void>;
  readonly #timer: ReturnType<typeof setInterval> | undefined;

  /** @param parent Returns the id of the parent process. */
  constructor(env: Environment, parent: () => number = () => Deno.ppid) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    if (env["npm_lifecycle_event"] !== "npx") return;
    const first = parent();
    this.#timer = setInterval(() => {
      if (parent() !== first) resolve();
    }, LOOK_INTERVAL);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
