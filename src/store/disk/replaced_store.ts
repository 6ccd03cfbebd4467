/**
 * The store that a restore replaces. Its file gets a second name, so that one rename puts the new store in its place: at
 * any moment the folder has one of them. The second name lasts for these steps only: a file under two names is no
 * copy, and SQLite must not open it under both.
 *
 * @module
 */
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { companionsOf, exists, freeName, isSameFile, syncFolder } from "./durable_file.ts";

/** Follows the store's name in its second name, before a time. */
const SECOND_NAME = ".replacing-";

/** Follows the store's name in the name of a store that was replaced, before a time. */
const REPLACED = ".replaced-";

/** A second name, after its beginning: the time, and what is added for the store's log. */
const REST_OF_NAME = /^(.*?)(-wal|-shm|-journal)?$/;

/**
 * Gives the store in a file its second name, and takes its log along: SQLite would apply a log under the first name to
 * the new store. `settleReplaced` follows, when the new store has the first name.
 */
export async function setStoreAside(path: string): Promise<void> {
  const time = `${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
  const free = await freeName(path + REPLACED + time);
  const second = path + SECOND_NAME + free.slice(path.length + REPLACED.length);
  if (await exists(path)) {
    // On a file system without hard links the store is only missing until it is settled.
    await Deno.link(path, second).catch(() => Deno.rename(path, second));
  }
  for (const companion of companionsOf(path)) {
    if (!await exists(companion)) continue;
    await Deno.rename(companion, second + companion.slice(path.length));
  }
  await syncFolder(dirname(path));
}

/**
 * Ends the replacement of a store, also one that was interrupted: a store that was replaced gets its lasting name, and
 * one that was not gets its log back.
 *
 * @param path The store's file.
 * @returns The file of the replaced store; `undefined` if none was replaced.
 */
export async function settleReplaced(path: string): Promise<string | undefined> {
  const prefix = basename(path) + SECOND_NAME;
  const names: string[] = [];
  for await (const { name } of Deno.readDir(dirname(path))) {
    if (name.startsWith(prefix)) names.push(name.slice(prefix.length));
  }
  let replaced: string | undefined;
  // In this order a log comes before its store, which tells what to do.
  for (const name of names.sort().reverse()) {
    const [, time = "", companion = ""] = REST_OF_NAME.exec(name) ?? [];
    const second = path + SECOND_NAME + time;
    const isReplaced = await exists(path) && !await isSecondName(path, second);
    if (isReplaced) replaced = path + REPLACED + time;
    const first = isReplaced ? path + REPLACED + time : path;
    // Renaming one name of a file to another does nothing, so the second one is removed.
    const isDouble = !isReplaced && companion === "" && await exists(path);
    const move = isDouble
      ? Deno.remove(second)
      : Deno.rename(second + companion, first + companion);
    await move.catch(ignoreMissing);
  }
  if (names.length > 0) await syncFolder(dirname(path));
  return replaced;
}

/** Returns whether a store is still the one that has the second name. */
async function isSecondName(path: string, second: string): Promise<boolean> {
  try {
    // Numbers of files of more than 53 bits are rounded, so equal ones are not enough.
    return (await Deno.stat(second)).nlink !== 1 && await isSameFile(path, second);
  } catch (error) {
    ignoreMissing(error);
    return false;
  }
}

/** Another process that opens the store does the same at the same moment. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
