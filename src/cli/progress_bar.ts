import type { Environment } from "./given_values.ts";
import { printError } from "./output.ts";
import { progressLine } from "./progress_line.ts";
import { RateMeter } from "./rate_meter.ts";

/** How often the line is drawn at the most, in milliseconds, and how often while nothing changes. */
const DRAW_INTERVAL = 100;
const IDLE_INTERVAL = 1000;

/** From the beginning of the line, where the cursor waits: a terminal that wraps the line anew leaves it there. */
const CLEAR_LINE = "\r\x1b[K";
const CLEAR_BELOW = "\r\x1b[J";

/** How far a piece of work is. */
export interface Progress {
  /** What is worked on; any text, as it is made visible. */
  label: string;
  done: number;
  /** Absent where nobody knows yet. */
  total?: number;
  /** What is counted: bytes, or things by their name in the plural, such as "files". */
  unit: string;
}

/** A terminal that a line is drawn on. */
export interface Screen {
  /** Writes at once. */
  write(text: string): void;
  columns(): number;
  /** Calls back when the size changes, until what it gives is called. It is called when the first line is drawn. */
  onResize(listener: () => void): () => void;
}

/** What time it is, in milliseconds, and a call every so often until what it gives is called. */
export interface ProgressClock {
  now(): number;
  every(milliseconds: number, tick: () => void): () => void;
}

/**
 * A line on a terminal that shows how far a piece of work is. It is gone when it is disposed of. Without a screen it
 * shows nothing.
 *
 * @example
 * using bar = openProgressBar(env);
 * bar.show({ label: "cat.jpg", done: 512, total: 2048, unit: "bytes" });
 * bar.aside(() => printError("A line that stays\n"));
 */
export class ProgressBar implements Disposable {
  readonly #screen: Screen | undefined;
  readonly #clock: ProgressClock;
  #stop: (() => void)[] | undefined;
  #isOver = false;
  #rate = new RateMeter();
  #progress: Progress | undefined;
  #drawn: string | undefined;
  #drawnAt = -Infinity;

  constructor(screen: Screen | undefined, clock: ProgressClock) {
    this.#screen = screen;
    this.#clock = clock;
  }

  /** Whether there is a screen to draw on. */
  get isDrawn(): boolean {
    return this.#screen !== undefined;
  }

  /** Tells how far the work is. Another unit begins another rate. */
  show(progress: Progress): void {
    const screen = this.#screen;
    if (screen === undefined || this.#isOver) return;
    // Not before: somebody may be asked something first, and end the program then.
    this.#stop ??= [
      this.#clock.every(DRAW_INTERVAL, () => this.#tick()),
      screen.onResize(() => this.#resize()),
    ];
    if (progress.unit !== this.#progress?.unit) this.#rate = new RateMeter();
    this.#progress = progress;
    this.#rate.note(this.#clock.now(), progress.done);
    if (this.#clock.now() - this.#drawnAt >= DRAW_INTERVAL) this.#draw();
  }

  /** Takes the line away while something else is printed, to either stream, and draws it again. */
  aside(work: () => void): void {
    this.clear();
    try {
      work();
    } finally {
      this.#draw();
    }
  }

  /** Takes the line away until the next `show`. */
  clear(): void {
    if (this.#drawn !== undefined) this.#screen?.write(CLEAR_BELOW);
    this.#drawn = undefined;
    this.#drawnAt = -Infinity;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stop?.splice(0).forEach((stop) => stop());
    this.clear();
    this.#progress = undefined;
  }

  #tick(): void {
    const interval = this.#drawn === undefined ? 0 : IDLE_INTERVAL;
    const isDue = this.#clock.now() - this.#drawnAt >= interval;
    if (isDue || this.#line() !== this.#drawn) this.#draw();
  }

  #resize(): void {
    if (this.#drawn === undefined) return;
    this.clear();
    this.#draw();
  }

  #line(): string | undefined {
    const screen = this.#screen;
    if (this.#progress === undefined || screen === undefined) return undefined;
    const rate = this.#rate.at(this.#clock.now());
    // A character in the last column would put the cursor into the next line of some terminals.
    return progressLine(this.#progress, rate, screen.columns() - 1);
  }

  #draw(): void {
    const line = this.#line();
    if (line === undefined) return;
    this.#drawnAt = this.#clock.now();
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.#screen?.write(`${CLEAR_LINE}${line}\r`);
  }
}

/** Where a terminal does not tell its width. */
const USUAL_COLUMNS = 80;

/** Signals that people and systems end a program with, and its exit status then: 128 and the signal's number. */
const ENDS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

const clock: ProgressClock = {
  now: () => performance.now(),
  every(milliseconds, tick) {
    const timer = setInterval(tick, milliseconds);
    // The work keeps the program alive, not the line about it.
    Deno.unrefTimer(timer);
    return () => clearInterval(timer);
  },
};

/**
 * A bar on standard error where that is a terminal that can draw one, and else one that shows nothing. A signal that
 * ends the program takes the line away first.
 *
 * @param onEnd Called before such an end, when the line is gone: for a sentence about what is left to do.
 */
export function openProgressBar(env: Environment, onEnd: () => void = () => {}): ProgressBar {
  const isDrawn = Deno.stderr.isTerminal() && env["TERM"] !== "dumb";
  if (!isDrawn) return new ProgressBar(undefined, clock);
  const bar = new ProgressBar({
    write: printError,
    columns,
    onResize(listener) {
      const stops = [
        onSignal("SIGWINCH", listener),
        ...ENDS.map(([signal, status]) => {
          return onSignal(signal, () => {
            bar[Symbol.dispose]();
            onEnd();
            Deno.exit(status);
          });
        }),
      ];
      return () => stops.forEach((stop) => stop());
    },
  }, clock);
  return bar;
}

function columns(): number {
  try {
    return Deno.consoleSize().columns || USUAL_COLUMNS;
  } catch {
    // None of the standard streams tells it.
    return USUAL_COLUMNS;
  }
}

/** Windows knows one of these signals only. */
function onSignal(signal: Deno.Signal, listener: () => void): () => void {
  if (Deno.build.os === "windows" && signal !== "SIGINT") return () => {};
  Deno.addSignalListener(signal, listener);
  return () => Deno.removeSignalListener(signal, listener);
}
