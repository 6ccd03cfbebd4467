/** The time that a rate is taken over, in milliseconds, and the distance of the points that it is taken from. */
const WINDOW = 10_000;
const GRAIN = 250;

interface Sample {
  time: number;
  done: number;
}

/** How fast something goes, over the last seconds. */
export class RateMeter {
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
