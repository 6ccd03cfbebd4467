/** The time over which the speed is averaged, in milliseconds. */
const WINDOW = 8000;
/** The least time between two readings, and before the first figure, in milliseconds. */
const STEP = 100;
const START = 500;

/** Measures the speed of a transfer over the last seconds. */
export class Speedometer {
  #readings: { time: number; bytes: number }[] = [];

  /** @param now Milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** @param bytes Transferred so far. */
  read(bytes: number): void {
    const time = this.now();
    const last = this.#readings.at(-1);
    // A part that is sent again reduces the count: the measurement starts again.
    if (last !== undefined && bytes < last.bytes) this.#readings = [];
    else if (last !== undefined && time - last.time < STEP) return;
    this.#readings.push({ time, bytes });
    while ((this.#readings[1]?.time ?? time) < time - WINDOW) this.#readings.shift();
  }

  /** Starts again after a pause. */
  reset(): void {
    this.#readings = [];
  }

  /** Bytes a second; `undefined` until there are enough readings. That of a stalled transfer decreases. */
  get speed(): number | undefined {
    const [first] = this.#readings;
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const elapsed = this.now() - first.time;
    return elapsed < START ? undefined : (last.bytes - first.bytes) / elapsed * 1000;
  }
}

/** Returns a duration such as "40 s", "3 min" or "2 h 5 min". @param seconds Rounded up to whole ones. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}
