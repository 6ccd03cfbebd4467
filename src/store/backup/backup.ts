import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { sep } from "node:path";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes } from "../../rules/units.ts";
import {
  companionsOf,
  exists,
  fileSize,
  freeName,
  isSameFile,
  syncFile,
  TemporaryFile,
} from "../disk/durable_file.ts";
import { packFiles } from "../disk/kept_files.ts";
import { runInWorker } from "../disk/sqlite.ts";
import { databaseSize, isByteFile } from "../disk/store_files.ts";
import { freeBytesOf } from "../disk/volume.ts";
import { CannotBackUp, DamagedBackup } from "../engine/errors.ts";
import { storeFiles } from "../verify/snapshot.ts";
import { isDatabase } from "./backup_folder.ts";
import { type BackupTask, DONE, newBackupState, STOP, TOTAL } from "./backup_task.ts";

/** Milliseconds between two reports of the progress. */
const PROGRESS_INTERVAL = 100;

/** Receives the pages copied so far, and the pages in all. */
export type OnPages = (done: number, total: number) => void;

export interface BackupOptions {
  /** The store's file. */
  source: string;
  target: string;
  /** The file that gets the copy of a damaged store, and is replaced; a new name beside `target` unless given. */
  damaged?: string;
  /** Whether an existing `target` is replaced. */
  overwrites?: boolean;
  /** Bytes of the disk that must stay free. */
  reserve: number;
  /** Receives the file in which the copy is made. */
  onTemporary?: (path: string) => void;
  onPages?: OnPages;
}

/**
 * One backup: a copy of the store at one moment, made while others read and write. It gets its name once it is on the
 * disk and all its bytes match their checksums. The copy of a damaged store gets another name and replaces no backup.
 */
export class Backup {
  readonly #state = newBackupState();

  constructor(private readonly options: BackupOptions) {}

  /**
   * Makes the backup.
   *
   * @returns Its size in bytes; `undefined` if it was stopped, and then no file is left.
   * @throws {DamagedBackup} if the store is damaged: the copy is under its other name.
   * @throws {CannotBackUp} for any other failure: no file is left.
   */
  async run(): Promise<number | undefined> {
    const { source, target, damaged, overwrites = false } = this.options;
    try {
      await requireTarget(target, source, overwrites);
      using copy = await TemporaryFile.create(target);
      this.options.onTemporary?.(copy.path);
      await this.#requireSpace();
      const damage = await this.#copyTo(copy.path);
      if (damage === undefined) return undefined;
      await packFiles(dirname(source), copy.path);
      await syncFile(copy.path);
      if (damage.length > 0) {
        const path = damaged ?? await freeName(`${target}.damaged`);
        await requireTarget(path, source, damaged !== undefined);
        await copy.rename(path, { replaces: damaged !== undefined });
        throw new DamagedBackup(
          `this copy is no backup and replaces none: it is ${path}`,
          damage,
        );
      }
      await requireTarget(target, source, overwrites);
      await copy.rename(target, { replaces: overwrites });
      return await fileSize(target);
    } catch (error) {
      if (error instanceof CannotBackUp) throw error;
      const reason = failureReason(error);
      throw new CannotBackUp(`Cannot make the backup ${target}: ${reason}`, { cause: error });
    }
  }

  /** Stops the backup soon, or keeps it from starting. */
  stop(): void {
    Atomics.store(this.#state, STOP, 1);
    Atomics.notify(this.#state, STOP);
  }

  /** Copies the store and returns the damage in the copy, one sentence each; `undefined` if it was stopped. */
  async #copyTo(target: string): Promise<string[] | undefined> {
    if (Atomics.load(this.#state, STOP) !== 0) return undefined;
    const { source, onPages } = this.options;
    const url = new URL("./backup_worker.ts", import.meta.url);
    const worker = new Worker(url, { type: "module" });
    const task: BackupTask = { source, target, state: this.#state };
    const timer = setInterval(() => {
      const total = Atomics.load(this.#state, TOTAL);
      if (total > 0) onPages?.(Atomics.load(this.#state, DONE), total);
    }, PROGRESS_INTERVAL);
    try {
      return await runInWorker<BackupTask, string[] | undefined>(worker, task);
    } finally {
      clearInterval(timer);
    }
  }

  /** @throws {CannotBackUp} if the copy could fill the disk. */
  async #requireSpace(): Promise<void> {
    const { source, target, reserve } = this.options;
    const needed = await databaseSize(storeFiles(source)) ?? 0;
    const folder = dirname(target);
    const free = await freeBytesOf(folder)();
    if (free === undefined || free - reserve >= needed) return;
    throw new CannotBackUp(
      `The disk of ${folder} has ${formatBytes(free)} free, and ${formatBytes(reserve)} ` +
        `must stay free: a backup may need ${formatBytes(needed)}`,
    );
  }
}

/**
 * Checks that a backup under this name destroys nothing, also through links on its path.
 *
 * @throws {CannotBackUp} if it would replace the store, a file of its folder, or without `overwrites` any other; if it is
 * no regular file; or if SQLite has files beside it, whose content would become part of the backup.
 */
async function requireTarget(target: string, source: string, overwrites: boolean): Promise<void> {
  const refuse = (problem: string): never => {
    throw new CannotBackUp(`Cannot create the backup ${target}: ${problem}`);
  };
  const folder = await Deno.realPath(dirname(target)).catch((error: unknown): never => {
    const reason = failureReason(error);
    return refuse(`its folder cannot be used (${reason}). Create it, or choose another folder`);
  });
  const path = join(folder, basename(target));
  const store = await Promise.all(storeFiles(source).map((file) => Deno.realPath(file)));
  if (isStoreName(path, store)) refuse("it is the store itself. Choose another file");
  const found = await Deno.lstat(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (found?.isSymlink) {
    refuse("it is a symbolic link. Choose another file, or name the file itself");
  }
  if (/[\\/]$/.test(target) || found?.isFile === false) {
    refuse("it is not a regular file. Choose another name");
  }
  for (const file of store) {
    if (found === undefined || !await isSameFile(path, file)) continue;
    refuse("it is the store itself. Choose another file");
  }
  for (const companion of companionsOf(path)) {
    if (!await exists(companion)) continue;
    refuse(
      `there is ${companion}, which would become part of it. Choose another name, or remove that ` +
        "file if no program uses it",
    );
  }
  if (found === undefined) return;
  if (!overwrites) {
    throw new CannotBackUp(
      `${target} already exists: choose another name, or replace it with --force`,
    );
  }
  const folders = [...store.map(dirname), await Deno.realPath(dirname(source))];
  const isInside = folders.some((data) => (folder + sep).startsWith(data + sep));
  if (isInside && (isByteFile(path) || !await isDatabase(path))) {
    refuse("it belongs to the store. Choose another file");
  }
}

/** Returns whether a name is that of a file of the store, or of one that SQLite has beside it. */
function isStoreName(path: string, store: readonly string[]): boolean {
  // Some file systems ignore case.
  return store.flatMap((file) => [file, ...companionsOf(file)])
    .some((name) => name.toLowerCase() === path.toLowerCase());
}
