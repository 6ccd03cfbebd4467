import { resolve } from "@std/path/resolve";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ClientError, fileError } from "../errors.ts";
import {
  type ImportFile,
  type ImportFolder,
  type ImportProblem,
  type ImportSource,
  noDrives,
} from "./import.ts";
import { DRIVES_FOLDER, INDEX_NAME, indexBy, type IndexEntry } from "./index.ts";

/** The highest compression ratio of deflate. An archive that claims more shares bytes between files (a zip bomb). */
const MAX_DEFLATE_RATIO = 1032;

// Archives are untrusted input, so a well-tested reader is used: it relies on the central directory only, knows 64-bit
// fields, bounds its memory, and is plain JavaScript.

/** The file type bits of a UNIX mode, and their value for a link. */
const KIND = 0o170000;
const LINK = 0o120000;

/** An export in a zip archive. It is never unpacked to the local file system. */
export class ZipSource implements ImportSource, Disposable {
  readonly bytes: number;
  readonly index: ReadonlyMap<string, IndexEntry>;
  /** The prefix of the export's paths: "", or the folder that contains it. */
  readonly #root: string;

  private constructor(
    private readonly archive: { path: string; stamp: string; zip: ZipFile },
    { root, bytes, index }: Contents,
  ) {
    this.#root = root;
    this.bytes = bytes;
    this.index = index;
  }

  /** @throws {ClientError} if the file is not a valid archive with an export. */
  static async open(path: string): Promise<ZipSource> {
    try {
      const { size, mtime } = await Deno.stat(path);
      const stamp = `${size} ${mtime?.getTime() ?? 0}`;
      const contents = await contentsOf(path);
      // Each of the files that share bytes would be sent.
      if (contents.bytes > size * MAX_DEFLATE_RATIO) {
        throw new ClientError(`The archive ${path} claims more bytes than it can contain`);
      }
      return new ZipSource({ path: resolve(path), stamp, zip: await openZip(path) }, contents);
    } catch (error) {
      throw fileError("read the archive", path, error);
    }
  }

  async *entries(): AsyncIterable<ImportFile | ImportFolder | ImportProblem> {
    const seen = new Set<string>();
    try {
      for await (const entry of this.archive.zip.eachEntry()) {
        const path = pathIn(this.#root, entry);
        if (path === undefined || !isInDrives(path)) continue;
        if (isFolder(path)) {
          seen.add(path);
          continue;
        }
        const problem = seen.has(path) ? "it is in the archive twice" : problemOf(entry);
        seen.add(path);
        yield problem === undefined ? this.#fileOf(entry, path) : { path, problem };
      }
    } catch (error) {
      throw fileError("read the archive", this.archive.path, error);
    }
    yield* this.#folders(seen);
  }

  [Symbol.dispose](): void {
    this.archive.zip.close();
  }

  /** Lists the folders among these paths, and those that only the index and the paths of files tell of. */
  *#folders(seen: ReadonlySet<string>): Iterable<ImportFolder> {
    // In this order, what is below a folder follows it.
    const listed = [...this.index.keys()].filter(isFolder);
    const paths = [...new Set([...seen, ...listed])].sort();
    for (const [i, path] of paths.entries()) {
      if (!isFolder(path)) continue;
      const isEmpty = !paths[i + 1]?.startsWith(path);
      if (!isEmpty || seen.has(path)) yield { path, isEmpty };
    }
  }

  #fileOf(entry: Entry, path: string): ImportFile {
    const read = () => readEntry(this.archive.zip, entry, path);
    const source = {
      size: entry.uncompressedSize,
      identity: `${this.archive.path}\0${path}`,
      stamp: `${this.archive.stamp} ${entry.crc32}`,
      read,
      // Reading compares size and CRC.
      verify: () => {},
    };
    return { path, size: entry.uncompressedSize, source };
  }
}

/** The path of an index, or in the folder of the drives, at the top of an archive or in a folder of it. */
const EXPORTED = new RegExp(`^([^/]*/)??(${RegExp.escape(INDEX_NAME)}$|${DRIVES_FOLDER}/)`);

