import { copyVersion, type DownloadSource } from "../download.ts";
import { copyTime, type DriveInfo, type FileInfo, type RemoteDrives } from "../drives.ts";
import { ClientError, fileChanged, fileError, isFatal } from "../errors.ts";
import { forEachConcurrent, type Outcome, type TransferReport, withVersion } from "../transfers.ts";
import {
  DRIVES_FOLDER,
  fileKey,
  folderEntry,
  INDEX_NAME,
  type IndexEntry,
  indexEntry,
  indexLine,
} from "./index.ts";
import { createHash } from "node:crypto";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { linesOf, openPlainFile, readFile, writeAll } from "../local_files.ts";
import { LocalPaths } from "../../rules/archive/local_paths.ts";
import { type WrittenEntry, ZipWriter } from "./zip_writer.ts";

/** The destination of an export: a folder or an archive. */
export interface ExportTarget {
  /** Files that may be added concurrently. */
  readonly concurrency: number;
  /** Reports whether the target has this version of a file. */
  has(drive: string, file: FileInfo): Promise<boolean>;
  /** Fetches a file. @throws {KvdriveError} with the code `file_changed` if the version no longer exists. */
  add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void>;
  /** Keeps a folder, whose name ends with a slash. */
  addFolder(drive: string, name: string): Promise<void>;
  /** Returns the files and folders of an earlier export of a drive that are no longer in the drive. */
  obsolete(drive: string): IndexEntry[];
  /** Completes the export. */
  finish(): Promise<void>;
}

