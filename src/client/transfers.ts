import { Semaphore } from "../rules/concurrency.ts";
import type { DownloadSource } from "./download.ts";
import type { FileInfo } from "./drives.ts";
import { isFatal, isFileChanged } from "./errors.ts";

/** Files, or parts of files, in transfer at once: 4 × 10 MB of memory. */
export const TRANSFERS = 4;

/** A file that was not transferred, and why. */
export interface Remark {
  drive: string;
  name: string;
  reason: string;
}

/** Receives counts of bytes as they are transferred; negative ones if they have to be sent again. */
export type OnBytes = (count: number) => void;

export interface TransferEvents {
  /** A file is started. */
  onFile?: (drive: string, name: string) => void;
  /** Bytes were transferred; negative if they have to be sent again. */
  onBytes?: OnBytes;
  /** A file was skipped, or failed. */
  onRemark?: (kind: "skipped" | "failed", remark: Remark) => void;
}

export class TransferReport {
  /** Transferred files, and their bytes. */
  done = 0;
  bytes = 0;
  /** Files that were up to date. */
  unchanged = 0;
  /** Folders that were kept because they may be empty. They are in none of the other counts. */
  folders = 0;
  /** Files among the skipped ones that were to be transferred, but cannot be. */
  leftOut = 0;
  readonly skipped: Remark[] = [];
  readonly failed: Remark[] = [];

  constructor(private readonly events: TransferEvents = {}) {}

  begin(drive: string, name: string): void {
    this.events.onFile?.(drive, name);
  }

  /**
   * Transfers a file or a folder. A failure is reported, and the bytes that were counted are taken back.
   *
   * @param work Calls `onBytes` with counts of bytes.
   * @throws what would fail every other file, too.
   */
  async attempt(
    drive: string,
    name: string,
    work: (onBytes: OnBytes) => Promise<void>,
  ): Promise<void> {
    this.begin(drive, name);
    try {
      await counting((count) => this.progress(count), work);
    } catch (error) {
      if (isFatal(error)) throw error;
      this.fail(drive, name, error);
    }
  }

  progress(count: number): void {
    this.events.onBytes?.(count);
  }

  add(size: number): void {
    this.done++;
    this.bytes += size;
  }

  same(size: number): void {
    this.unchanged++;
    this.progress(size);
  }

  /** Counts a folder that was kept, or was there. */
  addFolder(): void {
    this.folders++;
  }

  skip(drive: string, name: string, reason: string): void {
    this.#note("skipped", this.skipped, { drive, name, reason });
  }

  /** Skips a file that was to be transferred, but cannot be, such as a link. */
  leaveOut(drive: string, name: string, reason: string): void {
    this.leftOut++;
    this.skip(drive, name, reason);
  }

  fail(drive: string, name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#note("failed", this.failed, { drive, name, reason });
  }

  #note(kind: "skipped" | "failed", list: Remark[], remark: Remark): void {
    list.push(remark);
    this.events.onRemark?.(kind, remark);
  }
}

/** Attempts to read a consistent version of a file that is replaced again and again. */
const MAX_READ_TRIES = 5;

/** Runs `work`, and takes back the bytes that it has counted if it fails. */
export async function counting<T>(
  onBytes: OnBytes,
  work: (onBytes: OnBytes) => Promise<T>,
): Promise<T> {
  let counted = 0;
  try {
    return await work((count) => {
      counted += count;
      onBytes(count);
    });
  } catch (error) {
    onBytes(-counted);
    throw error;
  }
}

/**
 * Runs `work` with a version of a file, or with a later one if the file is replaced meanwhile.
 *
 * @returns `undefined` if the file was deleted meanwhile.
 */
export async function withVersion<T>(
  { drives, drive, file }: DownloadSource,
  onBytes: OnBytes,
  work: (file: FileInfo, onBytes: OnBytes) => Promise<T>,
): Promise<T | undefined> {
  let version: FileInfo | undefined = file;
  for (let tries = 1; version !== undefined; tries++) {
    try {
      const current = version;
      return await counting(onBytes, (onBytes) => work(current, onBytes));
    } catch (error) {
      if (!isFileChanged(error) || tries >= MAX_READ_TRIES) throw error;
      version = await drives.stat(drive, file.name);
    }
  }
  return undefined;
}

/**
 * Runs `work` for every item, at most `count` at once. After a failure no further item is started; the failure is thrown
 * once the running ones have ended.
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const semaphore = new Semaphore(count);
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  try {
    for await (const item of items) {
      const release = await semaphore.acquire();
      if (failure !== undefined) break;
      const task = work(item).catch((error: unknown) => {
        failure ??= { error };
      }).finally(() => {
        running.delete(task);
        release();
      });
      running.add(task);
    }
  } finally {
    await Promise.all(running);
  }
  if (failure !== undefined) throw failure.error;
}
