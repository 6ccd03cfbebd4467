import type { Environment } from "../../terminal/output.ts";

/** The exit status if a second signal ends the process: 128 + the signal's number. */
export const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Calls a listener with the exit status of each signal that ends the server. Returns a function that ends that. */
export function onSignals(listener: (status: number) => void): () => void {
  const stops = Object.entries(SIGNALS).filter(isSupported).map(([name, status]) => {
    const signal = name as keyof typeof SIGNALS;
    const listen = () => listener(status);
    Deno.addSignalListener(signal, listen);
    return () => Deno.removeSignalListener(signal, listen);
  });
  return () => stops.forEach((stop) => stop());
}

/** Windows has no SIGTERM. */
function isSupported([name]: [string, number]): boolean {
  return Deno.build.os !== "windows" || name === "SIGINT";
}

/** Listens for SIGTERM and SIGINT until its disposal. A second signal ends the process immediately. */
export class ShutdownSignal implements Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  readonly #stopListening: () => void;

  /**
   * @param beforeEnd Runs before a second signal ends the process; it must be short.
   * @param listen Where signals come from.
   */
  constructor(
    beforeEnd: () => Promise<void> = () => Promise.resolve(),
    listen: typeof onSignals = onSignals,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    let isFirst = true;
    this.#stopListening = listen((status) => {
      if (!isFirst) beforeEnd().finally(() => Deno.exit(status));
      isFirst = false;
      resolve();
    });
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }
}

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
