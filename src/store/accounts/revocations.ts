/**
 * Notifies this process that a caller may have lost access: after a revocation, a deletion, a change of an application or
 * of its access control, and the end of a session. Open connections are then authorized again.
 */
export class Revocations {
  readonly #listeners = new Set<() => void>();

  /** Adds a listener, which must not throw. Returns the function that removes it. */
  onChange(listener: () => void): () => void {
    // A wrapper for each call, so that the same function may be added twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Calls all listeners. The change must be committed, and the caches of this process must not hold what was before. */
  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
