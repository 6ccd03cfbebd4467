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

/** A kind of background work, which has a loop of its own so that none waits for another. */
interface Job {
  loop: BackgroundLoop;
  /** Does what is due at a time, in milliseconds since 1970. */
  run: (now: number) => Promise<void>;
  /** Its run ends after the current batch. */
  stop: () => void;
}

/** The background work on the store. */
export class Sweeper {
  readonly #deleting: Job;
  readonly #collecting: Job;
  readonly #compacting: Job | undefined;
  /** In the order of `sweep`. */
  readonly #jobs: readonly Job[];

  constructor(
    private readonly db: Database,
    openVersions: OpenVersions,
    private readonly deps: SweeperDeps,
  ) {
    const { deletions, expired, events, usageHistory, enders, disk, compactor } = deps;
    const collector = new GarbageCollector(db, openVersions, { ...enders, disk });
    const oldChanges = new OldChanges(db);
    const job = (
      worker: { stop(): void },
      interval: number,
      run: (now: number) => Promise<void>,
    ): Job => ({
      loop: new BackgroundLoop(() => run(Date.now()), { interval, onError: deps.onError }),
      run,
      stop: () => worker.stop(),
    });
    // On a shared store every search is a request over the network, which some providers bill.
    const often = (interval: number) => db.changes === undefined ? SWEEP_INTERVAL : interval;
    this.#deleting = job(deletions, often(DELETION_INTERVAL), () => deletions.runAll());
    this.#collecting = job(collector, SWEEP_INTERVAL, (now) => this.#collect(collector, now));
    this.#compacting = compactor && job(compactor, COMPACT_INTERVAL, () => this.#compact());
    this.#jobs = [
      this.#deleting,
      job(expired, often(EXPIRY_INTERVAL), (now) => expired.sweep(untilDue(now))),
      this.#collecting,
      job(oldChanges, CHANGES_SWEEP_INTERVAL, (now) => oldChanges.sweep(untilDue(now))),
      job(events, EVENT_SWEEP_INTERVAL, (now) => events.sweep(now)),
      job(usageHistory, CLOSE_INTERVAL, (now) => usageHistory.closeDay(now)),
    ];
  }

  /** Starts the loops, which run until `stop`. */
  start(): void {
    for (const { loop } of this.#all) loop.start();
  }

  /** Makes the deletions and the garbage collection run as soon as possible, if they were started. */
  wake(): void {
    this.#deleting.loop.wake();
    this.#collecting.loop.wake();
  }

  /** Stops the loops after their current batches. */
  async stop(): Promise<void> {
    for (const { stop } of this.#all) stop();
    await Promise.all(this.#all.map(({ loop }) => loop.stop()));
  }

  /** Does everything, except compaction, that is due at a time, in milliseconds since 1970. */
  async sweep(now = Date.now()): Promise<void> {
    for (const { run } of this.#jobs) await run(now);
  }

  get #all(): readonly Job[] {
    return this.#compacting === undefined ? this.#jobs : [...this.#jobs, this.#compacting];
  }

  async #collect(collector: GarbageCollector, now: number): Promise<void> {
    const began = performance.now();
    let succeeded = false;
    try {
      await collector.run(untilDue(now));
      succeeded = true;
    } finally {
      this.db.meter.sweepEnded(succeeded, performance.now() - began);
    }
    // Uploads wait for space on the disk; free pages inside the store's file are not enough.
    if (await this.#isShort()) this.#compacting?.loop.wake();
  }

  async #compact(): Promise<void> {
    await this.deps.compactor?.run({ isShort: await this.#isShort() });
  }

  async #isShort(): Promise<boolean> {
    return await this.deps.disk?.isShort(MAX_PAYLOAD) ?? false;
  }
}

/** Returns how far a time is ahead of the clock, in milliseconds. */
function untilDue(now: number): number {
  return Math.max(0, now - Date.now());
}
