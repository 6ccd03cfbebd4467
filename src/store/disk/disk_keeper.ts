import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { GIB, MIB, SECOND } from "../../rules/units.ts";
import { type Ballast, BALLAST_BYTES } from "./ballast.ts";
import type { DiskSpace } from "./disk_space.ts";
import { runInWorker } from "./sqlite.ts";
import type { FreeBytesQuery } from "./volume.ts";
import { LONG_LOG, type WriteAheadLog } from "./write_ahead_log.ts";

/** Milliseconds between two checks, and between two truncations of the log: each of those starts a thread. */
const CHECK_INTERVAL = SECOND;
const TRUNCATE_INTERVAL = 3 * SECOND;

/** Bytes from which on the log is truncated if the disk is short of space. */
const LONG_LOG_IF_SHORT = LONG_LOG / 2;

/** Bytes that stay free beside the ballast: refilling it must not fill the disk again. */
const MARGIN = 4 * MIB;

/**
 * Space for the next checkpoint is held while less than `NEARLY_FULL` bytes and `GROWTH_SAFETY` times that space are
 * free. Writing gigabytes for it takes time, and no program fills that much of a disk between two checks.
 */
const NEARLY_FULL = 4 * GIB;
const GROWTH_SAFETY = 4;

export interface DiskKeeperOptions {
  /** The store's file. */
  path: string;
  ballast: Ballast;
  log: WriteAheadLog;
  disk: DiskSpace;
  freeBytes: FreeBytesQuery;
  /** Receives failures; the next check tries again. */
  onError: (error: unknown) => void;
}

/** Keeps a store's disk usable in the background: refills the ballast when there is room, and truncates a long log. */
export class DiskKeeper {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #truncatedAt = -Infinity;
  /** The last failure, so that a lasting one is reported once. */
  #reported = "";

  constructor(private readonly options: DiskKeeperOptions) {}

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#check().catch((error) => this.#report(error)).then(() => this.start());
    }, CHECK_INTERVAL);
  }

  /** Starts no further check, and waits for a running one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #check(): Promise<void> {
    const { log, ballast, disk, freeBytes } = this.options;
    const missing = await ballast.missing();
    await this.#holdGrowth();
    if (log.size >= LONG_LOG_IF_SHORT) {
      const isShort = missing > 0 || await disk.isShort(MAX_PAYLOAD);
      if (isShort || log.size >= LONG_LOG) await this.#truncateLog();
    }
    if (missing === 0 && !ballast.isNeeded) return;
    const free = await freeBytes();
    if (free !== undefined && free >= missing + MARGIN) {
      ballast.forgetNeed();
      await ballast.refill();
    }
    this.#reported = "";
  }

  /**
   * Holds the space of the next checkpoint in a file: otherwise another program could take it before the checkpoint
   * begins.
   */
  async #holdGrowth(): Promise<void> {
    const { log, ballast, freeBytes } = this.options;
    const growth = log.growth();
    if (growth < BALLAST_BYTES / 2) return await ballast.holdGrowth(0);
    const free = await freeBytes();
    const held = await ballast.growthHeld();
    if (free === undefined || free < growth - held + MARGIN) return;
    if (free < NEARLY_FULL + GROWTH_SAFETY * growth) await ballast.holdGrowth(growth);
  }

  async #truncateLog(): Promise<void> {
    if (performance.now() - this.#truncatedAt < TRUNCATE_INTERVAL) return;
    const url = new URL("./checkpoint_worker.ts", import.meta.url);
    try {
      await runInWorker(new Worker(url, { type: "module" }), this.options.path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason.includes("disk is full") && this.options.ballast.giveUpGrowth()) return;
      throw new Error(`Cannot checkpoint the store's log: ${reason}`, { cause: error });
    } finally {
      this.#truncatedAt = performance.now();
    }
  }

  #report(error: unknown): void {
    const text = String(error);
    if (text !== this.#reported) this.options.onError(error);
    this.#reported = text;
  }
}
