import { Random } from "../random.ts";

/** Random choices of generated requests. */
export class FuzzRandom extends Random {
  /** Returns a whole number from `min` to `max` (included). */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Returns `true` with a probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Returns one of the values, with a probability in proportion to its weight. */
  choose<T>(choices: readonly (readonly [number, T])[]): T {
    const total = choices.reduce((sum, [weight]) => sum + weight, 0);
    let rest = this.fraction() * total;
    for (const [weight, value] of choices) {
      rest -= weight;
      if (rest < 0) return value;
    }
    throw new RangeError("There is nothing to choose from");
  }
}
