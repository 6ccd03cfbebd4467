import { Semaphore } from "../rules/concurrency.ts";

/** Parts, or small files, that a client sends or fetches at once: 4 × 10 MB in memory. */
export const TRANSFERS = 4;

/** What happened to a file that was not transferred, and why. */
export interface Remark {
  drive: string;
  name: string;
  reason: string;
}

/** What somebody wants to know while files are transferred. */
export interface TransferEvents {
  /** The file that is worked on now. */
  onFile?: (drive: string, name: string) => void;
  /** Bytes that are there now. */
  onBytes?: (count: number) => void;
  /** A file that was skipped or failed. */
  onRemark?: (kind: "skipped" | "failed", remark: Remark) => void;
}

/** What became of many files. */
export class TransferReport {
  /** Files that were transferred, and their bytes. */
  done = 0;
  bytes = 0;
  /** Files that were there already. */
  unchanged = 0;
  readonly skipped: Remark[] = [];
  readonly failed: Remark[] = [];
  readonly #events: TransferEvents;

  constructor(events: TransferEvents = {}) {
    this.#events = events;
  }

  begin(drive: string, name: string): void {
    this.#events.onFile?.(drive, name);
  }

  progress(count: number): void {
    this.#events.onBytes?.(count);
  }

  add(size: number): void {
    this.done++;
    this.bytes += size;
  }

  /** A file that is there already, with all its bytes. */
  same(size: number): void {
    this.unchanged++;
    this.progress(size);
  }

  skip(drive: string, name: string, reason: string): void {
    this.#note("skipped", this.skipped, { drive, name, reason });
  }

  fail(drive: string, name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#note("failed", this.failed, { drive, name, reason });
  }

  #note(kind: "skipped" | "failed", list: Remark[], remark: Remark): void {
    list.push(remark);
    this.#events.onRemark?.(kind, remark);
  }
}

/**
 * Works on items, so many of them at once. After a failure no further one is begun; it is thrown when those that run
 * have ended.
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const slots = new Semaphore(count);
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  try {
    for await (const item of items) {
      const letGo = await slots.acquire();
      if (failure !== undefined) break;
      const one = work(item).catch((error: unknown) => {
        failure ??= { error };
      }).finally(() => {
        running.delete(one);
        letGo();
      });
      running.add(one);
    }
  } finally {
    await Promise.all(running);
  }
  if (failure !== undefined) throw failure.error;
}
