import type { Remark, TransferEvents } from "../../client/transfers.ts";
import { type Environment, printError, printNotice } from "./output.ts";
import { onExitSignal, openProgressBar, type ProgressBar } from "./progress.ts";
import { printable } from "./text.ts";

/** The progress of a long task on the store. A signal that ends the program cleans up first. */
export class TaskProgress implements Disposable {
  readonly #bar: ProgressBar;
  readonly #stop: () => void;

  /** @param cleanUp Called before a signal ends the program. */
  constructor(env: Environment, cleanUp: () => void) {
    this.#bar = openProgressBar(env, cleanUp);
    this.#stop = onExitSignal(() => {
      this.#bar[Symbol.dispose]();
      cleanUp();
    });
  }

  /** Updates the progress. `done` and `total` are bytes. */
  show(label: string, done: number, total: number): void {
    this.#bar.show({ label, done: Math.min(done, total), total });
  }

  /** Removes the line, before a result is printed. */
  clear(): void {
    this.#bar.clear();
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#bar[Symbol.dispose]();
  }
}

/** The progress of a transfer on standard error: a bar, and a line for each message. */
export class TransferProgress implements Disposable {
  readonly bar: ProgressBar;
  #label = "";
  #done = 0;
  #total: number | undefined;

  /** @param advice What a user does after an interruption. */
  constructor(env: Environment, advice = "run the same command again to resume") {
    this.bar = openProgressBar(env, () => printError(`kvdrive: Interrupted: ${advice}\n`));
  }

  /** Sets the total of bytes; `undefined` if unknown. */
  setTotal(total: number | undefined): void {
    this.#total = total;
    this.#show();
  }

  /** Prints a message on standard error. */
  printNotice(sentence: string): void {
    this.bar.printAbove(() => printNotice(sentence));
  }

  /** Prints a line on standard error as it is. */
  printLine(line: string): void {
    this.bar.printAbove(() => printError(line));
  }

  /** Callbacks that show the progress and the remarks of a transfer. */
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
      // A total that was exceeded was wrong: files grow while they are sent.
      ...(total === undefined || total < this.#done ? {} : { total }),
    });
  }
}
