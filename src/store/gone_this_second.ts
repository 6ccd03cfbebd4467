/**
 * The names that were deleted within the current second. A file that is made anew under one of them may have the time of
 * its predecessor, so that its time alone does not tell the two apart (RFC 9110, 8.8.2.2).
 */
export class GoneThisSecond {
  #second = 0;
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#turn();
    this.#names.add(name);
  }

  has(name: string): boolean {
    this.#turn();
    return this.#names.has(name);
  }

  #turn(): void {
    const second = Math.floor(Date.now() / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#names.clear();
  }
}
