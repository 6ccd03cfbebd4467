import { createHash } from "node:crypto";
import { Semaphore } from "../../rules/concurrency.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import { parseUtcTime } from "../../rules/dates.ts";
import { driveNameProblem, fileNameProblem, folderNameProblem } from "../../rules/names.ts";
import { copyVersion } from "../download.ts";
import { copyTime, type FileInfo, type RemoteDrives, sha256OfStream } from "../drives.ts";
import { ClientError, hasStatus, isFileChanged } from "../errors.ts";
import { isSameTime, type Source } from "../local_files.ts";
import { forEachConcurrent, type Outcome, type TransferReport, TRANSFERS } from "../transfers.ts";
import { stateKey, upload, type UploadStates } from "../upload.ts";
import { DRIVES_FOLDER, type IndexEntry } from "./index.ts";

export interface ImportOptions {
  /** The only drive to import; all drives unless given. */
  drive?: string;
  /** Whether other files of the same names are replaced. */
  force: boolean;
  states: UploadStates;
}

export interface ImportFile {
  /** Relative to the folder of the index, with slashes. */
  path: string;
  /** Bytes. */
  size: number;
  source: Source;
}

export interface ImportFolder {
  /** As that of a file, with a slash at its end. */
  path: string;
  /** Whether nothing is in it. */
  isEmpty: boolean;
}

/** An entry of an export that cannot be a file of a drive, or cannot be read. */
export interface ImportProblem {
  path: string;
  problem: string;
  /** Whether it counts as failed; else it is skipped. */
  hasFailed?: boolean;
}

/** An export: a folder or an archive. */
export interface ImportSource {
  /** Bytes of all files. */
  readonly bytes: number;
  /** The entries of its index, by path. */
  readonly index: ReadonlyMap<string, IndexEntry>;
  entries(): AsyncIterable<ImportFile | ImportFolder | ImportProblem>;
}

/** Copies an export into drives. The failure of a single file is reported, and the others are copied. */
export async function importDrives(
  drives: RemoteDrives,
  source: ImportSource,
  report: TransferReport,
  options: ImportOptions,
): Promise<void> {
  const slots = new Semaphore(TRANSFERS);
  const found = new Set<string>();
  let hasDrive = options.drive === undefined;
  await forEachConcurrent(source.entries(), TRANSFERS, async (file) => {
    found.add(file.path);
    const place = destinationOf(file, source.index);
    if ("isEmpty" in file && !isKept(file, place)) return;
    if (options.drive !== undefined && place.drive !== options.drive) return;
    hasDrive = true;
    await report.attempt(place.drive, place.name, async (onBytes) => {
      if ("problem" in file) {
        if (file.hasFailed) throw new ClientError(file.problem);
        return { kind: "skipped", reason: file.problem };
      }
      if (place.known?.problem !== undefined) throw new ClientError(place.known.problem);
      const reason = problemOf(place);
      if (reason !== undefined) return { kind: "skipped", reason };
      if (!("isEmpty" in file)) {
        return await new FileImport(drives, file, place, { ...options, slots }).run(onBytes);
      }
      await drives.createFolder(place.drive, place.name);
      return { kind: "folder" };
    });
  });
  for (const { drive, name, path } of source.index.values()) {
    const isMissing = !found.has(path) && (options.drive ?? drive) === drive;
    hasDrive ||= drive === options.drive;
    if (!isMissing) continue;
    const reason = `the index lists ${path}, which does not exist`;
    report.count(drive, name, { kind: "skipped", reason });
  }
  if (!hasDrive) throw new ClientError(`The export has no drive "${options.drive}"`);
}

/**
 * Returns the error of a folder or archive without an export, or with several.
 *
 * @param found The folders in it that have an export.
 */
export function noDrives(place: string, found: readonly string[]): ClientError {
  return new ClientError(
    found.length > 1
      ? `${place} has several exports (${found.toSorted().join(", ")}): import them one by one`
      : `${place} has no folder "${DRIVES_FOLDER}": an export has its files at ${DRIVES_FOLDER}/DRIVE/FILE`,
  );
}

