import type { Remark, TransferEvents } from "../../client/transfers.ts";
import { type Environment, printError } from "./output.ts";
import { openProgressBar, type ProgressBar } from "./progress.ts";
import { printable } from "./text.ts";

/** Signals that end a program, and its exit status then: 128 and the signal's number. */
const ENDS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

/** A long piece of work: it shows how far it is, and leaves nothing behind when a signal ends it. */
export class TaskProgress implements Disposable {
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
  clear(): void {
    this.#bar.clear();
  }

  [Symbol.dispose](): void {
    this.#stops.splice(0).forEach((stop) => stop());
    this.#bar[Symbol.dispose]();
  }
}

/** What a person sees of a transfer while it runs: a bar, and a line for each thing that is to be said. */
export class TransferProgress implements Disposable {
  readonly bar: ProgressBar;
  #label = "";
  #done = 0;
  #total: number | undefined;

  constructor(env: Environment) {
    const advice = "kvdrive: Interrupted: the same command goes on where this one ended\n";
    // The bar listens for signals from the first line on that it draws.
    this.bar = openProgressBar(env, () => printError(advice));
  }

  /** Says how many bytes there are in all. */
  expect(total: number | undefined): void {
    this.#total = total;
    this.#show();
  }

  /** Prints a sentence on standard error. */
  say(sentence: string): void {
    this.bar.printAbove(() =>
      printError(`kvdrive: ${printable(sentence.replaceAll(/\s+/g, " "))}\n`)
    );
  }

  get events(): Required<TransferEvents> {
    return {
      onFile: (_drive, name) => {
        this.#label = name;
        this.#show();
      },
      onBytes: (count) => {
        this.#done += count;
        this.#show();
      },
      onRemark: (kind, { drive, name, reason }: Remark) => {
        this.bar.printAbove(() =>
          printError(`${kind}: ${printable(`${drive}:${name}: ${reason}`)}\n`)
        );
      },
    };
  }

  [Symbol.dispose](): void {
    this.bar[Symbol.dispose]();
  }

  #show(): void {
    const total = this.#total;
    this.bar.show({
      label: this.#label,
      done: this.#done,
      // What grows meanwhile has no known end.
      ...(total === undefined || total < this.#done ? {} : { total }),
      unit: "bytes",
    });
  }
}
