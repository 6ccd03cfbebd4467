import { compareNames } from "../../rules/names.ts";
import type { FileInfo } from "../drives.ts";
import { ClientError } from "../errors.ts";

export interface FileEntry {
  kind: "file";
  /** Below the root of the tree, with slashes. */
  name: string;
  /** Bytes. */
  size: number;
  /** When it was last modified, in milliseconds since 1970: for a file of a drive, when the copy that was sent was. */
  time: number | undefined;
  /** The version, for a file of a drive. */
  file?: FileInfo;
}

/** A folder of this machine, or one that a drive keeps although it may be empty. */
export interface FolderEntry {
  kind: "folder";
  /** Ends with a slash. */
  name: string;
  isEmpty: boolean;
}

/** A name that cannot be transferred. */
export interface ProblemEntry {
  kind: "problem";
  /** Ends with a slash for a folder that cannot be read. */
  name: string;
  reason: string;
  /**
   * What follows of it: `ignored` things such as links are no files, `unsuitable` names cannot exist on the other side, and
   * behind `unreadable` ones there may be further files.
   */
  effect: "ignored" | "unsuitable" | "unreadable";
}

export type TreeEntry = FileEntry | FolderEntry | ProblemEntry;

/** The files and folders of a tree, in the order of the UTF-8 bytes of their names. */
export type Tree = AsyncIterable<TreeEntry>;

/** A difference between two trees, or the absence of one. */
export type Step =
  | { kind: "new"; source: FileEntry | FolderEntry }
  | { kind: "same name"; source: FileEntry | FolderEntry; target: FileEntry | FolderEntry }
  | { kind: "extra"; target: FileEntry | FolderEntry }
  | { kind: "problem"; side: "source" | "target"; problem: ProblemEntry };

/**
 * Compares two trees by their names, in their order and without keeping them. An extra folder follows what is extra in
 * it; a folder of the target in which the source has something is not extra.
 *
 * @throws {ClientError} if a tree is not in order: what seems to be missing in it may come later.
 */
export async function* compareTrees(sourceTree: Tree, targetTree: Tree): AsyncGenerator<Step> {
  const source = new Cursor(sourceTree);
  const target = new Cursor(targetTree);
  const extraFolders: FolderEntry[] = [];
  const protectedNames = new ProtectedNames();
  try {
    await Promise.all([source.advance(), target.advance()]);
    for (;;) {
      const s = source.head;
      const t = target.head;
      const [first] = [s, t].filter((one) => one !== undefined).sort(byName);
      // The folders that end before the next name.
      while (extraFolders.length > 0 && !first?.name.startsWith(extraFolders.at(-1)?.name ?? "")) {
        const folder = extraFolders.pop();
        if (folder !== undefined) yield { kind: "extra", target: folder };
      }
      if (first === undefined) return;
      if (s?.kind === "problem" && first === s) {
        protectedNames.add(s.name);
        yield { kind: "problem", side: "source", problem: s };
        await source.advance();
      } else if (t?.kind === "problem" && (first === t || s?.name === t.name)) {
        yield { kind: "problem", side: "target", problem: t };
        await target.advance();
      } else if (s?.name === t?.name) {
        if (s === undefined || s.kind === "problem") throw new TypeError("It was handled above");
        if (t === undefined || t.kind === "problem") throw new TypeError("It was handled above");
        yield { kind: "same name", source: s, target: t };
        await Promise.all([source.advance(), target.advance()]);
      } else if (s === first) {
        if (s.kind !== "problem") yield { kind: "new", source: s };
        await source.advance();
      } else {
        if (t !== undefined && t.kind !== "problem" && !protectedNames.has(t.name)) {
          const isNeeded = t.kind === "folder" && (s?.name.startsWith(t.name) ?? false);
          if (t.kind === "folder" && !isNeeded) extraFolders.push(t);
          if (t.kind === "file") yield { kind: "extra", target: t };
        }
        await target.advance();
      }
    }
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** The smaller name first; of equal ones the first argument. */
function byName(a: TreeEntry, b: TreeEntry): number {
  return compareNames(a.name, b.name);
}

/** Reads a tree entry by entry, and checks its order. */
class Cursor {
  head: TreeEntry | undefined;
  readonly #entries: AsyncIterator<TreeEntry>;

  constructor(tree: Tree) {
    this.#entries = tree[Symbol.asyncIterator]();
  }

  async advance(): Promise<void> {
    const { done, value } = await this.#entries.next();
    const before = this.head;
    this.head = done === true ? undefined : value;
    const isInOrder = before === undefined || this.head === undefined ||
      compareNames(before.name, this.head.name) < 0;
    if (isInOrder) return;
    throw new ClientError(`The names are not in order: ${JSON.stringify(this.head?.name)}`);
  }

  async close(): Promise<void> {
    await this.#entries.return?.();
  }
}

/** Names of the source about which is not known what they are: nothing of that name, or below it, is extra. */
class ProtectedNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#names.add(name.replace(/\/$/, ""));
  }

  has(name: string): boolean {
    if (this.#names.size === 0) return false;
    for (let end = name.indexOf("/"); end !== -1; end = name.indexOf("/", end + 1)) {
      if (this.#names.has(name.slice(0, end))) return true;
    }
    return this.#names.has(name);
  }
}
