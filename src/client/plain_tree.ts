import { join } from "@std/path";
import { ClientError } from "./errors.ts";

/** What lies at a path itself, not at what a link there leads to; `undefined` where there is nothing. */
export async function kindOf(path: string): Promise<"folder" | "file" | "link" | undefined> {
  try {
    const { isDirectory, isSymlink } = await Deno.lstat(path);
    return isDirectory ? "folder" : isSymlink ? "link" : "file";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Opens a file to read and write it, and makes it if it is not there. A link in its place is refused: it may lead to a
 * file that has nothing to do with this one.
 *
 * @throws {ClientError} for anything but a plain file.
 */
export async function openPlainFile(path: string): Promise<Deno.FsFile> {
  try {
    // An exclusive creation never follows a link.
    return await Deno.open(path, { read: true, write: true, createNew: true, mode: 0o666 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  const before = await Deno.lstat(path);
  if (!before.isFile) throw notPlain(path, before.isSymlink);
  const file = await Deno.open(path, { read: true, write: true });
  const opened = await file.stat();
  if (opened.ino === before.ino && opened.dev === before.dev) return file;
  file.close();
  throw notPlain(path, true);
}

/** A folder in which files are written, without a way out of it over links. */
export class PlainTree {
  /** As a full path without links. */
  readonly root: string;
  readonly #folders = new Set<string>([""]);

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes the folder if it is not there. The folder itself, or one above it, may be a link: its user named it. */
  static async open(folder: string): Promise<PlainTree> {
    await Deno.mkdir(folder, { recursive: true });
    return new PlainTree(await Deno.realPath(folder));
  }

  /**
   * Makes a folder of the tree, and those above it, if they are not there.
   *
   * @param path From the root on, with slashes; "" is the root.
   * @throws {ClientError} where one of them is a link, or no folder.
   */
  async makeFolder(path: string): Promise<void> {
    if (!this.#folders.has(path)) {
      await this.makeFolder(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
      await this.#makeOne(path);
      this.#folders.add(path);
    }
    // A folder that was made before may have been replaced meanwhile.
    const full = join(this.root, path);
    if (await Deno.realPath(full) !== full) throw notPlain(full, true);
  }

  /** The same for the folder of a file; gives the full path of the file. */
  async makePlace(path: string): Promise<string> {
    await this.makeFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    return join(this.root, path);
  }

  async #makeOne(path: string): Promise<void> {
    const full = join(this.root, path);
    try {
      await Deno.mkdir(full);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      const kind = await kindOf(full);
      if (kind !== "folder") throw notPlain(full, kind === "link", "folder");
    }
  }
}

function notPlain(path: string, isLink: boolean, wanted: "file" | "folder" = "file"): ClientError {
  return new ClientError(
    isLink
      ? `${path} is or lies behind a symbolic link, which is not followed as it may lead anywhere: remove the link`
      : `${path} is no ${wanted}: rename or remove it`,
  );
}
