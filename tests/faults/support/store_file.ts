import { join } from "@std/path";
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

/** Pages of 4 KiB of the store's file, in all and those that hold nothing. A server may have it open. */
export function pagesIn(data: string): { total: number; free: number } {
  const sqlite = new DatabaseSync(join(data, "kvdrive.db"), { readOnly: true });
  try {
    sqlite.exec("PRAGMA busy_timeout = 5000");
    const read = (name: string) => Number(sqlite.prepare(`PRAGMA ${name}`).get()?.[name]);
    return { total: read("page_count"), free: read("freelist_count") };
  } finally {
    sqlite.close();
  }
}
