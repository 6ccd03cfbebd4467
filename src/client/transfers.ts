/**
 * What all transfers have in common: `put`, `get`, `cp`, `mv`, `sync`, `export` and `import`.
 *
 * Each lists what there is to do, and says what becomes of a file. One pool (`forEachConcurrent`) works on it, one report
 * counts the outcomes and the bytes (`TransferReport.attempt`), the connection repeats requests that fail (`retrier.ts`),
 * and an interrupted file is resumed (`upload.ts`, `download.ts`).
 *
 * Their lists stay apart, as they differ in what they must do: `sync` compares two trees in order, and deletes last; `cp`
 * within drives has the server do it, in batches; an archive is written one file after another; and an import knows only
 * at its end what the index has in addition.
 *
 * @module
 */
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

/** What became of a file or a folder. */
export type Outcome =
  | { kind: "transferred"; bytes: number }
  /** The file was up to date. `bytes` counts towards the progress. */
  | { kind: "unchanged"; bytes: number }
  /** A folder that may be empty is kept, or was there. */
  | { kind: "folder" }
  | { kind: "skipped"; reason: string }
  /** The file was to be transferred, but cannot be, as a link. */
  | { kind: "left out"; reason: string };

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
   * Transfers a file or a folder, and counts the outcome. A failure is reported, and its bytes are taken back.
   *
   * @param work Calls `onBytes` with counts of bytes. Returns `undefined` if nothing is known yet.
   * @throws what would fail every other file, too.
   */
  async attempt(
    drive: string,
    name: string,
    work: (onBytes: OnBytes) => Promise<Outcome | undefined>,
  ): Promise<void> {
    this.begin(drive, name);
    try {
      const outcome = await counting((count) => this.progress(count), work);
      if (outcome !== undefined) this.count(drive, name, outcome);
    } catch (error) {
      if (isFatal(error)) throw error;
      this.fail(drive, name, error);
    }
  }

  progress(count: number): void {
    this.events.onBytes?.(count);
  }

  count(drive: string, name: string, outcome: Outcome): void {
    switch (outcome.kind) {
      case "transferred":
        this.done++;
        this.bytes += outcome.bytes;
        return;
      case "unchanged":
        this.unchanged++;
        return this.progress(outcome.bytes);
      case "folder":
        this.folders++;
        return;
      case "left out":
        this.leftOut++;
        break;
    }
    this.#note("skipped", this.skipped, { drive, name, reason: outcome.reason });
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
