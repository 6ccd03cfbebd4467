import { MAX_PAYLOAD, SWEEP_INTERVAL } from "../drive/limits.ts";
import { BackgroundLoop } from "./background_loop.ts";
import { COMPACT_INTERVAL, type Compactor } from "./compactor.ts";
import type { Database } from "./database.ts";
import type { DiskSpace } from "./disk_space.ts";
import type { EndUpload } from "./overdue_uploads.ts";
import type { Readers } from "./readers.ts";
import { Reclaimer } from "./reclaimer.ts";
import { REMOVAL_INTERVAL, type Remover } from "./remover.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";

/**
 * The work in the background: removals of projects and drives, reclaiming bytes, compacting the store's file. Each is a
 * loop of its own, so none waits for another.
 */
export class Sweeper {
  readonly #meter: StoreMeter;
  readonly #disk: DiskSpace | undefined;
  readonly #compactor: Compactor | undefined;
  readonly #remover: Remover | undefined;
  readonly #reclaimer: Reclaimer;
  readonly #removals: BackgroundLoop;
  readonly #reclaims: BackgroundLoop;
  readonly #compactions: BackgroundLoop;

  /**
   * @param onError Receives what ended a run in the background. The next one continues there.
   * @param endUpload Ends a session whose time is over.
   */
  constructor(
    db: Database,
    readers: Readers,
    onError: (error: unknown) => void,
    endUpload: EndUpload,
    { disk, compactor, remover, meter = NO_METER }: {
      disk?: DiskSpace | undefined;
      compactor?: Compactor | undefined;
      remover?: Remover;
      meter?: StoreMeter | undefined;
    } = {},
  ) {
    this.#meter = meter;
    this.#disk = disk;
    this.#remover = remover;
    this.#compactor = compactor;
    this.#reclaimer = new Reclaimer(db, readers, endUpload, { disk, meter });
    const loop = (work: () => Promise<void>, interval: number) =>
      new BackgroundLoop(work, { interval, onError });
    // On a shared store each look is a request over the network, which some providers count.
    const isShared = db.changes === undefined;
    this.#removals = loop(() => this.#remove(), isShared ? SWEEP_INTERVAL : REMOVAL_INTERVAL);
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
    this.#remover?.notice();
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
