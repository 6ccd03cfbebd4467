/**
 * Cheap questions about the store's file that Deno KV cannot answer, asked through a SQLite connection of their own.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isLocked } from "./sqlite.ts";

/**
 * Detects commits to the store's file, of this process or another one. SQLite compares a number in memory that all
 * connections share, which takes some microseconds and no access to the disk.
 */
export class ChangeProbe implements Disposable {
  readonly #sqlite: DatabaseSync;
  readonly #dataVersion: StatementSync;

  constructor(path: string) {
    this.#sqlite = new DatabaseSync(path, { readOnly: true });
    this.#dataVersion = this.#sqlite.prepare("PRAGMA data_version");
  }

  /**
   * Returns a number that changes with every commit of any other connection: while it is the same, no entry has
   * changed. `undefined` if SQLite cannot answer at the moment.
   */
  state(): number | undefined {
    try {
      return Number(this.#dataVersion.get()?.["data_version"]);
    } catch {
      // Another connection is repairing or closing the file's log.
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}

/** Checks whether the store's file could be written now. It writes nothing and holds the lock for some microseconds. */
export class LockProbe implements Disposable {
  #sqlite: DatabaseSync | undefined;

  constructor(private readonly path: string) {}

  /** Returns whether no connection holds the write lock. @throws if the file cannot be used at all. */
  isFree(): boolean {
    // Opened late: most processes never need it.
    const sqlite = this.#sqlite ??= openWithoutTimeout(this.path);
    try {
      sqlite.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (isLocked(error)) return false;
      throw error;
    }
    sqlite.exec("ROLLBACK");
    return true;
  }

  [Symbol.dispose](): void {
    this.#sqlite?.close();
  }
}

/** Opens a connection that never waits for a lock, because its synchronous calls block the whole process. */
function openWithoutTimeout(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path);
  sqlite.exec("PRAGMA busy_timeout = 0");
  return sqlite;
}
