import { SPEED_WINDOW } from "./limits.js";

/** Measures how quickly a number of bytes grows, as an average over the last seconds. */
export class Speedometer {
  /** @type {{time: number, bytes: number}[]} */
  #readings = [];
  #now;

  /** @param {() => number} [now] milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param {number} bytes that have gone over so far */
  read(bytes) {
    const time = this.#now();
    const last = this.#readings.at(-1);
    // A part that is sent anew takes back what it had counted: the measuring begins again.
    if (last !== undefined && bytes < last.bytes) this.#readings = [];
    if (last !== undefined && time - last.time < 100) return;
    this.#readings.push({ time, bytes });
    while ((this.#readings[1]?.time ?? time) < time - SPEED_WINDOW) this.#readings.shift();
  }

  /** Forgets what was measured: a pause is no slowness. */
  reset() {
    this.#readings = [];
  }

  /** Bytes a second; nothing until there is enough to tell. */
  get speed() {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined) return undefined;
    // A transfer that has stopped becomes slower while nothing is read.
    const elapsed = this.#now() - first.time;
    return elapsed < 500 ? undefined : (last.bytes - first.bytes) / elapsed * 1000;
  }

  /**
   * Milliseconds until so many more bytes have gone over; nothing where that cannot be told.
   *
   * @param {number} bytes
   */
  remaining(bytes) {
    const speed = this.speed;
    return speed === undefined || speed <= 0 ? undefined : bytes / speed * 1000;
  }
}