/** Copies drives to a target. The failure of a single file is reported, and the others are copied. */
export async function exportDrives(
  drives: RemoteDrives,
  target: ExportTarget,
  chosen: readonly DriveInfo[],
  report: TransferReport,
): Promise<void> {
  for (const { name: drive } of chosen) {
    try {
      await forEachConcurrent(drives.listFiles(drive, ""), target.concurrency, async (file) => {
        await exportFile(target, { drives, drive, file }, report);
      });
      for await (const name of drives.listFolders(drive)) {
        await report.attempt(drive, name, async () => {
          await target.addFolder(drive, name);
          return { kind: "folder" };
        });
      }
      for (const { name, path } of target.obsolete(drive)) {
        const reason = `it is no longer in the drive; its copy stays in ${path}`;
        report.count(drive, name, { kind: "skipped", reason });
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      report.fail(drive, "", error);
    }
  }
  await target.finish();
}

async function exportFile(
  target: ExportTarget,
  source: DownloadSource,
  report: TransferReport,
): Promise<void> {
  const { drive, file: { name } } = source;
  await report.attempt(drive, name, async (onBytes) => {
    const outcome = await withVersion<Outcome>(source, onBytes, async (file, onBytes) => {
      const { size: bytes } = file;
      if (await target.has(drive, file)) return { kind: "unchanged", bytes };
      await target.add(drive, file, onBytes);
      return { kind: "transferred", bytes };
    });
    return outcome ?? { kind: "skipped", reason: "it was deleted during the export" };
  });
}

/** A file or folder in an incomplete archive: one line of its journal. */
interface Journaled {
  index: IndexEntry;
  entry: WrittenEntry;
}

/** The first line of a journal: other files are not touched. */
const JOURNAL_HEADER = new TextEncoder().encode("kvdrive export\n");

/**
 * Exports to a zip archive, with the same files and index as an export to a folder. Until it is complete it is named
 * `.part` and has a journal; repeated, it resumes after the last complete file.
 */
export class ZipTarget implements ExportTarget {
  /** An archive is written sequentially. */
  readonly concurrency = 1;
  readonly #writer: ZipWriter;
  readonly #paths = new LocalPaths("portable");
  /** By drive and name. */
  readonly #files = new Map<string, Journaled>();
  readonly #seen = new Set<string>();

  private constructor(
    private readonly drives: RemoteDrives,
    private readonly path: string,
    private readonly file: Deno.FsFile,
    private readonly journal: Deno.FsFile,
  ) {
    this.#writer = new ZipWriter(file);
  }

  /** Creates or resumes an archive. @throws {ClientError} if that fails, or without `force` if the archive exists. */
  static async open(
    drives: RemoteDrives,
    path: string,
    { force }: { force: boolean },
  ): Promise<ZipTarget> {
    const start = await startOf(path, 2);
    if (!force && start !== undefined) {
      throw new ClientError(`The archive ${path} exists: choose another name, or add --force`);
    }
    if (start !== undefined && !["", "PK"].includes(start)) {
      throw new ClientError(
        `${path} is no zip archive, so it is not replaced: choose another name`,
      );
    }
    await requireOwn(path);
    try {
      const file = await openPlainFile(partOf(path));
      const journal = await openPlainFile(journalOf(path));
      const target = new ZipTarget(drives, path, file, journal);
      await target.#resume();
      return target;
    } catch (error) {
      throw fileError("write", path, error);
    }
  }

  has(drive: string, file: FileInfo): Promise<boolean> {
    const key = fileKey({ drive, name: file.name });
    this.#seen.add(key);
    return Promise.resolve(this.#files.get(key)?.index.etag === file.etag);
  }

  async add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void> {
    const key = fileKey({ drive, name: file.name });
    const path = this.#files.get(key)?.index.path ??
      this.#paths.pathFor(`${DRIVES_FOLDER}/${drive}/${file.name}`);
    const about = { path, size: file.size, modified: copyTime(file) };
    const entry = await this.#writer.add(about, async (take) => {
      await this.#copy(drive, file, async (bytes) => {
        await take(bytes);
        onBytes(bytes.byteLength);
      });
    });
    await this.#note({ index: indexEntry(drive, file, path), entry });
  }

  async addFolder(drive: string, name: string): Promise<void> {
    const key = fileKey({ drive, name });
    this.#seen.add(key);
    if (this.#files.has(key)) return;
    const path = this.#paths.folderFor(`${DRIVES_FOLDER}/${drive}/${name}`);
    const about = { path, size: 0, modified: Date.now() };
    const entry = await this.#writer.add(about, () => Promise.resolve());
    await this.#note({ index: folderEntry(drive, name, path), entry });
  }

  /** Files that left the drive are not listed in the archive's directory. */
  obsolete(): IndexEntry[] {
    return [];
  }

  async finish(): Promise<void> {
    const files = [...this.#files].flatMap(([key, one]) => this.#seen.has(key) ? [one] : []);
    const encoder = new TextEncoder();
    const lines = () => files.map(({ index }) => encoder.encode(indexLine(index)));
    const size = lines().reduce((sum, line) => sum + line.byteLength, 0);
    const about = { path: INDEX_NAME, size, modified: Date.now() };
    const index = await this.#writer.add(about, async (take) => {
      for (const line of lines()) await take(line);
    });
    await this.#writer.finish([...files.map(({ entry }) => entry), index]);
    await Deno.rename(partOf(this.path), this.path);
    await Deno.remove(journalOf(this.path));
  }

  [Symbol.dispose](): void {
    this.file.close();
    this.journal.close();
  }

  async #resume(): Promise<void> {
    const journaled: Journaled[] = [];
    let isHeader = true;
    for await (const line of linesOf(readFile(journalOf(this.path)))) {
      const one = isHeader ? undefined : parseJournaled(line);
      if (one !== undefined) journaled.push(one);
      else if (!isHeader) break;
      isHeader = false;
    }
    const sound = await this.#writer.resume(journaled.map(({ entry }) => entry));
    await writeAll(this.journal, JOURNAL_HEADER);
    await this.journal.truncate(JOURNAL_HEADER.byteLength);
    for (const one of journaled.slice(0, sound.length)) {
      this.#paths.reserve(one.index.path);
      await this.#note(one);
    }
  }

  async #note(one: Journaled): Promise<void> {
    this.#files.set(fileKey(one.index), one);
    await this.journal.write(new TextEncoder().encode(indexLine(one)));
  }

  /** Copies a file's bytes. Files that were uploaded in one request have a digest, which is compared. */
  async #copy(
    drive: string,
    file: FileInfo,
    take: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const hash = file.size > MAX_PAYLOAD ? undefined : createHash("sha256");
    const sha256 = await copyVersion({ drives: this.drives, drive, file }, 0, async (bytes) => {
      hash?.update(bytes);
      await take(bytes);
    });
    if (hash !== undefined && sha256 !== undefined && hash.digest("base64") !== sha256) {
      throw fileChanged("The downloaded bytes do not match the server's SHA-256");
    }
  }
}

function partOf(path: string): string {
  return `${path}.part`;
}

function journalOf(path: string): string {
  return `${path}.part.jsonl`;
}

/** @throws {ClientError} if another program's file has the name of an unfinished archive or of its journal. */
async function requireOwn(path: string): Promise<void> {
  const header = new TextDecoder().decode(JOURNAL_HEADER);
  const journal = await startOf(journalOf(path), header.length) ?? "";
  if (journal !== "" && journal !== header) throw notOwn(journalOf(path));
  const file = await startOf(partOf(path), 1) ?? "";
  if (file !== "" && journal === "") throw notOwn(partOf(path));
}

function notOwn(path: string): ClientError {
  return new ClientError(`${path} is no unfinished export of kvdrive: rename or remove it`);
}

/** Returns the first bytes of a file as text; `undefined` if there is none. */
async function startOf(path: string, bytes: number): Promise<string | undefined> {
  try {
    await Deno.lstat(path);
    using file = await openPlainFile(path);
    const start = new Uint8Array(bytes);
    return new TextDecoder().decode(start.subarray(0, await file.read(start) ?? 0));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw fileError("read", path, error);
  }
}

function parseJournaled(line: string): Journaled | undefined {
  try {
    const one = JSON.parse(line) as Partial<Journaled>;
    return one.index === undefined || one.entry === undefined ? undefined : one as Journaled;
  } catch {
    // A crash may have cut the last line off.
    return undefined;
  }
}
