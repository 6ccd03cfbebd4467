import { resolve } from "@std/path/resolve";
import { freeBytesOf } from "../../store/disk/volume.ts";
import { DiskSpace } from "../../store/disk/disk_space.ts";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import { databasePath, openProblem } from "../../store/disk/store_files.ts";
import { openDatabase } from "../../store/engine/database_file.ts";
import { openRemoteDatabase } from "../../store/remote/remote_database.ts";
import { Store } from "../../store/store.ts";
import { DEFAULT_DISK_RESERVE } from "../options/serve_options.ts";
import { CommandError, logFailure } from "../terminal/output.ts";

/** The size of the smallest SQLite database. SQLite treats a smaller file as an empty database. */
const MIN_DATABASE = 512;

/** Reports whether a folder has a store. @throws {CommandError} if the folder cannot be read. */
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
    `There is no store in ${folder}: ${path} does not exist or is empty. Give the server's folder with --data or KVDRIVE_DATA`,
  );
}

/** The location of a store: a folder, or the URL of a shared store. */
export interface StorePlace {
  data: string;
  kv: string | undefined;
  /** What encrypts the secrets of S3 keys; without it they cannot be created. */
  s3SecretKey?: S3SecretKey;
}

/** Opens a store for `work`, next to a server that may use it. Removing garbage is left to the server. */
export async function withStore<T>(
  { data, kv, s3SecretKey }: StorePlace,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const database = kv === undefined
    ? await openDatabase(data)
    : await openRemoteDatabase({ url: kv, timeout: 0 });
  const { logs } = database;
  const growth = () => logs.reduce((sum, log) => sum + log.growth(), 0);
  const disk = kv === undefined
    ? new DiskSpace(freeBytesOf(data), DEFAULT_DISK_RESERVE, { growth })
    : undefined;
  const store = new Store(database, { ...(disk && { disk }), s3SecretKey, onError: logFailure });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
