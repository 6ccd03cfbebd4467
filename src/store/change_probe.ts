import { DatabaseSync, type StatementSync } from "node:sqlite";

/**
 * Tells whether anybody changed the store's file: this process or another one. It asks SQLite, which compares a number
 * in memory that all connections share: some microseconds, and no access to the disk.
 */
export class ChangeProbe implements Disposable {
  readonly #sqlite: DatabaseSync;
  readonly #question: StatementSync;

  constructor(path: string) {
    this.#sqlite = new DatabaseSync(path, { readOnly: true });
    this.#question = this.#sqlite.prepare("PRAGMA data_version");
  }

  /**
   * A number that is another one after every commit of any connection: where it is the same as before, no entry has
   * changed in between. `undefined` where SQLite cannot tell right now.
   */
  state(): number | undefined {
    try {
      return Number(this.#question.get()?.["data_version"]);
    } catch {
      // Another connection repairs or closes the file's log at this very moment.
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}
