/**
 * Removes at once what the server would remove within the next minutes: bytes of uploads that broke off, replaced
 * versions. Not while a server runs on the same store: uploads that are running would be given up.
 *
 *     deno run -A scripts/sweep_store.ts DATA_FOLDER
 *
 * @module
 */

import { join } from "@std/path/join";
import { openDatabase } from "../src/store/engine/database_file.ts";
import { GARBAGE_GRACE } from "../src/store/bytes/garbage.ts";
import { WRITE_LEASE_TIME } from "../src/store/bytes/write_lease.ts";
import { Store } from "../src/store/store.ts";

const USAGE = "Name the data folder: deno run -A scripts/sweep_store.ts DATA_FOLDER";

async function sweep(folder: string): Promise<void> {
  const onError = (error: unknown): void => refuse(String(error));
  const store = new Store(await openDatabase(folder), { onError });
  try {
    await store.sweeper.sweep(Date.now() + WRITE_LEASE_TIME + GARBAGE_GRACE);
  } finally {
    await store.close();
  }
}

/** Opening a store would make one where there is none. */
async function hasStore(folder: string): Promise<boolean> {
  try {
    return (await Deno.stat(join(folder, "kvdrive.db"))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function refuse(sentence: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${sentence}\n`));
  Deno.exitCode = 1;
}

if (import.meta.main) {
  const [folder, ...others] = Deno.args;
  if (folder === undefined || others.length > 0) refuse(USAGE);
  else if (await hasStore(folder)) await sweep(folder);
  else refuse(`There is no store in ${folder}`);
}
