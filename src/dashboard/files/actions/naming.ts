import { plural } from "../../core/format.ts";
import { type Entry, folderOf, labelOf } from "../entry.ts";

/** The longest name of a file, in bytes of UTF-8. */
const MAX_NAME = 1024;

/** Returns what is wrong with a name that a file or folder shall get in its folder; `undefined` if nothing is. */
export async function labelProblem(
  label: string,
  isTaken: (label: string) => Promise<boolean>,
): Promise<string | undefined> {
  if (label.trim() === "") return "Enter a name";
  if (label.includes("/")) return "A name cannot contain “/”";
  if (label.includes("\0")) return "A name cannot contain the NUL character";
  if (isTooLong(label)) return "The name is too long";
  return await isTaken(label) ? `There is a “${label}” already` : undefined;
}

/** Whether a file or folder can have a name at all: the server refuses to look up others. */
export function isName(name: string): boolean {
  const isBlank = /^\p{White_Space}*$/u.test(name);
  return !isBlank && !name.includes("\0") && name.isWellFormed() && !isTooLong(name);
}

function isTooLong(name: string): boolean {
  return new TextEncoder().encode(name).length > MAX_NAME;
}

/** Returns the name that an entry gets in another folder. */
export function nameIn(path: string, entry: Entry): string {
  return `${path}${labelOf(entry)}${entry.kind === "folder" ? "/" : ""}`;
}

/** Whether an entry may go to a folder: a folder cannot go into itself. */
export function mayGoTo(entry: Entry, path: string): boolean {
  return entry.kind === "file" || !path.startsWith(entry.name);
}

/** Returns `“photo.jpg”`, or "3 items". */
export function describe(entries: readonly Entry[]): string {
  const [first] = entries;
  return entries.length === 1 && first !== undefined
    ? `“${labelOf(first)}”`
    : plural(entries.length, "item");
}

/** Returns the name with a number that no other has: `photo (2).jpg`. */
export function numbered(name: string, taken: (name: string) => boolean): string {
  const folder = folderOf({ name });
  const isFolder = name.endsWith("/");
  const label = labelOf({ name });
  const dot = isFolder ? -1 : label.lastIndexOf(".");
  const [stem, extension] = dot <= 0 ? [label, ""] : [label.slice(0, dot), label.slice(dot)];
  const base = stem.replace(/ \(\d+\)$/, "");
  for (let number = 2;; number++) {
    const candidate = `${folder}${base} (${number})${extension}${isFolder ? "/" : ""}`;
    if (!taken(candidate)) return candidate;
  }
}

/**
 * Returns for each name one with a number that is free.
 *
 * @param used Names that are not; gets what was tried.
 * @param find Returns those of some names that exist.
 */
export async function freeNames(
  names: readonly string[],
  used: Set<string>,
  find: (names: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string[]> {
  const free = [...names];
  for (let open = [...names.keys()]; open.length > 0;) {
    for (const index of open) {
      free[index] = numbered(names[index]!, (name) => used.has(name));
      used.add(free[index]!);
    }
    const taken = await find(open.map((index) => free[index]!));
    open = open.filter((index) => taken.has(free[index]!));
  }
  return free;
}

/** Returns the part of a name that is selected when it is edited: all of it without the extension. */
export function editedLength(entry: Entry): number {
  const label = labelOf(entry);
  const dot = entry.kind === "folder" ? -1 : label.lastIndexOf(".");
  return dot <= 0 ? label.length : dot;
}
