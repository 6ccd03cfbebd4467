import { withSqlite } from "../disk/sqlite.ts";
import { databasePath } from "../disk/store_files.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { decodeValue, encodeKey, KV_COLUMNS, type KvRow } from "../reads/kv_encoding.ts";
import { namedByteFile } from "../verify/snapshot.ts";

/**
 * Returns the id of the store in a folder. A store that an older version made gets one.
 *
 * @throws {CannotOpenStore}
 */
export async function storeIdOf(folder: string): Promise<string> {
  return idIn(databasePath(folder)) ?? await giveId(folder);
}

/** Reads the id with SQLite, which takes less memory than to open the store. */
function idIn(path: string): string | undefined {
  try {
    const key = keys.storeId();
    return withSqlite(path, (sqlite) => {
      const row = sqlite.prepare(`SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`).get(encodeKey(key));
      const id = row && decodeValue(key, row as unknown as KvRow);
      // Only a store that is complete has a second file.
      return typeof id === "string" && namedByteFile(path, sqlite) !== undefined ? id : undefined;
    });
  } catch {
    // Opening the store reports why it cannot be read.
    return undefined;
  }
}

async function giveId(folder: string): Promise<string> {
  const database = await openDatabase(folder);
  try {
    const key = keys.storeId();
    while (true) {
      const { value, versionstamp } = await database.reader.get<string>(key);
      if (typeof value === "string") return value;
      // A refusal means that another process was faster.
      await database.commit(new Operation().check(key, versionstamp).set(key, crypto.randomUUID()));
    }
  } finally {
    await database.close();
  }
}
