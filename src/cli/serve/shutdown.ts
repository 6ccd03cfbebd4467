import type { RunningUploads } from "../../http/upload_slots.ts";

/** The exit status if a second signal ends the process: 128 + the signal's number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Windows has no SIGTERM. */
function isSupported([name]: [string, number]): boolean {
  return Deno.build.os !== "windows" || name === "SIGINT";
}

/** Listens for SIGTERM and SIGINT until its disposal. A second signal ends the process immediately. */
export class ShutdownSignal implements Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
  readonly #stopListening: (() => void)[];

  /** @param beforeEnd Runs before a second signal ends the process; it must be short. */
  constructor(beforeEnd: () => Promise<void> = () => Promise.resolve()) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.first = promise;
    let isFirst = true;
    this.#stopListening = Object.entries(SIGNALS).filter(isSupported).map(([name, status]) => {
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

/** Shuts a server of the runtime down once uploads have ended, as its shutdown aborts request bodies. */
export async function drain(server: Deno.HttpServer, running: RunningUploads): Promise<void> {
  await running.whenIdle();
  await server.shutdown();
}

/** Ignores a timeout: the end of the process aborts what is still running. */
export function ignoreTimeout(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
}
