/**
 * Files beside the store that belong to its backups: certificates and the account at their authority. A backup is one
 * file, so they are a table of it. The store itself has no such table: a shared store would hand the private keys of one
 * server to all others.
 *
 * @module
 */
import { exists, PRIVATE_FOLDER_MODE, writePrivately } from "./durable_file.ts";
import { withSqlite } from "./sqlite.ts";

/** The folder of the files, in the data folder. */
export const CERTIFICATE_FOLDER = "tls";

/** The files that are kept; the others are locks and pauses, which have a meaning for running servers only. */
const KEPT = /^(account\.json|[a-z0-9.-]+\.pem)$/;

const TABLE = "kvdrive_kept_file";

/** Returns the files of a data folder that belong to its backups, by their names. */
export async function keptFiles(data: string): Promise<Map<string, Uint8Array>> {
  const folder = `${data}/${CERTIFICATE_FOLDER}`;
  const files = new Map<string, Uint8Array>();
  if (!await exists(folder)) return files;
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && isKept(name)) files.set(name, await Deno.readFile(`${folder}/${name}`));
  }
  return files;
}

/** Returns whether a file may be one of a backup. A damaged or forged one must not write elsewhere. */
export function isKept(name: string): boolean {
  return KEPT.test(name);
}

/** Adds the files of a data folder to a backup of its store. */
export async function packFiles(data: string, backup: string): Promise<void> {
  const files = await keptFiles(data);
  if (files.size === 0) return;
  withSqlite(backup, (sqlite) => {
    sqlite.exec(`BEGIN; DROP TABLE IF EXISTS ${TABLE}`);
    sqlite.exec(`CREATE TABLE ${TABLE} (name TEXT PRIMARY KEY, content BLOB NOT NULL)`);
    const insert = sqlite.prepare(`INSERT INTO ${TABLE} VALUES (?, ?)`);
    for (const file of files) insert.run(...file);
    sqlite.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

/** Takes the files out of a copy of a backup that is to become a store. Returns them by their names. */
export function unpackFiles(backup: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  withSqlite(backup, (sqlite) => {
    const find = sqlite.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name = ?");
    if (find.get(TABLE)?.["n"] !== 1) return;
    for (const { name, content } of sqlite.prepare(`SELECT name, content FROM ${TABLE}`).all()) {
      if (typeof name === "string" && isKept(name) && content instanceof Uint8Array) {
        files.set(name, content);
      }
    }
    // The private keys must not stay in free pages of the store.
    sqlite.exec("PRAGMA secure_delete = ON");
    sqlite.exec(`DROP TABLE ${TABLE}; PRAGMA wal_checkpoint(TRUNCATE)`);
  });
  return files;
}

/** Writes files into a data folder. Those that exist stay: they are newer than a backup. */
export async function restoreFiles(data: string, files: Map<string, Uint8Array>): Promise<void> {
  const folder = `${data}/${CERTIFICATE_FOLDER}`;
  if (files.size > 0) await Deno.mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  for (const [name, content] of files) {
    const path = `${folder}/${name}`;
    if (!await exists(path)) await writePrivately(path, content);
  }
}
