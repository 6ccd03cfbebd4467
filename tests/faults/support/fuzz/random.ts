/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to 1, 1 excluded. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `count`, `count` excluded. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const index = this.below(from.length);
    // An index in range gives what the list holds.
    return from[index] as T;
  }

  /** One of the values, in proportion to their weights. */
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

/** The seed that `KVDRIVE_SEED` names, else a new one. */
export function chooseSeed(): number {
  const given = Deno.env.get("KVDRIVE_SEED") ?? "";
  return given === "" ? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0 : Number(given);
}
