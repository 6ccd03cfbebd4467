import { type Environment, printError } from "./output.ts";
import { fitEnd, formatBytes, printable, textWidth } from "./text.ts";

/** Columns of the bar itself, without its brackets, and of a label that is still worth showing. */
const MAX_BAR = 30;
const MIN_BAR = 5;
const MIN_LABEL = 12;

const GAP = "  ";

/** A longer time is not told, as nobody knows it. */
const MAX_SECONDS = 100 * 3600;

/**
 * One line that takes at most so many columns: label, bar, share, amount, rate, time left. Where there is less room,
 * the last of them go first, then the bar, then the label.
 *
 * @param rate How much a second, if that is known.
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
    amount(progress),
    ...(rate === undefined ? [] : [`${amountOf(rate, progress.unit)}/s`]),
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

/** Each with the gap before it. */
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

function amount({ done, total, unit }: Progress): string {
  if (unit === "bytes") {
    return total === undefined
      ? formatBytes(done)
      : `${formatBytes(done)} of ${formatBytes(total)}`;
  }
  return total === undefined ? `${done} ${unit}` : `${done} of ${total} ${unit}`;
}

function amountOf(rate: number, unit: string): string {
  return unit === "bytes" ? formatBytes(rate) : `${rate.toFixed(rate < 10 ? 1 : 0)} ${unit}`;
}

/** "1:05 left"; nothing where it stands still. */
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

/** The time that a rate is taken over, in milliseconds, and the distance of the points that it is taken from. */
const WINDOW = 10_000;
const GRAIN = 250;

interface Sample {
  time: number;
  done: number;
}

/** How fast something goes, over the last seconds. */
class RateMeter {
  #samples: Sample[] = [];
  #latest: Sample | undefined;

  /** Tells how much is done at a time in milliseconds. */
  note(time: number, done: number): void {
    // What goes back, as a part that is sent again, begins anew.
    if (done < (this.#latest?.done ?? 0)) this.#samples = [];
    this.#latest = { time, done };
    const previous = this.#samples.at(-1);
    if (previous === undefined || time - previous.time >= GRAIN) this.#samples.push(this.#latest);
    while (this.#samples.length > 1 && time - (this.#samples[1]?.time ?? 0) > WINDOW) {
      this.#samples.shift();
    }
  }

  /** How much a second; `undefined` until that can be said. */
  at(time: number): number | undefined {
    const [first] = this.#samples;
    const latest = this.#latest;
    if (first === undefined || latest === undefined || time - first.time < 2 * GRAIN) {
      return undefined;
    }
    return (latest.done - first.done) / ((time - first.time) / 1000);
  }
}

/** How often the line is drawn at the most, in milliseconds, and how often while nothing changes. */
const DRAW_INTERVAL = 100;
const IDLE_INTERVAL = 1000;

/** From the beginning of the line, where the cursor waits: a terminal that wraps the line anew leaves it there. */
const CLEAR_LINE = "\r\x1b[K";
const CLEAR_BELOW = "\r\x1b[J";

/** How far a piece of work is. */
interface Progress {
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
  printAbove(work: () => void): void {
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
const SIGNAL_STATUS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

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
        ...SIGNAL_STATUS.map(([signal, status]) => {
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
