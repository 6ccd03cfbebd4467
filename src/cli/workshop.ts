import type { Environment } from "./given_values.ts";
import { openProgressBar, type ProgressBar } from "./progress_bar.ts";

/** Signals that end a program, and its exit status then: 128 and the signal's number. */
const ENDS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

/** A long piece of work: it shows how far it is, and leaves nothing behind when a signal ends it. */
export class Workshop implements Disposable {
  readonly #bar: ProgressBar;
  readonly #stops: (() => void)[];

  /** @param cleanUp Called before a signal ends the program. */
  constructor(env: Environment, cleanUp: () => void) {
    // First, as it has to take its line away.
    this.#bar = openProgressBar(env, cleanUp);
    const known = Deno.build.os === "windows" ? ENDS.slice(1, 2) : ENDS;
    this.#stops = known.map(([signal, status]) => {
      const listener = (): void => {
        cleanUp();
        Deno.exit(status);
      };
      Deno.addSignalListener(signal, listener);
      return () => Deno.removeSignalListener(signal, listener);
    });
  }

  /** Tells how far it is, in bytes. */
  show(label: string, done: number, total: number): void {
    this.#bar.show({ label, done: Math.min(done, total), total, unit: "bytes" });
  }

  /** Takes the line away: an answer follows. */
  done(): void {
    this.#bar.clear();
  }

  [Symbol.dispose](): void {
    this.#stops.splice(0).forEach((stop) => stop());
    this.#bar[Symbol.dispose]();
  }
}
