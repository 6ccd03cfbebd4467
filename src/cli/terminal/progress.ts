import { formatBytes } from "../../rules/units.ts";
import { drawOnTerminal, type Environment } from "./output.ts";
import { fitEnd, printable, textWidth } from "./text.ts";

/** Milliseconds between two draws of the line: the least, and the most while nothing changes. */
const DRAW_INTERVAL = 100;
const IDLE_INTERVAL = 1000;

/** Both start at the beginning of the line. The cursor waits there, so that a terminal that rewraps keeps it in place. */
const CLEAR_LINE = "\r\x1b[K";
const CLEAR_BELOW = "\r\x1b[J";

interface Progress {
  /** The current item; control characters are escaped. */
  label: string;
  /** Bytes. */
  done: number;
  /** Bytes; absent if unknown. */
  total?: number;
}

/** The terminal that the line is drawn on. */
export interface Screen {
  /** Writes synchronously. */
  write(text: string): void;
  columns(): number;
  /** Calls `listener` when the size changes, until the returned function is called. Used from the first draw on. */
  onResize(listener: () => void): () => void;
}

/** The time in milliseconds, and a timer that runs until the returned function is called. */
export interface ProgressClock {
  now(): number;
  every(milliseconds: number, tick: () => void): () => void;
}

/**
 * A progress bar in one line of a terminal, removed on disposal. Without a screen it does nothing.
 *
 * @example
 * using bar = openProgressBar(env);
 * bar.show({ label: "cat.jpg", done: 512, total: 2048 });
 * bar.printAbove(() => printError("A line that stays\n"));
 */
export class ProgressBar implements Disposable {
  #stop: (() => void)[] | undefined;
  #isOver = false;
  readonly #rate = new RateMeter();
  #progress: Progress | undefined;
  #drawn: string | undefined;
  #drawnAt = -Infinity;

  constructor(
    private readonly screen: Screen | undefined,
    private readonly clock: ProgressClock,
  ) {}

  get isDrawn(): boolean {
    return this.screen !== undefined;
  }

