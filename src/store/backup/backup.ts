import { dirname } from "@std/path";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes } from "../../rules/units.ts";
import { exists, fileSize, syncFile, TemporaryFile } from "../disk/durable_file.ts";
import { freeBytesOf } from "../disk/volume.ts";
import { BackupRuns, CannotBackUp, DamagedBackup } from "../engine/errors.ts";
import {
  type BackupAnswer,
  type BackupTask,
  DONE,
  newBackupState,
  STOP,
  TOTAL,
} from "./backup_task.ts";

/** How often a backup is asked how far it is. */
const BACKUP_POLL = 100;

/** Told how many pages of how many are copied. */
export type OnPages = (done: number, total: number) => void;

export interface BackupOptions {
  /** The store's file. */
  source: string;
  /** Where the copy is to be. */
  target: string;
  /** The name under which the copy is made, in the same folder; `target` and an ending unless given. */
  temporary?: string;
  /** Where the copy of a damaged store goes in place of `target`; `target` and an ending unless given. */
  damaged?: string;
  /** Whether a file that is there already is replaced. */
  overwrites?: boolean;
  /** Asked when no other process can make one at the same time; `false` ends it. */
  isWanted?: () => Promise<boolean>;
  /** Bytes of the disk that have to stay free. */
  reserve: number;
  onPages?: OnPages;
}

/** The name of a copy that is being made. */
export function temporaryNameOf(target: string): string {
  return `${target}.part`;
}

/** The name of a copy of a damaged store. */
function damagedNameOf(target: string): string {
  return `${target}.damaged`;
}

/**
 * A copy of the store as it is at one moment, made while others read and write. The name shows the copy once it is on the
 * disk and all its bytes match their checksums. The copy of a damaged store gets another name and replaces no backup.
 */
export class Backup {
  readonly #options: BackupOptions;
  readonly #state = newBackupState();

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  /**
   * Makes the copy and gives its size in bytes; `undefined` where it was stopped or is not wanted any more, and nothing is left then.
   *
   * @throws {DamagedBackup} where the store is damaged: the copy has its other name then.
   * @throws {CannotBackUp} where it cannot be made; nothing is left then either.
   * @throws {BackupRuns} where another process makes one under the same temporary name.
   */
  async run(): Promise<number | undefined> {
    const { target, temporary = temporaryNameOf(target), overwrites = false } = this.#options;
    try {
      if (!overwrites) await demandAbsent(target);
      await this.#demandRoom();
      using claimed = await TemporaryFile.claim(temporary);
      if (claimed === undefined) throw new BackupRuns(`Another backup is being made: ${temporary}`);
      try {
        if (await this.#options.isWanted?.() === false) return undefined;
        const damage = await this.#copyTo(temporary);
        if (damage === undefined) return undefined;
        await syncFile(temporary);
        if (damage.length > 0) {
          const { damaged = damagedNameOf(target) } = this.#options;
          await claimed.rename(damaged);
          throw new DamagedBackup(damaged, damage);
        }
        if (!overwrites) await demandAbsent(target);
        await claimed.rename(target);
        return await fileSize(target);
      } finally {
        claimed.remove();
      }
    } catch (error) {
      if (error instanceof CannotBackUp || error instanceof BackupRuns) throw error;
      const reason = failureReason(error);
      throw new CannotBackUp(`Cannot make the backup ${target}: ${reason}`, { cause: error });
    }
  }

  /** Ends it soon, where it runs, and lets it not begin any more. */
  stop(): void {
    Atomics.store(this.#state, STOP, 1);
    Atomics.notify(this.#state, STOP);
  }

  /** Gives what is damaged in the copy, a sentence each without its end; `undefined` where it was stopped. */
  async #copyTo(target: string): Promise<string[] | undefined> {
    if (Atomics.load(this.#state, STOP) !== 0) return undefined;
    const worker = new Worker(new URL("./backup_worker.ts", import.meta.url), { type: "module" });
    const { promise, resolve, reject } = Promise.withResolvers<BackupAnswer>();
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    const { source, onPages } = this.#options;
    const timer = setInterval(() => {
      const total = Atomics.load(this.#state, TOTAL);
      if (total > 0) onPages?.(Atomics.load(this.#state, DONE), total);
    }, BACKUP_POLL);
    try {
      worker.postMessage({ source, target, state: this.#state } satisfies BackupTask);
      const { error, stopped = false, damage = [] } = await promise;
      if (error !== undefined) throw new Error(error);
      return stopped ? undefined : damage;
    } finally {
      clearInterval(timer);
      worker.terminate();
    }
  }

  async #demandRoom(): Promise<void> {
    const { source, target, reserve } = this.#options;
    const needed = (await fileSize(source) ?? 0) + (await fileSize(`${source}-wal`) ?? 0);
    const folder = dirname(target);
    const free = await freeBytesOf(folder)();
    if (free === undefined || free - reserve >= needed) return;
    throw new CannotBackUp(
      `The disk of ${folder} has ${formatBytes(free)} free, and ${
        formatBytes(reserve)
      } must stay free: ` +
        `a backup may need ${formatBytes(needed)}`,
    );
  }
}

async function demandAbsent(path: string): Promise<void> {
  if (!await exists(path)) return;
  throw new CannotBackUp(
    `${path} is there already: choose another name, or replace it with --force`,
  );
}
