/** Who reads which version in this process, so that its bytes stay until the last reader has finished. */
export class Readers {
  readonly #counts = new Map<string, number>();

  /** Keeps a version's bytes until the function that it gives is called. */
  hold(version: string): () => void {
    this.#counts.set(version, (this.#counts.get(version) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(version) ?? 1) - 1;
      if (left === 0) this.#counts.delete(version);
      else this.#counts.set(version, left);
    };
  }

  /** How many versions are being read. */
  get count(): number {
    return this.#counts.size;
  }

  has(version: string): boolean {
    return this.#counts.has(version);
  }
}
