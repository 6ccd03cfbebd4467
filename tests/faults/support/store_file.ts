import { join } from "@std/path/join";
import { DatabaseSync } from "node:sqlite";

/** Holds the write lock of a server's store, like another process during a long write. */
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

/** Returns the numbers of all and of free 4 KiB pages in the store's file. A server may have it open. */
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