/** What a first pass over the directory of an archive finds. */
interface Contents {
  root: string;
  bytes: number;
  index: ReadonlyMap<string, IndexEntry>;
}

/** @throws {ClientError} if the archive has no export, or several. */
async function contentsOf(path: string): Promise<Contents> {
  const zip = await openZip(path);
  try {
    // By the prefix of an export: the bytes in its drives, and its index.
    const bytes = new Map<string, number>();
    const indexes = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) {
      const [, root = "", name] = EXPORTED.exec(pathOf(entry)) ?? [];
      if (name === INDEX_NAME) indexes.set(root, entry);
      else if (name !== undefined) bytes.set(root, (bytes.get(root) ?? 0) + entry.uncompressedSize);
    }
    // An export without files has an empty index and no drives.
    const isAtTop = bytes.has("") || indexes.get("")?.uncompressedSize === 0;
    const [root, ...others] = isAtTop ? [""] : bytes.keys();
    if (root === undefined || others.length > 0) {
      throw noDrives(path, [...bytes.keys()].map((one) => one.slice(0, -1)));
    }
    const found = indexes.get(root);
    const index = found === undefined || problemOf(found) !== undefined
      ? new Map<string, IndexEntry>()
      : await indexBy(readEntry(zip, found, INDEX_NAME), (entry) => entry.path);
    return { root, bytes: bytes.get(root) ?? 0, index };
  } finally {
    zip.close();
  }
}

/** Returns the path of an entry within the export; `undefined` if it is outside of it. */
function pathIn(root: string, entry: Entry): string | undefined {
  const path = pathOf(entry);
  return path.startsWith(root) ? path.slice(root.length) : undefined;
}

/**
 * Opens an archive. Names and sizes are validated here, not by the library, so that one bad entry fails alone.
 *
 * @throws {ClientError} if the file is no archive.
 */
async function openZip(path: string): Promise<ZipFile> {
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: false };
  return await openPromise(path, options).catch((error: Error) => {
    // Only errors of the system have a code.
    if ("code" in error) throw error;
    const problem = "it is no zip archive, or it is damaged";
    throw new ClientError(`Cannot read the archive ${path}: ${problem}`, { cause: error });
  });
}

/** Decodes the name of an entry as UTF-8, even if the archive does not declare it. */
function pathOf({ fileNameRaw }: Entry): string {
  return new TextDecoder().decode(fileNameRaw);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return path.endsWith("/");
}

/** Reports whether an entry is a file or folder of a drive, not something next to the drives. */
function isInDrives(path: string): boolean {
  return path.startsWith(`${DRIVES_FOLDER}/`);
}

function problemOf(entry: Entry): string | undefined {
  if (!isUtf8(entry.fileNameRaw)) return "its path is not UTF-8";
  if ((entry.externalFileAttributes / 0x10000 & KIND) === LINK) return "it is a symbolic link";
  if (entry.isEncrypted()) return "it is encrypted";
  if (!entry.canDecodeFileData()) {
    return `its compression method (${entry.compressionMethod}) is not supported`;
  }
  return undefined;
}

/** Reads an entry, at most as many bytes as it declares. @throws {ClientError} if size or CRC differ. */
async function* readEntry(zip: ZipFile, entry: Entry, path: string): AsyncIterable<Uint8Array> {
  const { uncompressedSize, crc32: expected } = entry;
  let crc = 0;
  let size = 0;
  try {
    for await (const bytes of await zip.openReadStreamPromise(entry)) {
      size += bytes.byteLength;
      if (size > uncompressedSize) break;
      crc = crc32(bytes, crc);
      yield bytes;
    }
  } catch (error) {
    throw fileError("read from the archive", path, error);
  }
  if (size !== uncompressedSize) throw new ClientError("The entry is damaged: wrong size");
  if (crc !== expected) throw new ClientError("The entry is damaged: wrong CRC");
}
