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
