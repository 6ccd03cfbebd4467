/** Random choices that a seed repeats (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1 (excluded). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `end` (excluded). */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("There is nothing to choose from");
    return items[this.below(items.length)] as T;
  }

  /** One of the keys, each as often as its weight says. */
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

/** The seed of this run, which is printed, as it is needed to repeat it. */
export function announceSeed(): number {
  const seed = chooseSeed();
  // deno-lint-ignore no-console -- whoever sees the run fail has nothing else to go by
  console.log(`KVDRIVE_SEED=${seed}`);
  return seed;
}

/** `KVDRIVE_SEED` repeats a run; otherwise each run has a seed of its own. */
function chooseSeed(): number {
  const given = Deno.env.get("KVDRIVE_SEED");
  if (given === undefined) return crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new RangeError(`KVDRIVE_SEED is not a number: ${given}`);
  return seed;
}

/** Whether the faults are to be tested at length. */
export function isFull(): boolean {
  return Deno.env.get("KVDRIVE_FAULTS") === "full";
}
