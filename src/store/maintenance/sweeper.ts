import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { SECOND } from "../../rules/units.ts";
import { DELETION_INTERVAL, type Deletions } from "../accounts/deletions.ts";
import { EVENT_SWEEP_INTERVAL, type EventLog } from "../accounts/events.ts";
import { CLOSE_INTERVAL, type UsageHistory } from "../accounts/usage_history.ts";
import type { DiskSpace } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { NO_METER, type StoreMeter } from "../engine/store_meter.ts";
import type { OpenVersions } from "../bytes/versions.ts";
import { SWEEP_INTERVAL } from "./clocks.ts";
import { COMPACT_INTERVAL, type Compactor } from "./compactor.ts";
import type { ExpiredFiles } from "./expired_files.ts";
import { type Enders, GarbageCollector } from "./garbage_collector.ts";

/** How often a store on this machine is searched for expired files, in milliseconds. */
const EXPIRY_INTERVAL = SECOND;

/**
 * The background work on the store: it finishes deletions, sweeps expired files, collects garbage, removes old events,
 * compacts the file, and records the usage of each day.
 * Each has a loop of its own, so that none waits for another.
 */
export class Sweeper {
  readonly #meter: StoreMeter;
  readonly #disk: DiskSpace | undefined;
  readonly #compactor: Compactor | undefined;
  readonly #deletions: Deletions | undefined;
  readonly #events: EventLog | undefined;
  readonly #expired: ExpiredFiles | undefined;
  readonly #usageHistory: UsageHistory | undefined;
  readonly #collector: GarbageCollector;
  readonly #deleting: BackgroundLoop;
  readonly #expiring: BackgroundLoop;
  readonly #collecting: BackgroundLoop;
  readonly #compacting: BackgroundLoop;
  readonly #trimming: BackgroundLoop;
  readonly #closing: BackgroundLoop;

  /**
   * @param onError Called with what ended a run. The next run continues there.
   */
  constructor(
    db: Database,
    openVersions: OpenVersions,
    onError: (error: unknown) => void,
    enders: Enders,
    { disk, compactor, deletions, events, expired, usageHistory, meter = NO_METER }: {
      disk?: DiskSpace | undefined;
      compactor?: Compactor | undefined;
      deletions?: Deletions;
      events?: EventLog;
      expired?: ExpiredFiles;
      usageHistory?: UsageHistory;
      meter?: StoreMeter | undefined;
    } = {},
  ) {
    this.#meter = meter;
    this.#disk = disk;
    this.#deletions = deletions;
    this.#events = events;
    this.#expired = expired;
    this.#usageHistory = usageHistory;
    this.#compactor = compactor;
    this.#collector = new GarbageCollector(db, openVersions, enders, { disk, meter });
    const loop = (work: () => Promise<void>, interval: number) =>
      new BackgroundLoop(work, { interval, onError });
    // On a shared store every search is a request over the network, which some providers bill.
    const isShared = db.changes === undefined;
    this.#deleting = loop(() => this.#delete(), isShared ? SWEEP_INTERVAL : DELETION_INTERVAL);
    this.#expiring = loop(() => this.#expire(), isShared ? SWEEP_INTERVAL : EXPIRY_INTERVAL);
    this.#collecting = loop(() => this.#collect(), SWEEP_INTERVAL);
    this.#compacting = loop(() => this.#compact(), COMPACT_INTERVAL);
    this.#trimming = loop(() => this.#trim(), EVENT_SWEEP_INTERVAL);
    this.#closing = loop(() => this.#closeDay(), CLOSE_INTERVAL);
  }

  /** Starts the loops, which run until `stop`. */
  start(): void {
    this.#deleting.start();
    this.#expiring.start();
    this.#collecting.start();
    if (this.#compactor !== undefined) this.#compacting.start();
    if (this.#events !== undefined) this.#trimming.start();
    if (this.#usageHistory !== undefined) this.#closing.start();
  }

  /** Makes the deletions and the garbage collection run as soon as possible, if they were started. */
  wake(): void {
    this.#deletions?.notifyStarted();
    this.#deleting.wake();
    this.#collecting.wake();
  }

  /** Stops the loops after their current batches. */
  async stop(): Promise<void> {
    this.#compactor?.stop();
    this.#deletions?.stop();
    this.#expired?.stop();
    this.#collector.stop();
    this.#events?.stop();
    this.#usageHistory?.stop();
    const loops = [
      this.#deleting,
      this.#expiring,
      this.#collecting,
      this.#compacting,
      this.#trimming,
      this.#closing,
    ];
    await Promise.all(loops.map((loop) => loop.stop()));
  }

  /**
   * Finishes all deletions, then deletes the files that have expired at a time, in milliseconds since 1970, collects all
   * garbage that is due then, removes events that are old by then, and records the usage of the day before.
   */
  async sweep(now = Date.now()): Promise<void> {
    const ahead = Math.max(0, now - Date.now());
    await this.#deletions?.runAll();
    await this.#expired?.sweep(ahead);
    await this.#collector.run(ahead);
    await this.#events?.sweep(now);
    await this.#usageHistory?.closeDay(now);
  }

  async #delete(): Promise<void> {
    await this.#deletions?.runAll();
  }

  async #expire(): Promise<void> {
    await this.#expired?.sweep();
  }

  async #collect(): Promise<void> {
    const began = performance.now();
    let succeeded = false;
    try {
      await this.#collector.run();
      succeeded = true;
    } finally {
      this.#meter.sweepEnded(succeeded, performance.now() - began);
    }
    // Uploads wait for space on the disk; free pages inside the store's file are not enough.
    if (await this.#isShort()) this.#compacting.wake();
  }

  async #compact(): Promise<void> {
    await this.#compactor?.run({ isShort: await this.#isShort() });
  }

  async #trim(): Promise<void> {
    await this.#events?.sweep();
  }

  async #closeDay(): Promise<void> {
    await this.#usageHistory?.closeDay();
  }

  async #isShort(): Promise<boolean> {
    return await this.#disk?.isShort(MAX_PAYLOAD) ?? false;
  }
}

/** Repeats some work in the background, one run at a time, until it is stopped. */
export class BackgroundLoop {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Whether there may be more to do than the current run knows of. */
  #isWoken = false;

  /**
   * @param interval Milliseconds from the start of one run to the start of the next.
   * @param onError Called with what a run throws. The next run follows as usual.
   */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly deps: { interval: number; onError: (error: unknown) => void },
  ) {}

  /** Starts the first run. */
  start(): void {
    this.#schedule(0);
  }

  /** Starts the next run now, or as soon as the current one has ended. Does nothing before `start`. */
  wake(): void {
    this.#isWoken = true;
    if (this.#timer === undefined || this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#schedule(0);
  }

  /** Starts no further run, and waits for the current one. */
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
    this.#running = this.work().catch(this.deps.onError);
    await this.#running;
    this.#running = undefined;
    const left = this.deps.interval - (performance.now() - began);
    this.#schedule(this.#isWoken ? 0 : Math.max(0, left));
  }
}