/** The file or folder of a drive that one of an export becomes. */
interface Destination {
  drive: string;
  name: string;
  type: string;
  known: IndexEntry | undefined;
}

/** Returns the destination by the index, else by the path. */
function destinationOf(
  { path }: ImportFile | ImportFolder | ImportProblem,
  index: ReadonlyMap<string, IndexEntry>,
): Destination {
  const known = index.get(path);
  const [, drive = "", ...segments] = path.split("/");
  const place = known ?? { drive, name: segments.join("/") };
  const type = known?.content_type || contentTypeOf(place.name);
  return { drive: place.drive, name: place.name, type, known };
}

function problemOf({ drive, name }: Destination): string | undefined {
  const driveProblem = driveNameProblem(drive);
  if (driveProblem !== undefined) return `The drive name ${driveProblem}`;
  // A file next to the folders of the drives.
  if (name === "") return "it is in no drive";
  const [kind, problem] = name.endsWith("/")
    ? ["folder", folderNameProblem(name)]
    : ["file", fileNameProblem(name)];
  return problem && `The ${kind} name ${problem}`;
}

/** Reports whether a folder is to be kept: one that was kept in its drive, or that would be lost without files. */
function isKept({ isEmpty }: ImportFolder, { name, known }: Destination): boolean {
  return known !== undefined || (isEmpty && name !== "");
}

function mtimeOf({ mtime }: IndexEntry): number | undefined {
  return parseUtcTime(mtime ?? "");
}

class FileImport {
  constructor(
    private readonly drives: RemoteDrives,
    private readonly file: ImportFile,
    private readonly place: Destination,
    private readonly options: ImportOptions & { slots: Semaphore },
  ) {}

  async run(onBytes: (count: number) => void): Promise<Outcome> {
    const { drive, name } = this.place;
    const there = await this.drives.stat(drive, name);
    if (there !== undefined && await this.#isSame(there)) {
      return { kind: "unchanged", bytes: this.file.size };
    }
    const target = { drives: this.drives, drive, name };
    try {
      const { size } = await upload(target, this.file.source, {
        ...this.options,
        type: this.place.type,
        mtime: this.#mtime,
        isNew: !this.options.force,
        remembersVersion: true,
        onBytes,
      });
      return { kind: "transferred", bytes: size };
    } catch (error) {
      if (!hasStatus(error, 412)) throw error;
      throw new ClientError(`${error.message}: --force replaces it`);
    }
  }

  /** The client time of the exported file. A file that is not in the index was not exported from here: it has its own. */
  get #mtime(): number | undefined {
    const { known } = this.place;
    return known === undefined ? this.file.source.modified : mtimeOf(known);
  }

  /** Reports whether the drive has this file, as cheaply as possible. */
  async #isSame(there: FileInfo): Promise<boolean> {
    const { source, size } = this.file;
    const { type, known } = this.place;
    const exported = known && { modified: Date.parse(known.modified), mtime: mtimeOf(known) };
    if (there.size !== size || there.type !== type) return false;
    if (there.sha256 !== undefined) return await sha256OfStream(source.read()) === there.sha256;
    // The local file came from this drive and was not changed since.
    const isUntouched = exported !== undefined && known?.etag === there.etag &&
      source.modified !== undefined && isSameTime(source.modified, copyTime(exported));
    if (isUntouched) return true;
    const key = stateKey({ drives: this.drives, ...this.place }, source, type);
    if (await this.options.states.storedVersion(key, source.stamp) === there.etag) return true;
    // Comparing costs a download. With --force, an upload is as good.
    return !this.options.force && await this.#hasSameBytes(there);
  }

  async #hasSameBytes(there: FileInfo): Promise<boolean> {
    const hash = createHash("sha256");
    const { drive } = this.place;
    try {
      const from = { drives: this.drives, drive, file: there };
      await copyVersion(from, 0, (bytes) => void hash.update(bytes));
    } catch (error) {
      if (isFileChanged(error)) return false;
      throw error;
    }
    return hash.digest("base64") === await sha256OfStream(this.file.source.read());
  }
}
