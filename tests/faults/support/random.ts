/** A seeded pseudo-random generator (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1 (excluded). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from 0 to `end` (excluded). */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("There is nothing to choose from");
    return items[this.below(items.length)] as T;
  }

  /** Returns one of the keys, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights) as [K, number][];
    let rest = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return this.pick(entries)[0];
  }
}

/** Returns the seed of this run, and prints it, as it is needed to repeat the run. */
export function announceSeed(): number {
  const seed = chooseSeed();
  // deno-lint-ignore no-console -- a failed run can only be repeated with it
  console.log(`KVDRIVE_SEED=${seed}`);
  return seed;
}

/** The seed unless another is asked for: whether a change passes its tests is no matter of luck. */
const USUAL_SEED = 1;

/** Returns `KVDRIVE_SEED`. If it is not set, the long tests search with a new seed; others use the same in each run. */
export function chooseSeed(): number {
  const given = Deno.env.get("KVDRIVE_SEED");
  if (given === undefined) {
    return isFull() ? crypto.getRandomValues(new Uint32Array(1))[0] ?? USUAL_SEED : USUAL_SEED;
  }
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new RangeError(`KVDRIVE_SEED is not a number: ${given}`);
  return seed;
}

/** Whether `KVDRIVE_FAULTS=full` asks for the long tests. */
export function isFull(): boolean {
  return Deno.env.get("KVDRIVE_FAULTS") === "full";
}
