import { join } from "@std/path/join";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

/** A name of the file with the chunks of a store. */
export const BYTE_FILE = /^kvdrive-bytes-[0-9a-f]{8}\.db$/;

/** The value of the record that names that file: a CRC-32 and a JSON text. */
const NAME_IN_RECORD = /kvdrive-bytes-[0-9a-f]{8}\.db/;

/** Returns the path of the file with the records of a store. */
export function recordFileOf(data: string): string {
  return join(data, "kvdrive.db");
}

/** Returns the path of the file with the chunks of a store; `undefined` if they are among its records. */
export function byteFileOf(data: string): string | undefined {
  const value = withSqlite(recordFileOf(data), (sqlite) => {
    const key = new TextEncoder().encode("\x02byte_file\0");
    return sqlite.prepare("SELECT v FROM kv WHERE k = ?").get(key)?.["v"];
  });
  if (!(value instanceof Uint8Array)) return undefined;
  const [name] = NAME_IN_RECORD.exec(new TextDecoder("latin1").decode(value)) ?? [];
  if (name === undefined) throw new Error("The records name no file of chunks");
  return join(data, name);
}

/** Returns the paths of the files of a store: that of its records first. */
export function storeFilesOf(data: string): string[] {
  const bytes = byteFileOf(data);
  return [recordFileOf(data), ...bytes === undefined ? [] : [bytes]];
}

/** Opens a file of a store, which a server may have open as well. */
export function withSqlite<T>(path: string, work: (sqlite: DatabaseSync) => T): T {
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec("PRAGMA busy_timeout = 20000");
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Returns all entries of a file of a store, as they are stored: one line each, with a checksum of its value. */
export function entriesIn(path: string): string {
  return withSqlite(path, (sqlite) => {
    const rows = sqlite.prepare("SELECT hex(k) AS k, hex(v) AS v, version FROM kv ORDER BY k")
      .all();
    return rows.map(({ k, v, version }) => `${k} ${crc32(String(v))} ${version}`).join("\n");
  });
}

/** Holds the write locks of a server's store, like another process during a long write. */
export class StoreLock implements Disposable {
  readonly #files: readonly DatabaseSync[];

  /** @param files Those whose lock is held; all files of the store unless given. */
  constructor(data: string, files: readonly string[] = storeFilesOf(data)) {
    this.#files = files.map((path) => {
      const sqlite = new DatabaseSync(path);
      sqlite.exec("PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE");
      return sqlite;
    });
  }

  [Symbol.dispose](): void {
    for (const sqlite of this.#files) sqlite.close();
  }
}

const PAGE = 4096;

/** Returns the numbers of all and of free pages in the store's files, in pages of 4 KiB. A server may have them open. */
export function pagesIn(data: string): { total: number; free: number } {
  const pages = { total: 0, free: 0 };
  for (const path of storeFilesOf(data)) {
    withSqlite(path, (sqlite) => {
      const read = (name: string) => Number(sqlite.prepare(`PRAGMA ${name}`).get()?.[name]);
      const size = read("page_size") / PAGE;
      pages.total += read("page_count") * size;
      pages.free += read("freelist_count") * size;
    });
  }
  return pages;
}
