import type { Schemas } from "../core/api.ts";

/** A folder of a drive. */
export interface Place {
  project: string;
  drive: string;
  /** Empty for the drive itself, otherwise it ends with a slash: `trip/2026/`. */
  path: string;
}

/** A file or a folder in a list. The name of a folder ends with a slash. */
export type Entry = Schemas["ListedEntry"] & { kind: "file" | "folder" };

/** Entries that are dragged, cut or copied. */
export interface EntryList {
  project: string;
  drive: string;
  /** Whole names; those of folders end with a slash. */
  names: string[];
  /** Whether they are moved when they are pasted. */
  isCut?: boolean;
}

/** Returns the last segment of a name: what people call the file or folder. */
export function labelOf({ name }: Pick<Entry, "name">): string {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return name.slice(name.lastIndexOf("/", end - 1) + 1, end);
}

/** Returns the folder that a file or folder is in: empty, or with a slash at its end. */
export function folderOf({ name }: Pick<Entry, "name">): string {
  return name.slice(0, name.slice(0, -1).lastIndexOf("/") + 1);
}

/** Characters that change the direction of what follows, and control characters. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const INVISIBLE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a name in which nothing is hidden: `photo\u202egnp.exe` would look like `photoexe.png`. */
export function shownName(name: string): string {
  return name.replaceAll(INVISIBLE, "\ufffd");
}
