import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { SECOND } from "../../rules/units.ts";
import { DELETION_INTERVAL, type Deletions } from "../accounts/deletions.ts";
import { EVENT_SWEEP_INTERVAL, type EventLog } from "../accounts/events.ts";
import { CLOSE_INTERVAL, type UsageHistory } from "../accounts/usage_history.ts";
import type { DiskSpace } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import type { OpenVersions } from "../bytes/open_versions.ts";
import { BackgroundLoop } from "./background_loop.ts";
import { CHANGES_SWEEP_INTERVAL, OldChanges } from "./old_changes.ts";
import { SWEEP_INTERVAL } from "./clocks.ts";
import { COMPACT_INTERVAL, type Compactor } from "./compactor.ts";
import type { ExpiredFiles } from "./expired_files.ts";
import { type Enders, GarbageCollector } from "./garbage_collector.ts";

/** How often a store on this machine is searched for expired files, in milliseconds. */
const EXPIRY_INTERVAL = SECOND;

/** The parts of the background work. A store behind a network has no disk and no compactor. */
export interface SweeperDeps {
  enders: Enders;
  deletions: Deletions;
  expired: ExpiredFiles;
  events: EventLog;
  usageHistory: UsageHistory;
  disk: DiskSpace | undefined;
  compactor: Compactor | undefined;
  /** Called with what ended a run. The next run continues there. */
  onError: (error: unknown) => void;
}

/**
 * The background work on the store: it finishes deletions, sweeps expired files, collects garbage, removes old events
 * and changes, compacts the file, and records the usage of each day.
 * Each has a loop of its own, so that none waits for another.
 */
export class Sweeper {
  readonly #collector: GarbageCollector;
  readonly #deleting: BackgroundLoop;
  readonly #collecting: BackgroundLoop;
  readonly #compacting: BackgroundLoop;
  readonly #oldChanges: OldChanges;
  readonly #forgetting: BackgroundLoop;
  readonly #loops: BackgroundLoop[];

  constructor(
    private readonly db: Database,
    openVersions: OpenVersions,
    private readonly deps: SweeperDeps,
  ) {
    const { deletions, expired, events, usageHistory, enders, disk, onError } = deps;
    this.#collector = new GarbageCollector(db, openVersions, { ...enders, disk });
    const loop = (work: () => Promise<void>, interval: number) =>
      new BackgroundLoop(work, { interval, onError });
    // On a shared store every search is a request over the network, which some providers bill.
    const isShared = db.changes === undefined;
    const expiring = loop(() => expired.sweep(), isShared ? SWEEP_INTERVAL : EXPIRY_INTERVAL);
    this.#deleting = loop(() => deletions.runAll(), isShared ? SWEEP_INTERVAL : DELETION_INTERVAL);
    this.#collecting = loop(() => this.#collect(), SWEEP_INTERVAL);
    this.#compacting = loop(() => this.#compact(), COMPACT_INTERVAL);
    const trimming = loop(() => events.sweep(), EVENT_SWEEP_INTERVAL);
    const closing = loop(() => usageHistory.closeDay(), CLOSE_INTERVAL);
    this.#oldChanges = new OldChanges(db);
    this.#forgetting = loop(() => this.#oldChanges.sweep(), CHANGES_SWEEP_INTERVAL);
    this.#loops = [
      this.#deleting,
      expiring,
      this.#collecting,
      trimming,
      closing,
      this.#forgetting,
    ];
    if (deps.compactor !== undefined) this.#loops.push(this.#compacting);
  }

  /** Starts the loops, which run until `stop`. */
  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  /** Makes the deletions and the garbage collection run as soon as possible, if they were started. */
  wake(): void {
    this.#deleting.wake();
    this.#collecting.wake();
  }

  /** Stops the loops after their current batches. */
  async stop(): Promise<void> {
    const { compactor, deletions, expired, events, usageHistory } = this.deps;
    const sweepers = [this.#collector, this.#oldChanges];
    const workers = [compactor, deletions, expired, events, usageHistory, ...sweepers];
    for (const worker of workers) worker?.stop();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  /**
   * Finishes all deletions, then deletes the files that have expired at a time, in milliseconds since 1970, collects all
   * garbage that is due then, removes events and changes that are old by then, and records the usage of the day before.
   */
  async sweep(now = Date.now()): Promise<void> {
    const ahead = Math.max(0, now - Date.now());
    await this.deps.deletions.runAll();
    await this.deps.expired.sweep(ahead);
    await this.#collector.run(ahead);
    await this.#oldChanges.sweep(ahead);
    await this.deps.events.sweep(now);
    await this.deps.usageHistory.closeDay(now);
  }

  async #collect(): Promise<void> {
    const began = performance.now();
    let succeeded = false;
    try {
      await this.#collector.run();
      succeeded = true;
    } finally {
      this.db.meter.sweepEnded(succeeded, performance.now() - began);
    }
    // Uploads wait for space on the disk; free pages inside the store's file are not enough.
    if (await this.#isShort()) this.#compacting.wake();
  }

  async #compact(): Promise<void> {
    await this.deps.compactor?.run({ isShort: await this.#isShort() });
  }

  async #isShort(): Promise<boolean> {
    return await this.deps.disk?.isShort(MAX_PAYLOAD) ?? false;
  }
}
