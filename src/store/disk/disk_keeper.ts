import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { GIB, MIB, SECOND } from "../../rules/units.ts";
import { type Ballast, BALLAST_BYTES } from "./ballast.ts";
import type { FreeBytesQuery } from "./volume.ts";
import type { DiskSpace } from "./disk_space.ts";
import { runInWorker } from "./sqlite.ts";
import type { WriteAheadLog } from "./write_ahead_log.ts";

/** Milliseconds between two checks, and between two truncations of the log: each of those starts a thread. */
const CHECK_INTERVAL = SECOND;
const TRUNCATE_INTERVAL = 3 * SECOND;

/** The share of a long log from which on it is truncated if the disk is short of space. */
const LONG_IF_SHORT = 1 / 2;

/** Bytes of a log that are worth giving back before an upload is refused. */
const WORTH_TRUNCATING = 4 * MIB;

/** Bytes that stay free beside the ballast: refilling it must not fill the disk again. */
const MARGIN = 4 * MIB;

/**
 * Space for the next checkpoint is held while less than `NEARLY_FULL` bytes and `GROWTH_SAFETY` times that space are
 * free. Writing gigabytes for it takes time, and no program fills that much of a disk between two checks.
 */
const NEARLY_FULL = 4 * GIB;
const GROWTH_SAFETY = 4;

export interface DiskKeeperOptions {
  ballast: Ballast;
  /** The logs of the store's files. */
  logs: readonly WriteAheadLog[];
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
  /** When logs were not truncated, though an upload needed their space. */
  #keptAt = -Infinity;
  #truncating: Promise<void> | undefined;
  /** The last failure, so that a lasting one is reported once. */
  #reported = "";

  constructor(private readonly options: DiskKeeperOptions) {}

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#check().catch((error) => this.#report(error)).then(() => this.start());
    }, CHECK_INTERVAL);
    Deno.unrefTimer(this.#timer);
  }

  /** Truncates the logs for an upload that has no space otherwise, unless a reader has just kept them as they are. */
  async truncateLogs(): Promise<void> {
    const isWorth = ({ size }: WriteAheadLog) => size >= WORTH_TRUNCATING;
    const logs = this.options.logs.filter(isWorth);
    if (logs.length === 0 || performance.now() - this.#keptAt < TRUNCATE_INTERVAL) return;
    const truncate = async () => {
      await this.#truncateAll(logs).catch((error) => this.#report(error));
      if (logs.some(isWorth)) this.#keptAt = performance.now();
    };
    await (this.#truncating ??= truncate().finally(() => this.#truncating = undefined));
  }

  /** Starts no further check, and waits for a running one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #check(): Promise<void> {
    const { logs, ballast, disk, freeBytes } = this.options;
    const missing = await ballast.missing();
    await this.#holdGrowth();
    if (logs.some((log) => log.size >= log.long * LONG_IF_SHORT)) {
      const isShort = missing > 0 || await disk.isShort(MAX_PAYLOAD);
      const share = isShort ? LONG_IF_SHORT : 1;
      await this.#truncate(logs.filter((log) => log.size >= log.long * share));
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
    const { logs, ballast, freeBytes } = this.options;
    const growth = logs.reduce((sum, log) => sum + log.growth(), 0);
    if (growth < BALLAST_BYTES / 2) return await ballast.holdGrowth(0);
    const free = await freeBytes();
    const held = await ballast.growthHeld();
    if (free === undefined || free < growth - held + MARGIN) return;
    if (free < NEARLY_FULL + GROWTH_SAFETY * growth) await ballast.holdGrowth(growth);
  }

  async #truncate(logs: readonly WriteAheadLog[]): Promise<void> {
    if (performance.now() - this.#truncatedAt < TRUNCATE_INTERVAL) return;
    await this.#truncateAll(logs);
  }

  async #truncateAll(logs: readonly WriteAheadLog[]): Promise<void> {
    for (const { path } of logs) await this.#truncateLog(path);
  }

  async #truncateLog(path: string): Promise<void> {
    const url = new URL("./checkpoint_worker.ts", import.meta.url);
    try {
      await runInWorker(new Worker(url, { type: "module" }), path);
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
