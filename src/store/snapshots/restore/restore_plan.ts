/**
 * What a restore has to read, in a SQLite file beside the store that it makes: which groups of which object. So each object
 * is read once, in any order, memory does not grow with the store, and an interrupted restore goes on.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import type { Bytes } from "../../../repository/bytes.ts";
import type { ObjectRef, TreeEntry } from "../../../repository/tree.ts";

export interface WantedGroup {
  ordinal: number;
  key: Bytes;
}

export interface WantedObject extends ObjectRef {
  id: number;
}

/** How far a restore has come. */
export type Stage = "planning" | "reading" | "checked";

/** `manifest` is the object of the manifest that the plan was made from. */
type StateName = "snapshot" | "manifest" | "stage" | "byte_file";

export class RestorePlan implements Disposable {
  readonly #sqlite: DatabaseSync;

  private constructor(path: string) {
    this.#sqlite = new DatabaseSync(path);
    // A process that dies loses nothing that was committed. After a power loss everything is checked in any case.
    this.#sqlite.exec(
      "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; PRAGMA cache_size = -256; " +
        "CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID; " +
        "CREATE TABLE IF NOT EXISTS object (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size INT, done INT); " +
        "CREATE TABLE IF NOT EXISTS wanted (object INT, ordinal INT, key BLOB, " +
        "PRIMARY KEY (object, ordinal)) WITHOUT ROWID; " +
        "CREATE TABLE IF NOT EXISTS lost (key BLOB PRIMARY KEY, reason TEXT) WITHOUT ROWID; " +
        "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, content BLOB) WITHOUT ROWID",
    );
  }

  static open(path: string): RestorePlan {
    return new RestorePlan(path);
  }

  get(name: StateName): string | undefined {
    const row = this.#sqlite.prepare("SELECT value FROM state WHERE name = ?").get(name);
    return row === undefined ? undefined : String(row["value"]);
  }

  set(name: StateName, value: string): void {
    this.#sqlite.prepare("INSERT OR REPLACE INTO state VALUES (?, ?)").run(name, value);
  }

  /** Replaces what has to be read. Objects that were read already stay read, unless something of them was lost. */
  async add(nodes: AsyncIterable<readonly TreeEntry[]>): Promise<void> {
    const sqlite = this.#sqlite;
    sqlite.exec(
      "BEGIN; DELETE FROM object WHERE done = 0 OR id IN (SELECT object FROM wanted JOIN lost USING (key)); " +
        "DELETE FROM wanted; DELETE FROM lost",
    );
    const addObject = sqlite.prepare("INSERT OR IGNORE INTO object VALUES (NULL, ?, ?, 0)");
    const find = sqlite.prepare("SELECT id FROM object WHERE name = ?");
    const add = sqlite.prepare("INSERT OR IGNORE INTO wanted VALUES (?, ?, ?)");
    let last: { name: string; id: number } | undefined;
    for await (const groups of nodes) {
      for (const { key, object, ordinal } of groups) {
        if (last?.name !== object.name) {
          addObject.run(object.name, object.size);
          last = { name: object.name, id: Number(find.get(object.name)?.["id"]) };
        }
        add.run(last.id, ordinal, key);
      }
    }
    sqlite.exec("COMMIT");
  }

  /** The bytes that were read, and those of all objects. */
  progress(): { done: number; total: number } {
    const row = this.#sqlite.prepare(
      "SELECT coalesce(sum(size), 0) AS total, coalesce(sum(size * done), 0) AS done FROM object",
    ).get();
    return { done: Number(row?.["done"]), total: Number(row?.["total"]) };
  }

  /** Returns the objects that were not read, in the order in which the store uses them first. */
  unread(after: number, limit: number): WantedObject[] {
    return this.#sqlite
      .prepare("SELECT id, name, size FROM object WHERE done = 0 AND id > ? ORDER BY id LIMIT ?")
      .all(after, limit) as unknown as WantedObject[];
  }

  groupsOf(object: WantedObject): WantedGroup[] {
    return this.#sqlite
      .prepare("SELECT ordinal, key FROM wanted WHERE object = ? ORDER BY ordinal")
      .all(object.id) as unknown as WantedGroup[];
  }

  markRead(objects: readonly WantedObject[]): void {
    const mark = this.#sqlite.prepare("UPDATE object SET done = 1 WHERE id = ?");
    this.#sqlite.exec("BEGIN");
    for (const { id } of objects) mark.run(id);
    this.#sqlite.exec("COMMIT");
  }

  addLost(key: Bytes, reason: string): void {
    this.#sqlite.prepare("INSERT OR REPLACE INTO lost VALUES (?, ?)").run(key, reason);
  }

  get hasLost(): boolean {
    return this.#sqlite.prepare("SELECT 1 FROM lost LIMIT 1").get() !== undefined;
  }

  /** Yields the first keys of what was lost. */
  *lost(): Generator<{ key: Bytes; reason: string }> {
    const rows = this.#sqlite.prepare("SELECT key, reason FROM lost ORDER BY key").all();
    yield* rows as unknown as { key: Bytes; reason: string }[];
  }

  keep(name: string, content: Bytes): void {
    this.#sqlite.prepare("INSERT OR REPLACE INTO kept VALUES (?, ?)").run(name, content);
  }

  /** Returns the files beside the store that belong to the backup. */
  kept(): Map<string, Uint8Array> {
    const rows = this.#sqlite.prepare("SELECT name, content FROM kept").all();
    return new Map(rows.map((row) => [String(row["name"]), row["content"] as Uint8Array]));
  }

  [Symbol.dispose](): void {
    if (this.#sqlite.isOpen) this.#sqlite.close();
  }
}
