import type { Snapshot } from "../../repository/manifest.ts";
import { NoRepository, RepositoryError } from "../../repository/errors.ts";
import { Repository, type RepositorySettings } from "../../repository/repository.ts";
import type { Retention } from "../../repository/retention.ts";
import { MINUTE, SECOND } from "../../rules/units.ts";
import type { ScheduledBackups } from "../backup/scheduled_backups.ts";
import { databasePath } from "../disk/store_files.ts";
import { SnapshotRun } from "./snapshot_task.ts";
import { storeIdOf } from "./store_id.ts";
import { requireWhole } from "./take_snapshot.ts";

/** The pauses before a failed snapshot is repeated, in milliseconds: the first, twice as long each time, and the longest. */
const FIRST_RETRY = 15 * SECOND;
const LONGEST_RETRY = 10 * MINUTE;

/** How far a snapshot's time may be ahead of our clock, in milliseconds: clocks are corrected now and then. */
const CLOCK_TOLERANCE = MINUTE;

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

export interface RepositoryBackupsOptions {
  folder: string;
  repository: RepositorySettings;
  /** Bytes a second; `undefined` for no limit. */
  bandwidth: number | undefined;
  /** Which snapshots stay. */
  retention: Retention;
  /** Receives sentences for the operator. */
  onNotice: (text: string) => void;
  /** Receives the failure of what follows a snapshot. */
  onError: (error: unknown) => void;
}

/** Snapshots of a store in a repository. Several processes may make them at the same time. */
export class RepositoryBackups implements ScheduledBackups {
  #repository: Repository | undefined;
  #last: Snapshot | undefined;
  #run: SnapshotRun | undefined;
  #isStopped = false;

  constructor(private readonly options: RepositoryBackupsOptions) {}

  get place(): string {
    return this.options.repository.target;
  }

  /** The newest snapshot, as last seen. */
  get last(): Snapshot | undefined {
    return this.#last;
  }

  async newest(now: number): Promise<number | undefined> {
    try {
      this.#repository ??= await Repository.open(this.options.repository);
    } catch (error) {
      // The first snapshot makes it.
      if (error instanceof NoRepository) return undefined;
      throw error;
    }
    const snapshots = await this.#repository.snapshots(this.options.onError);
    // The next snapshot would make a new one where the former was.
    if (snapshots.length === 0) await this.#repository.requirePresent();
    this.#last = snapshots.findLast(({ time }) => time <= now + CLOCK_TOLERANCE);
    return this.#last?.time;
  }

  lock(): Promise<Disposable | undefined> {
    return Promise.resolve(NO_LOCK);
  }

  async make(): Promise<boolean> {
    const { folder, repository, bandwidth, retention, onNotice, onError } = this.options;
    const store = await storeIdOf(folder);
    if (this.#isStopped) return false;
    const options = { source: databasePath(folder), store, repository, bandwidth };
    this.#run = new SnapshotRun(options, retention);
    const result = await this.#run.run({ onNotice });
    if (result?.pruneProblem !== undefined) onError(new RepositoryError(result.pruneProblem));
    if (result === undefined) return false;
    requireWhole(result.snapshot, this.place);
    return true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#run?.stop();
  }

  retryAfter(failures: number): number {
    return Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(10, failures - 1));
  }
}
