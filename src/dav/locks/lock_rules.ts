/**
 * Which locks concern which names (RFC 4918, 6 and 7). A folder's name ends with a slash, and a drive's is empty.
 *
 * @module
 */
import type { LockRecord } from "../../store/engine/records.ts";
import { parentOf } from "../dav_path.ts";

/** What a request changes about a name. */
export interface Change {
  name: string;
  /** Whether the name is added to its folder, or removed from it. */
  changesFolder: boolean;
  /** Whether everything below it changes, too. */
  isDeep: boolean;
}

/** Who asks for a change: locks count as held if their own key sends their tokens. */
export interface Holder {
  by: string;
  tokens: ReadonlySet<string>;
}

function isFolder(name: string): boolean {
  return name === "" || name.endsWith("/");
}

/** Returns whether a lock is on a name, or on a folder above it with everything in it. */
export function covers(lock: Pick<LockRecord, "name" | "isDeep">, name: string): boolean {
  if (lock.name === name) return true;
  return lock.isDeep && isFolder(lock.name) && name.startsWith(lock.name);
}

function isBelow(name: string, folder: string): boolean {
  return isFolder(folder) && name !== folder && name.startsWith(folder);
}

/** Returns a lock that forbids another one, if there is any. */
export function conflicting(
  locks: readonly LockRecord[],
  wanted: Pick<LockRecord, "name" | "isDeep" | "scope">,
): LockRecord | undefined {
  return locks.find((lock) =>
    (lock.scope === "exclusive" || wanted.scope === "exclusive") &&
    (covers(lock, wanted.name) || covers(wanted, lock.name))
  );
}

/**
 * Returns the locks whose tokens are missing for a change; none if it is allowed. Of several shared locks on a name, the
 * token of one suffices.
 */
export function missingFor(
  locks: readonly LockRecord[],
  { name, changesFolder, isDeep }: Change,
  holder: Holder,
): LockRecord[] {
  if (locks.length === 0) return [];
  const names = new Set([name]);
  if (changesFolder && name !== "") names.add(parentOf(name));
  if (isDeep) { for (const lock of locks) if (isBelow(lock.name, name)) names.add(lock.name); }
  const missing = new Set<LockRecord>();
  for (const each of names) {
    const covering = locks.filter((lock) => covers(lock, each));
    if (covering.some((lock) => isHeld(lock, holder))) continue;
    for (const lock of covering) missing.add(lock);
  }
  return [...missing];
}

export function isHeld({ token, by }: LockRecord, holder: Holder): boolean {
  return by === holder.by && holder.tokens.has(token);
}

/** Returns the locks that are left when a name, and all below it, is gone. */
export function withoutBelow(locks: readonly LockRecord[], name: string): readonly LockRecord[] {
  return locks.filter((lock) => lock.name !== name && !isBelow(lock.name, name));
}
