import type { Remark, TransferEvents } from "../client/transfer_report.ts";
import type { Environment } from "./given_values.ts";
import { printError } from "./output.ts";
import { openProgressBar, type ProgressBar } from "./progress_bar.ts";
import { visible } from "./visible.ts";

/** What a person sees of a transfer while it runs: a bar, and a line for each thing that is to be said. */
export class TransferView implements Disposable {
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
    this.bar.aside(() => printError(`kvdrive: ${visible(sentence.replaceAll(/\s+/g, " "))}\n`));
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
        this.bar.aside(() => printError(`${kind}: ${visible(`${drive}:${name}: ${reason}`)}\n`));
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
