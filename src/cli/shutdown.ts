/** Exit statuses of programs that a signal ended: 128 and the signal's number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Windows has no SIGTERM. */
function isKnown([name]: [string, number]): boolean {
  return Deno.build.os !== "windows" || name === "SIGINT";
}

/** Listens for SIGTERM and SIGINT from the call on until it is disposed of. A second signal ends the process at once. */
export class ShutdownSignal implements Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  readonly #stopListening: (() => void)[];

  /** @param beforeEnd Done before a second signal ends the process; it must not take long. */
  constructor(beforeEnd: () => Promise<void> = () => Promise.resolve()) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    let isFirst = true;
    this.#stopListening = Object.entries(SIGNALS).filter(isKnown).map(([name, status]) => {
      const listener = () => {
        if (!isFirst) beforeEnd().finally(() => Deno.exit(status));
        isFirst = false;
        resolve();
      };
      const signal = name as keyof typeof SIGNALS;
      Deno.addSignalListener(signal, listener);
      return () => Deno.removeSignalListener(signal, listener);
    });
  }

  [Symbol.dispose](): void {
    this.#stopListening.forEach((stop) => stop());
  }
}
