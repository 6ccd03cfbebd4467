import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { DELETION_INTERVAL, type Deletions } from "../accounts/deletions.ts";
import type { DiskSpace } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { NO_METER, type StoreMeter } from "../engine/store_meter.ts";
import type { OpenVersions } from "../files/versions.ts";
import type { EndUpload } from "../uploads/session.ts";
import { SWEEP_INTERVAL } from "./clocks.ts";
import { COMPACT_INTERVAL, type Compactor } from "./compactor.ts";
import { GarbageCollector } from "./garbage_collector.ts";

/** Repeats some work in the background, one run at a time, until it is stopped. */
export class BackgroundLoop {
  readonly #work: () => Promise<void>;
  readonly #interval: number;
  readonly #onError: (error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Whether there may be more to do than the current run knows of. */
  #isWoken = false;

  /**
   * @param interval Milliseconds from the begin of one run to the begin of the next.
   * @param onError Receives what a run throws. The next run follows as usual.
   */
  constructor(
    work: () => Promise<void>,
    { interval, onError }: { interval: number; onError: (error: unknown) => void },
  ) {
    this.#work = work;
    this.#interval = interval;
    this.#onError = onError;
  }

  /** Begins the first run soon. */
  start(): void {
    this.#schedule(0);
  }

  /** Begins the next run soon, or as soon as the current one has ended. Does nothing before `start`. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer === undefined || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  /** Begins no further run, and waits for the current one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(pause: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#run(), pause);
  }

  async #run(): Promise<void> {
    const began = performance.now();
    this.#isWoken = false;
    this.#running = this.#work().catch(this.#onError);
    await this.#running;
    this.#running = undefined;
    const left = this.#interval - (performance.now() - began);
    this.#schedule(this.#isWoken ? 0 : Math.max(0, left));
  }
}

/**
 * The work in the background: removals of projects and drives, reclaiming bytes, compacting the store's file. Each is a
 * loop of its own, so none waits for another.
 */
export class Sweeper {
  readonly #meter: StoreMeter;
  readonly #disk: DiskSpace | undefined;
  readonly #compactor: Compactor | undefined;
  readonly #remover: Deletions | undefined;
  readonly #reclaimer: GarbageCollector;
  readonly #removals: BackgroundLoop;
  readonly #reclaims: BackgroundLoop;
  readonly #compactions: BackgroundLoop;

  /**
   * @param onError Receives what ended a run in the background. The next one continues there.
   * @param endUpload Ends a session whose time is over.
   */
  constructor(
    db: Database,
    readers: OpenVersions,
    onError: (error: unknown) => void,
    endUpload: EndUpload,
    { disk, compactor, remover, meter = NO_METER }: {
      disk?: DiskSpace | undefined;
      compactor?: Compactor | undefined;
      remover?: Deletions;
      meter?: StoreMeter | undefined;
    } = {},
  ) {
    this.#meter = meter;
    this.#disk = disk;
    this.#remover = remover;
    this.#compactor = compactor;
    this.#reclaimer = new GarbageCollector(db, readers, endUpload, { disk, meter });
    const loop = (work: () => Promise<void>, interval: number) =>
      new BackgroundLoop(work, { interval, onError });
    // On a shared store each look is a request over the network, which some providers count.
    const isShared = db.changes === undefined;
    this.#removals = loop(() => this.#remove(), isShared ? SWEEP_INTERVAL : DELETION_INTERVAL);
    this.#reclaims = loop(() => this.#reclaim(), SWEEP_INTERVAL);
    this.#compactions = loop(() => this.#compact(), COMPACT_INTERVAL);
  }

  /** Begins the work, which repeats until `stop`. */
  start(): void {
    this.#removals.start();
    this.#reclaims.start();
    if (this.#compactor !== undefined) this.#compactions.start();
  }

  /** Looks for work as soon as possible, if it was started. */
  wake(): void {
    this.#remover?.notifyStarted();
    this.#removals.wake();
    this.#reclaims.wake();
  }

  /** Ends the work after the batches that are under way. */
  async stop(): Promise<void> {
    this.#compactor?.stop();
    this.#remover?.stop();
    this.#reclaimer.stop();
    await Promise.all([this.#removals.stop(), this.#reclaims.stop(), this.#compactions.stop()]);
  }

  /** Does all removals, then reclaims all that is due at a time, in milliseconds since 1970. */
  async sweep(now = Date.now()): Promise<void> {
    const ahead = Math.max(0, now - Date.now());
    await this.#remover?.runAll();
    await this.#reclaimer.run(ahead);
  }

  async #remove(): Promise<void> {
    await this.#remover?.runAll();
  }

  async #reclaim(): Promise<void> {
    const began = performance.now();
    let succeeded = false;
    try {
      await this.#reclaimer.run();
      succeeded = true;
    } finally {
      this.#meter.sweepEnded(succeeded, performance.now() - began);
    }
    // Uploads wait for the disk, not for free pages inside the store's file.
    if (await this.#isShort()) this.#compactions.wake();
  }

  async #compact(): Promise<void> {
    await this.#compactor?.run({ isShort: await this.#isShort() });
  }

  async #isShort(): Promise<boolean> {
    return await this.#disk?.isShort(MAX_PAYLOAD) ?? false;
  }
}
