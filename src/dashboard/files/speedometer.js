import { SPEED_WINDOW } from "./limits.js";

/** Measures transfer speed, averaged over the last seconds. */
export class Speedometer {
  /** @type {{time: number, bytes: number}[]} */
  #readings = [];
  #now;

  /** @param {() => number} [now] milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param {number} bytes transferred so far */
  read(bytes) {
    const time = this.#now();
    const last = this.#readings.at(-1);
    // A part that is sent again reduces the count: restart the measurement.
    if (last !== undefined && bytes < last.bytes) this.#readings = [];
    if (last !== undefined && time - last.time < 100) return;
    this.#readings.push({ time, bytes });
    while ((this.#readings[1]?.time ?? time) < time - SPEED_WINDOW) this.#readings.shift();
  }

  /** Restarts the measurement after a pause. */
  reset() {
    this.#readings = [];
  }

  /** Bytes per second; `undefined` until there are enough samples. */
  get speed() {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined) return undefined;
    // The speed of a stalled transfer decreases.
    const elapsed = this.#now() - first.time;
    return elapsed < 500 ? undefined : (last.bytes - first.bytes) / elapsed * 1000;
  }

  /**
   * Estimated milliseconds for a number of bytes; `undefined` if unknown.
   *
   * @param {number} bytes
   */
  remaining(bytes) {
    const speed = this.speed;
    return speed === undefined || speed <= 0 ? undefined : bytes / speed * 1000;
  }
}
