import { errors } from "../../http/http_error.ts";
import { LocalPaths } from "../../rules/archive/local_paths.ts";
import { archiveSize } from "../../rules/archive/zip_records.ts";
import { byteLength, compareNames, MAX_LIST } from "../../rules/names.ts";
import { MIB } from "../../rules/units.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import type { Store } from "../../store/store.ts";

/** The files and folders of one archive: its directory, which comes last, is kept in memory. */
export const MAX_ARCHIVE_ENTRIES = 100_000;

/** The bytes of all names in one archive. */
export const MAX_ARCHIVE_NAMES = 12 * MIB;

/** The files of an archive whose versions are fixed before its first byte, so that its size is known. */
export const MAX_FIXED_FILES = 1000;

/** Memory for a file or folder of an archive besides its name, and for each byte of its name. */
const ENTRY_MEMORY = 200;
const NAME_MEMORY = 3;

/** The files that an archive is asked to have. */
export interface ArchiveSelection {
  project: string;
  drive: string;
  /** Files that must exist. */
  names: readonly string[];
  /** Selects all files whose names begin with one of these; an empty one selects the whole drive. */
  prefixes: readonly string[];
  /** What is cut off the beginning of all names in the archive, such as `"trip/2026/"`. */
  base?: string | undefined;
}

interface FoundFile {
  name: string;
  record: FileRecord;
}

export interface PlannedFile {
  name: string;
  path: string;
  /** As it was found or listed. */
  record: FileRecord;
  /** Whether the archive has the version of the record, and not a later one. */
  isFixed: boolean;
  /** Whether the archive is broken without it. */
  isRequired: boolean;
}

/**
 * The files of an archive. Every name is there once, however often it was asked for.
 *
 * An archive of up to `MAX_FIXED_FILES` files has the versions that were current when it was planned; they are held
 * until the plan is disposed of. A larger one lists its prefixes again while it is sent: a file has the version that is
 * current at that moment, and one that was deleted until then is left out.
 */
export class ArchivePlan implements Disposable {
  readonly #prefixes: readonly string[];
  /** The files that were asked for by names which no prefix selects. */
  readonly #named: FoundFile[] = [];
  #fixed: PlannedFile[] | undefined = [];
  #held: (() => void)[] = [];
  readonly #tally = new Tally();
  #paths = new LocalPaths("windows");

  private constructor(private readonly store: Store, private readonly selection: ArchiveSelection) {
    this.#prefixes = outermost(selection.prefixes);
  }

  /**
   * Finds the files.
   *
   * @throws {HttpError} 404 if a name does not exist, 400 if there are too many files.
   */
  static async make(store: Store, selection: ArchiveSelection): Promise<ArchivePlan> {
    const plan = new ArchivePlan(store, selection);
    try {
      await plan.#findNames();
      for await (const page of plan.#listed()) {
        for (const { name, record } of page) plan.#add(name, record, false);
      }
      plan.#paths = new LocalPaths("windows");
      return plan;
    } catch (error) {
      plan[Symbol.dispose]();
      throw error;
    }
  }

  /** The size of the archive in bytes, if its versions are fixed. */
  get size(): number | undefined {
    const files = this.#fixed?.map(({ path, record: { size } }) => ({ path, size }));
    return files === undefined ? undefined : archiveSize(files);
  }

  /** The memory for sending the archive, in bytes. */
  get memory(): number {
    return this.#tally.entries * ENTRY_MEMORY + this.#tally.bytes * NAME_MEMORY;
  }

  /** Yields the files in their order. To be called once. */
  async *files(): AsyncGenerator<PlannedFile> {
    if (this.#fixed !== undefined) {
      // With `yield*` each file would take twice as many turns of promises.
      for (const file of this.#fixed) yield file;
      return;
    }
    for (const { name, record } of this.#named) {
      yield { name, path: this.#pathOf(name), record, isFixed: false, isRequired: true };
    }
    for await (const page of this.#listed()) {
      for (const { name, record } of page) {
        yield { name, path: this.#pathOf(name), record, isFixed: false, isRequired: false };
      }
    }
  }

  /** Releases the versions. */
  [Symbol.dispose](): void {
    for (const release of this.#held) release();
    this.#held = [];
  }

  async #findNames(): Promise<void> {
    const { project, drive } = this.selection;
    const names = [...new Set(this.selection.names)];
    const records = await Promise.all(
      names.map((name) => this.store.files.reader.stat({ project, drive, name })),
    );
    for (const [i, name] of names.entries()) {
      const record = records[i];
      if (record === undefined) throw errors.fileNotFound(name);
      if (this.#prefixes.some((prefix) => name.startsWith(prefix))) continue;
      this.#named.push({ name, record });
      this.#add(name, record, true);
    }
  }

  /** Yields the files below the prefixes in pages. */
  async *#listed(): AsyncGenerator<FoundFile[]> {
    const { project, drive } = this.selection;
    for (const prefix of this.#prefixes) {
      for (let last = "", more = true; more;) {
        const query = { project, drive, limit: MAX_LIST, prefix, last };
        const page = await this.store.list(query, { recursive: true });
        yield page.entries.flatMap(({ name, record }) =>
          record === undefined ? [] : [{ name, record }]
        );
        last = page.entries.at(-1)?.name ?? last;
        more = page.more;
      }
    }
  }

  #add(name: string, record: FileRecord, isRequired: boolean): void {
    this.#tally.add(name);
    if (this.#fixed === undefined) return;
    if (this.#fixed.length === MAX_FIXED_FILES) {
      this[Symbol.dispose]();
      this.#fixed = undefined;
      return;
    }
    this.#held.push(this.store.files.reader.hold(record));
    this.#fixed.push({ name, path: this.#pathOf(name), record, isFixed: true, isRequired });
  }

  #pathOf(name: string): string {
    const { base = "" } = this.selection;
    return this.#paths.pathFor(name.startsWith(base) ? name.slice(base.length) : name);
  }
}

/** Counts the files and folders of an archive and the bytes of their names. */
class Tally {
  entries = 0;
  bytes = 0;
  #last: string[] = [];

  /** @throws {HttpError} 400 if there are too many. */
  add(name: string): void {
    const segments = name.split("/");
    const isShared = (_: string, i: number) => segments[i] === this.#last[i];
    // Names come in order, so a folder that differs from the last one is new.
    const shared = segments.findIndex((segment, i) => !isShared(segment, i));
    this.entries += segments.length - Math.max(0, shared);
    this.bytes += byteLength(name);
    this.#last = segments.slice(0, -1);
    if (this.entries > MAX_ARCHIVE_ENTRIES) {
      throw errors.archiveTooLarge(`${MAX_ARCHIVE_ENTRIES} files and folders`);
    }
    if (this.bytes > MAX_ARCHIVE_NAMES) {
      throw errors.archiveTooLarge(`${MAX_ARCHIVE_NAMES} bytes of names`);
    }
  }
}

/** Returns the prefixes that do not begin with another one, in the order of their bytes. */
function outermost(prefixes: readonly string[]): string[] {
  const kept: string[] = [];
  for (const prefix of [...prefixes].sort(compareNames)) {
    const last = kept.at(-1);
    if (last === undefined || !prefix.startsWith(last)) kept.push(prefix);
  }
  return kept;
}
