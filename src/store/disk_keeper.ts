import { MAX_PAYLOAD } from "../drive/limits.ts";
import type { Ballast } from "./ballast.ts";
import type { DiskSpace, FreeBytes } from "./disk_space.ts";
import { LONG_LOG, type StoreLog } from "./store_log.ts";

/** Milliseconds between two looks at the disk, and between two tries to cut the log. */
const LOOK_INTERVAL = 1000;
const CUT_INTERVAL = 10_000;

/** Bytes from which on the log is cut if the disk is short of space. */
const LONG_LOG_IF_SHORT = LONG_LOG / 2;

/** Bytes that stay free behind the ballast: what takes it back must not fill the disk again. */
const MARGIN = 4 * 2 ** 20;

export interface DiskKeeperOptions {
  /** The store's file. */
  path: string;
  ballast: Ballast;
  log: StoreLog;
  disk: DiskSpace;
  freeBytes: FreeBytes;
  /** Told of failures; the next look tries again. */
  onError: (error: unknown) => void;
}

/** Takes the ballast back when there is room for it, and gives the space of a long log back when no reader needs it. */
export class DiskKeeper {
  readonly #options: DiskKeeperOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #cutAt = -Infinity;
  /** What was last reported, so that a lasting failure is one entry in the log. */
  #reported = "";

  constructor(options: DiskKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look().catch((error) => this.#report(error)).then(() => this.start());
    }, LOOK_INTERVAL);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #look(): Promise<void> {
    const { log, ballast, disk, freeBytes } = this.#options;
    const missing = await ballast.missing();
    if (log.size >= LONG_LOG_IF_SHORT) {
      const isShort = missing > 0 || await disk.isShort(MAX_PAYLOAD);
      if (isShort || log.size >= LONG_LOG) await this.#cutLog();
    }
    if (missing === 0 && !ballast.isNeeded) return;
    const free = await freeBytes();
    if (free !== undefined && free >= missing + MARGIN) await ballast.take();
    this.#reported = "";
  }

  async #cutLog(): Promise<void> {
    if (performance.now() - this.#cutAt < CUT_INTERVAL) return;
    const worker = new Worker(new URL("./checkpoint_worker.ts", import.meta.url), {
      type: "module",
    });
    const { promise, resolve, reject } = Promise.withResolvers<{ error?: string }>();
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    try {
      worker.postMessage(this.#options.path);
      const { error } = await promise;
      if (error !== undefined) throw new Error(`Cannot checkpoint the store's log: ${error}`);
    } finally {
      worker.terminate();
      this.#cutAt = performance.now();
    }
  }

  #report(error: unknown): void {
    const text = String(error);
    if (text !== this.#reported) this.#options.onError(error);
    this.#reported = text;
  }
}
