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
  if (new TextEncoder().encode(label).length > MAX_NAME) return "The name is too long";
  return await isTaken(label) ? `There is a “${label}” already` : undefined;
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

/** Returns the part of a name that is selected when it is edited: all of it without the extension. */
export function editedLength(entry: Entry): number {
  const label = labelOf(entry);
  const dot = entry.kind === "folder" ? -1 : label.lastIndexOf(".");
  return dot <= 0 ? label.length : dot;
}
