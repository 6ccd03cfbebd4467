import { dirname } from "@std/path/dirname";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes } from "../../rules/units.ts";
import { exists, fileSize, syncFile, TemporaryFile } from "../disk/durable_file.ts";
import { packFiles } from "../disk/kept_files.ts";
import { runInWorker } from "../disk/sqlite.ts";
import { freeBytesOf } from "../disk/volume.ts";
import { BackupInProgress, CannotBackUp, DamagedBackup } from "../engine/errors.ts";
import { type BackupTask, DONE, newBackupState, STOP, TOTAL } from "./backup_task.ts";

/** Milliseconds between two reports of the progress. */
const PROGRESS_INTERVAL = 100;

/** Receives the pages copied so far, and the pages in all. */
export type OnPages = (done: number, total: number) => void;

export interface BackupOptions {
  /** The store's file. */
  source: string;
  /** The file of the backup. */
  target: string;
  /** The file under which the copy is made, in the same folder; `temporaryNameOf(target)` unless given. */
  temporary?: string;
  /** The file that gets the copy of a damaged store instead of `target`; `target` and ".damaged" unless given. */
  damaged?: string;
  /** Whether an existing `target` is replaced. */
  overwrites?: boolean;
  /** Asked once no other process can make the same backup; `false` ends this one. */
  isWanted?: () => Promise<boolean>;
  /** Bytes of the disk that must stay free. */
  reserve: number;
  onPages?: OnPages;
}

/** Returns the name under which a backup is made unless its options name another. */
export function temporaryNameOf(target: string): string {
  return `${target}.part`;
}

/**
 * One backup: a copy of the store at one moment, made while others read and write. It gets its name once it is on the
 * disk and all its bytes match their checksums. The copy of a damaged store gets another name and replaces no backup.
 */
export class Backup {
  readonly #options: BackupOptions;
  readonly #state = newBackupState();

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /**
   * Makes the backup.
   *
   * @returns Its size in bytes; `undefined` if it was stopped or is not wanted any more, and then no file is left.
   * @throws {DamagedBackup} if the store is damaged: the copy is under its other name.
   * @throws {CannotBackUp} for any other failure: no file is left.
   * @throws {BackupInProgress} if another process makes a backup under the same temporary name.
   */
  async run(): Promise<number | undefined> {
    const { target, temporary = temporaryNameOf(target), overwrites = false } = this.#options;
    try {
      if (!overwrites) await requireAbsent(target);
      await this.#requireSpace();
      using claimed = await TemporaryFile.claim(temporary);
      if (claimed === undefined) {
        throw new BackupInProgress(`Another backup is being made: ${temporary}`);
      }
      try {
        if (await this.#options.isWanted?.() === false) return undefined;
        const damage = await this.#copyTo(temporary);
        if (damage === undefined) return undefined;
        await packFiles(dirname(this.#options.source), temporary);
        await syncFile(temporary);
        if (damage.length > 0) {
          const { damaged = `${target}.damaged` } = this.#options;
          await claimed.rename(damaged);
          throw new DamagedBackup(damaged, damage);
        }
        if (!overwrites) await requireAbsent(target);
        await claimed.rename(target);
        return await fileSize(target);
      } finally {
        claimed.remove();
      }
    } catch (error) {
      if (error instanceof CannotBackUp || error instanceof BackupInProgress) throw error;
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
    const { source, onPages } = this.#options;
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
    const { source, target, reserve } = this.#options;
    const needed = (await fileSize(source) ?? 0) + (await fileSize(`${source}-wal`) ?? 0);
    const folder = dirname(target);
    const free = await freeBytesOf(folder)();
    if (free === undefined || free - reserve >= needed) return;
    throw new CannotBackUp(
      `The disk of ${folder} has ${formatBytes(free)} free, and ${formatBytes(reserve)} ` +
        `must stay free: a backup may need ${formatBytes(needed)}`,
    );
  }
}

/** @throws {CannotBackUp} if the file exists. */
async function requireAbsent(path: string): Promise<void> {
  if (!await exists(path)) return;
  throw new CannotBackUp(
    `${path} already exists: choose another name, or replace it with --force`,
  );
}
