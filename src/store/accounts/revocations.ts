/**
 * Tells in this process that somebody may have lost access: after every revocation, removal, switch of access control,
 * change of an application and end of a session. Whoever keeps a connection open judges it anew then.
 */
export class Revocations {
  readonly #listeners = new Set<() => void>();

  /** Calls the listener, which must not throw, after every change; gives the function that ends this. */
  onChange(listener: () => void): () => void {
    // The same function may listen twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** To be called when the store has the change and nothing in this process believes the former state any more. */
  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
