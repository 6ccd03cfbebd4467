import { DatabaseSync } from "node:sqlite";

/** Holds the lock for writing of a server's store, as another process does that writes for long. */
export class StoreLock implements Disposable {
  readonly #sqlite: DatabaseSync;

  constructor(data: string) {
    this.#sqlite = new DatabaseSync(`${data}/kvdrive.db`);
    this.#sqlite.exec("PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE");
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}
