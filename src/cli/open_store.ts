import { resolve } from "@std/path";
import { DEFAULT_DISK_RESERVE } from "../drive/limits.ts";
import { databasePath, openDatabase, openProblem } from "../store/database.ts";

import { DiskSpace, freeBytesOf } from "../store/disk_space.ts";
import { openRemoteDatabase } from "../store/remote_database.ts";
import { Store } from "../store/store.ts";
import { logFailure } from "./output.ts";
import { CommandError } from "./usage_error.ts";

/** The smallest database of SQLite; what is smaller it takes for an empty one, and makes one of it. */
const MIN_DATABASE = 512;

/** Whether a folder has a store. @throws {CommandError} where that cannot be found out. */
export async function hasStore(folder: string): Promise<boolean> {
  try {
    return (await Deno.stat(databasePath(folder))).size >= MIN_DATABASE;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw new CommandError(`Cannot open the store in ${folder}: ${openProblem(error)}`, {
      cause: error,
    });
  }
}

export function noStore(folder: string): CommandError {
  const path = resolve(databasePath(folder));
  return new CommandError(
    `There is no store in ${folder}: ${path} is not there or empty; name the server's folder with --data or KVDRIVE_DATA`,
  );
}

/** Where a store is: in a folder, unless it is one behind a network. */
export interface StorePlace {
  data: string;
  kv: string | undefined;
}

/** Works on a store, beside a server that may run on it: what is left to remove is left to that. */
export async function withStore<T>(
  { data, kv }: StorePlace,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const database = kv === undefined
    ? await openDatabase(data)
    : await openRemoteDatabase({ url: kv, patience: 0 });
  const { log } = database;
  const disk = log &&
    new DiskSpace(freeBytesOf(data), DEFAULT_DISK_RESERVE, { growth: () => log.growth() });
  const store = new Store(database, { ...(disk && { disk }), onError: logFailure });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
