import { DatabaseSync } from "node:sqlite";

/** Tells whether the store's file could be written now. It writes nothing, and holds the lock for some microseconds. */
export class LockProbe implements Disposable {
  readonly #path: string;
  #sqlite: DatabaseSync | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether nobody holds the lock for writing. @throws where the file cannot be used at all. */
  isFree(): boolean {
    // Most programs never ask.
    const sqlite = this.#sqlite ??= openWithoutPatience(this.#path);
    try {
      sqlite.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    sqlite.exec("ROLLBACK");
    return true;
  }

  [Symbol.dispose](): void {
    this.#sqlite?.close();
  }
}

/** Everything else waits while it looks, so it must not wait itself. */
function openWithoutPatience(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path);
  sqlite.exec("PRAGMA busy_timeout = 0");
  return sqlite;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database (table )?is (locked|busy)/.test(error.message);
}
