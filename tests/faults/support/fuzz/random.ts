/** A seeded pseudo-random generator (mulberry32). */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** Returns a number from 0 to 1 (excluded). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from 0 to `count` (excluded). */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns a whole number from `min` to `max` (included). */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const index = this.below(from.length);
    // The index is in range.
    return from[index] as T;
  }

  /** Returns one of the values, with a probability in proportion to its weight. */
  weighted<T>(choices: readonly (readonly [number, T])[]): T {
    const total = choices.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [weight, value] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    throw new RangeError("There is nothing to choose from");
  }
}

/** Returns `KVDRIVE_SEED`, or a new seed if it is not set. */
export function chooseSeed(): number {
  const given = Deno.env.get("KVDRIVE_SEED") ?? "";
  return given === "" ? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 : Number(given);
}
