import { MAX_READ_BATCH, MIN_READ_BATCH, READ_BUDGET } from "../drive/limits.ts";

/** Who reads which version in this process, so that its bytes stay until the last reader has finished. */
export class Readers {
  readonly #counts = new Map<string, number>();
  #total = 0;

  /** Keeps a version's bytes until the function that it gives is called. */
  hold(version: string): () => void {
    this.#counts.set(version, (this.#counts.get(version) ?? 0) + 1);
    this.#total++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#total--;
      const left = (this.#counts.get(version) ?? 1) - 1;
      if (left === 0) this.#counts.delete(version);
      else this.#counts.set(version, left);
    };
  }

  /** How many pieces a reader should ask for at once: large batches are quicker, but memory is shared by all. */
  get batchSize(): number {
    const share = Math.floor(READ_BUDGET / Math.max(1, this.#total));
    return Math.min(MAX_READ_BATCH, Math.max(MIN_READ_BATCH, share));
  }

  /** How many readers there are. */
  get count(): number {
    return this.#total;
  }

  has(version: string): boolean {
    return this.#counts.has(version);
  }
}
