import { resolve } from "@std/path";
import { crc32 } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ClientError, fileError } from "../errors.ts";
import { type ImportFile, type ImportProblem, type ImportSource, noDrives } from "./import.ts";
import { DRIVES_FOLDER, INDEX_NAME, indexBy, type IndexEntry } from "./index.ts";

/** The highest compression of deflate; an archive that claims more has one stretch of bytes for many files. */
const MAX_DEFLATE_RATIO = 1032;

// Reads archives by the directory at their end alone, with 64-bit fields and bounded memory; it has been kept for ten years,
// and has no code but JavaScript. Archives come from anywhere, so a tried reader is worth more than
// one of our own.

/** The kind of a file in the attributes of UNIX, and that of a link. */
const KIND = 0o170000;
const LINK = 0o120000;

/** An export in a zip archive. Nothing of it is written to this machine's file system, whatever its paths are. */
export class ZipSource implements ImportSource, Disposable {
  readonly bytes: number;
  readonly index: ReadonlyMap<string, IndexEntry>;
  readonly #path: string;
  readonly #stamp: string;
  readonly #zip: ZipFile;
  /** What the paths of the export begin with: "", or a folder around it. */
  readonly #root: string;

  private constructor(
    { path, stamp, zip }: { path: string; stamp: string; zip: ZipFile },
    { root, bytes, index }: Contents,
  ) {
    this.#path = path;
    this.#stamp = stamp;
    this.#zip = zip;
    this.#root = root;
    this.bytes = bytes;
    this.index = index;
  }

  /** @throws {ClientError} where it is no archive, or one that lies. */
  static async open(path: string): Promise<ZipSource> {
    try {
      const { size, mtime } = await Deno.stat(path);
      const stamp = `${size} ${mtime?.getTime() ?? 0}`;
      const contents = await contentsOf(path);
      // Where few bytes are many files, each of them would be sent.
      if (contents.bytes > size * MAX_DEFLATE_RATIO) {
        throw new ClientError(`The archive ${path} claims more bytes than can be in it`);
      }
      return new ZipSource({ path: resolve(path), stamp, zip: await openZip(path) }, contents);
    } catch (error) {
      throw fileError("read the archive", path, error);
    }
  }

  async *files(): AsyncIterable<ImportFile | ImportProblem> {
    const seen = new Set<string>();
    try {
      for await (const entry of this.#zip.eachEntry()) {
        const path = pathIn(this.#root, entry);
        if (path === undefined || !isFile(path)) continue;
        const problem = seen.has(path) ? "it is in the archive twice" : problemOf(entry);
        seen.add(path);
        yield problem === undefined ? this.#fileOf(entry, path) : { path, problem };
      }
    } catch (error) {
      throw fileError("read the archive", this.#path, error);
    }
  }

  [Symbol.dispose](): void {
    this.#zip.close();
  }

  #fileOf(entry: Entry, path: string): ImportFile {
    const read = () => readEntry(this.#zip, entry, path);
    const source = {
      size: entry.uncompressedSize,
      identity: `${this.#path}\0${path}`,
      stamp: `${this.#stamp} ${entry.crc32}`,
      read,
      // Size and CRC were compared while it was read.
      verify: () => Promise.resolve(),
    };
    return { path, size: entry.uncompressedSize, source };
  }
}

/** What is known of an archive before its files are read. */
interface Contents {
  root: string;
  bytes: number;
  index: ReadonlyMap<string, IndexEntry>;
}

async function contentsOf(path: string): Promise<Contents> {
  const root = await rootOf(path);
  const zip = await openZip(path);
  try {
    let bytes = 0;
    let index = new Map<string, IndexEntry>();
    for await (const entry of zip.eachEntry()) {
      const name = pathIn(root, entry);
      if (name === INDEX_NAME && problemOf(entry) === undefined) {
        index = await indexBy(readEntry(zip, entry, name), ({ path }) => path);
      } else if (name !== undefined && isFile(name)) {
        bytes += entry.uncompressedSize;
      }
    }
    return { root, bytes, index };
  } finally {
    zip.close();
  }
}

/** Where an archive has its drives: at the top, or in the only folder that has some. @throws {ClientError} */
async function rootOf(path: string): Promise<string> {
  const zip = await openZip(path);
  const found = new Set<string>();
  try {
    for await (const entry of zip.eachEntry()) {
      const name = pathOf(entry);
      if (name.startsWith(`${DRIVES_FOLDER}/`)) return "";
      // An export of no files has an index and no drives.
      if (name === INDEX_NAME && entry.uncompressedSize === 0) return "";
      const [folder = "", below] = name.split("/", 2);
      if (below === DRIVES_FOLDER && name !== `${folder}/${below}`) found.add(folder);
    }
  } finally {
    zip.close();
  }
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw noDrives(path, [...found]);
  return `${only}/`;
}

/** The path of an entry in the export; `undefined` where it lies beside it. */
function pathIn(root: string, entry: Entry): string | undefined {
  const path = pathOf(entry);
  return path.startsWith(root) ? path.slice(root.length) : undefined;
}

/** Names and sizes are judged by us: an entry that lies is reported, and the others are taken. */
async function openZip(path: string): Promise<ZipFile> {
  return await openPromise(path, {
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: false,
  });
}

/** Names are UTF-8, whether the archive says so or not. */
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

/** Folders are entries as well, and other things may be beside the drives. */
function isFile(path: string): boolean {
  return path.startsWith(`${DRIVES_FOLDER}/`) && !path.endsWith("/");
}

function problemOf(entry: Entry): string | undefined {
  if (!isUtf8(entry.fileNameRaw)) return "its path is not UTF-8";
  if ((entry.externalFileAttributes / 0x10000 & KIND) === LINK) return "it is a symbolic link";
  if (entry.isEncrypted()) return "it is encrypted";
  if (!entry.canDecodeFileData()) {
    return `it is compressed in a way that is not known here (${entry.compressionMethod})`;
  }
  return undefined;
}

/** The bytes of an entry, no more of them than it is said to have. */
async function* readEntry(zip: ZipFile, entry: Entry, path: string): AsyncIterable<Uint8Array> {
  const { uncompressedSize, crc32: wanted } = entry;
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
  if (size !== uncompressedSize) throw new ClientError("It is damaged: it has another size");
  if (crc !== wanted) throw new ClientError("It is damaged: its CRC is another one");
}