  show(progress: Progress): void {
    const screen = this.screen;
    if (screen === undefined || this.#isOver) return;
    // Not earlier: a question may come first, and a signal must end the program then.
    this.#stop ??= [
      this.clock.every(DRAW_INTERVAL, () => this.#tick()),
      screen.onResize(() => this.#resize()),
    ];
    this.#progress = progress;
    this.#rate.note(this.clock.now(), progress.done);
    if (this.clock.now() - this.#drawnAt >= DRAW_INTERVAL) this.#draw();
  }

  /** Removes the line while something else is printed, to either stream, and draws it again. */
  printAbove(work: () => void): void {
    this.clear();
    try {
      work();
    } finally {
      this.#draw();
    }
  }

  /** Removes the line until the next `show`. */
  clear(): void {
    if (this.#drawn !== undefined) this.screen?.write(CLEAR_BELOW);
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
    const isDue = this.clock.now() - this.#drawnAt >= interval;
    if (isDue || this.#line() !== this.#drawn) this.#draw();
  }

  #resize(): void {
    if (this.#drawn === undefined) return;
    this.clear();
    this.#draw();
  }

  #line(): string | undefined {
    const screen = this.screen;
    if (this.#progress === undefined || screen === undefined) return undefined;
    const rate = this.#rate.at(this.clock.now());
    // A character in the last column moves the cursor to the next line on some terminals.
    return progressLine(this.#progress, rate, screen.columns() - 1);
  }

  #draw(): void {
    const line = this.#line();
    if (line === undefined) return;
    this.#drawnAt = this.clock.now();
    if (line === this.#drawn) return;
    this.#drawn = line;
    this.screen?.write(`${CLEAR_LINE}${line}\r`);
  }
}

/** The width if the terminal does not report one. */
const USUAL_COLUMNS = 80;

/** Signals that end a program, and the exit status: 128 + the signal's number. */
const SIGNAL_STATUS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

const clock: ProgressClock = {
  now: () => performance.now(),
  every(milliseconds, tick) {
    const timer = setInterval(tick, milliseconds);
    // The task keeps the program alive, not its progress bar.
    Deno.unrefTimer(timer);
    return () => clearInterval(timer);
  },
};

/**
 * Opens a progress bar on standard error, which does nothing unless that is a capable terminal. A signal that ends the
 * program removes the line first.
 *
 * @param onExit Called before a signal ends the program, after the line was removed.
 */
export function openProgressBar(env: Environment, onExit: () => void = () => {}): ProgressBar {
  const isDrawn = Deno.stderr.isTerminal() && env["TERM"] !== "dumb";
  if (!isDrawn) return new ProgressBar(undefined, clock);
  const bar = new ProgressBar({
    write: drawOnTerminal,
    columns,
    onResize(listener) {
      const stopResize = onSignal("SIGWINCH", listener);
      const stopExit = onExitSignal(() => {
        bar[Symbol.dispose]();
        onExit();
      });
      return () => {
        stopResize();
        stopExit();
      };
    },
  }, clock);
  return bar;
}

function columns(): number {
  try {
    return Deno.consoleSize().columns || USUAL_COLUMNS;
  } catch {
    // None of the standard streams is a terminal.
    return USUAL_COLUMNS;
  }
}

/**
 * Calls `cleanUp` before SIGHUP, SIGINT or SIGTERM end the program, until the returned function is called.
 */
export function onExitSignal(cleanUp: () => void): () => void {
  const stops = SIGNAL_STATUS.map(([signal, status]) =>
    onSignal(signal, () => {
      cleanUp();
      Deno.exit(status);
    })
  );
  return () => stops.forEach((stop) => stop());
}

/** Listens for a signal. Of those used here, Windows has SIGINT only. */
function onSignal(signal: Deno.Signal, listener: () => void): () => void {
  if (Deno.build.os === "windows" && signal !== "SIGINT") return () => {};
  Deno.addSignalListener(signal, listener);
  return () => Deno.removeSignalListener(signal, listener);
}

/** Columns of the bar without its brackets, and the least columns of a label. */
const MAX_BAR = 30;
const MIN_BAR = 5;
const MIN_LABEL = 12;

const GAP = "  ";

/** Longer times left are not shown: the estimate would be meaningless. */
const MAX_SECONDS = 100 * 3600;

/**
 * Formats a line of at most `columns`: label, bar, share, amount, rate, time left. On a narrow terminal the facts are
 * dropped from the end, then the bar, then the label.
 *
 * @param rate Per second; `undefined` if unknown.
 */
export function progressLine(
  progress: Progress,
  rate: number | undefined,
  columns: number,
): string {
  const { done, total } = progress;
  const share = shareOf(progress);
  const left = total === undefined ? undefined : timeLeft(total - done, rate);
  const facts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}%`.padStart(4)]),
    total === undefined ? formatBytes(done) : `${formatBytes(done)} of ${formatBytes(total)}`,
    ...(rate === undefined ? [] : [`${formatBytes(rate)}/s`]),
    ...(left === undefined ? [] : [left]),
  ];
  const label = printable(progress.label);
  const minLabel = Math.min(textWidth(label), MIN_LABEL);
  while (facts.length > 1 && minLabel + widthOf(facts) > columns) facts.pop();
  const room = columns - widthOf(facts) - minLabel - GAP.length - "[]".length;
  const bar = share === undefined || room < MIN_BAR ? "" : drawBar(share, Math.min(room, MAX_BAR));
  const tail = [...(bar === "" ? [] : [bar]), ...facts];
  const rest = columns - widthOf(tail);
  return rest < 1
    ? fitEnd(tail.join(GAP).trim(), Math.max(0, columns))
    : [fitEnd(label, rest), ...tail].join(GAP);
}

/** Returns the columns of texts, each with the gap before it. */
function widthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + GAP.length + textWidth(text), 0);
}

function shareOf({ done, total }: Progress): number | undefined {
  if (total === undefined) return undefined;
  return total === 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

function drawBar(share: number, columns: number): string {
  const filled = Math.floor(share * columns);
  return `[${"#".repeat(filled)}${"-".repeat(columns - filled)}]`;
}

/** Returns "1:05 left"; `undefined` without progress. */
function timeLeft(rest: number, rate: number | undefined): string | undefined {
  if (rate === undefined || rate <= 0 || rest < 0) return undefined;
  const seconds = Math.ceil(rest / rate);
  if (seconds > MAX_SECONDS) return undefined;
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const clock = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${clock}:${two(seconds % 60)} left`;
}

/** The window of a rate, and the least distance of its samples, in milliseconds. */
const WINDOW = 10_000;
const GRAIN = 250;

interface Sample {
  time: number;
  done: number;
}

class RateMeter {
  #samples: Sample[] = [];
  #latest: Sample | undefined;

  /** Adds a sample. @param time Milliseconds. */
  note(time: number, done: number): void {
    // Less than before, as when a part is sent again: restart.
    if (done < (this.#latest?.done ?? 0)) this.#samples = [];
    this.#latest = { time, done };
    const previous = this.#samples.at(-1);
    if (previous === undefined || time - previous.time >= GRAIN) this.#samples.push(this.#latest);
    while (this.#samples.length > 1 && time - (this.#samples[1]?.time ?? 0) > WINDOW) {
      this.#samples.shift();
    }
  }

  /** Returns the rate per second; `undefined` until it is known. */
  at(time: number): number | undefined {
    const [first] = this.#samples;
    const latest = this.#latest;
    if (first === undefined || latest === undefined || time - first.time < 2 * GRAIN) {
      return undefined;
    }
    return (latest.done - first.done) / ((time - first.time) / 1000);
  }
}
