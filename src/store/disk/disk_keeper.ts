import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { type Ballast, BALLAST_BYTES } from "./ballast.ts";
import type { DiskSpace } from "./disk_space.ts";
import type { FreeBytes } from "./volume.ts";
import { LONG_LOG, type WriteAheadLog } from "./write_ahead_log.ts";

/** Milliseconds between two looks at the disk, and between two tries to cut the log: each starts a thread. */
const LOOK_INTERVAL = 1000;
const CUT_INTERVAL = 3000;

/** Bytes from which on the log is cut if the disk is short of space. */
const LONG_LOG_IF_SHORT = LONG_LOG / 2;

/** Bytes that stay free behind the ballast: what takes it back must not fill the disk again. */
const MARGIN = 4 * 2 ** 20;

/**
 * What a checkpoint needs is held once less than this is free, and so many times that: writing gigabytes for it costs time,
 * and on a disk with room nobody can take them within a second.
 */
const NEARLY_FULL = 4 * 2 ** 30;
const GROWTH_SAFETY = 4;

export interface DiskKeeperOptions {
  /** The store's file. */
  path: string;
  ballast: Ballast;
  log: WriteAheadLog;
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
    await this.#holdGrowth();
    if (log.size >= LONG_LOG_IF_SHORT) {
      const isShort = missing > 0 || await disk.isShort(MAX_PAYLOAD);
      if (isShort || log.size >= LONG_LOG) await this.#cutLog();
    }
    if (missing === 0 && !ballast.isNeeded) return;
    const free = await freeBytes();
    if (free !== undefined && free >= missing + MARGIN) {
      ballast.forgetNeed();
      await ballast.take();
    }
    this.#reported = "";
  }

  /** Another program could take what the next checkpoint needs before that begins, unless a file holds it. */
  async #holdGrowth(): Promise<void> {
    const { log, ballast, freeBytes } = this.#options;
    const growth = log.growth();
    if (growth < BALLAST_BYTES / 2) return await ballast.holdGrowth(0);
    const free = await freeBytes();
    const held = await ballast.growthHeld();
    if (free === undefined || free < growth - held + MARGIN) return;
    if (free < NEARLY_FULL + GROWTH_SAFETY * growth) await ballast.holdGrowth(growth);
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
      if (error?.includes("disk is full") && this.#options.ballast.giveUpGrowth()) return;
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
