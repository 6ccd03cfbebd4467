import type {
  CommitOutcome,
  ScrubOutcome,
  StoreMeter,
  SweptKind,
} from "../../store/engine/store_meter.ts";
import { type Exposition, Histogram, only } from "./exposition.ts";

/** Bounds for the operations in one commit, which allows some hundred. */
const MEMBERS = [1, 2, 4, 8, 16, 32, 64, 128];

/** Bounds in seconds: a sync takes less than a millisecond on a good disk, and a tenth of a second on a bad one. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export class StoreMetrics implements StoreMeter {
  readonly #commits: Record<CommitOutcome, number> = { done: 0, refused: 0, failed: 0 };
  readonly #members = new Histogram(MEMBERS);
  readonly #duration = new Histogram(SECONDS);
  readonly #swept: Record<SweptKind, number> = {
    chunks: 0,
    manifest: 0,
    reference: 0,
    trash: 0,
    whole_trash: 0,
    upload: 0,
    parts: 0,
    entry: 0,
    expired_file: 0,
    link: 0,
    links: 0,
  };
  readonly #scrubbed: Record<ScrubOutcome, number> = { whole: 0, converted: 0, damaged: 0 };
  readonly #scrubs = { done: 0, failed: 0 };
  #scrubBytes = 0;
  #damagedReads = 0;
  #retries = 0;
  #takeovers = 0;
  #sweeps = { done: 0, failed: 0 };
  #sweepSeconds = 0;
  /** Seconds since 1970. */
  #lastSweep: number | undefined;

  committed(outcome: CommitOutcome, members: number, milliseconds: number): void {
    this.#commits[outcome]++;
    if (outcome !== "done") return;
    this.#members.observe(members);
    this.#duration.observe(milliseconds / 1000);
  }

  retried(): void {
    this.#retries++;
  }

  swept(kind: SweptKind): void {
    this.#swept[kind]++;
  }

  tookOver(): void {
    this.#takeovers++;
  }

  sweepEnded(succeeded: boolean, milliseconds: number): void {
    this.#sweeps[succeeded ? "done" : "failed"]++;
    this.#sweepSeconds += milliseconds / 1000;
    if (succeeded) this.#lastSweep = Date.now() / 1000;
  }

  damageRead(): void {
    this.#damagedReads++;
  }

  scrubbed(bytes: number): void {
    this.#scrubBytes += bytes;
  }

  fileScrubbed(outcome: ScrubOutcome): void {
    this.#scrubbed[outcome]++;
  }

  scrubEnded(succeeded: boolean): void {
    this.#scrubs[succeeded ? "done" : "failed"]++;
  }

  write(to: Exposition): void {
    to.counter(
      "kvdrive_store_commits_total",
      "Commits: done, refused because a check did not hold, or failed.",
      Object.entries(this.#commits).map(([outcome, count]) => [{ outcome }, count]),
    );
    to.histogram("kvdrive_store_commit_members", "Operations that shared a commit.", [
      [{}, this.#members],
    ]);
    to.histogram(
      "kvdrive_store_commit_duration_seconds",
      "Time until a commit was on disk, including the wait for the database's lock.",
      [[{}, this.#duration]],
    );
    to.counter(
      "kvdrive_store_retries_total",
      "Commits that were retried because another process held the database's lock.",
      only(this.#retries),
    );
    to.counter(
      "kvdrive_damaged_reads_total",
      "Downloads that found missing or wrong bytes.",
      only(this.#damagedReads),
    );
    this.#writeSweeps(to);
    this.#writeScrubs(to);
  }

  #writeScrubs(to: Exposition): void {
    to.counter(
      "kvdrive_scrub_read_bytes_total",
      "Bytes of files that the scrub has read and checked.",
      only(this.#scrubBytes),
    );
    to.counter(
      "kvdrive_scrub_files_total",
      "Files that the scrub has checked: whole, converted (whole, with missing digests added), or damaged.",
      Object.entries(this.#scrubbed).map(([outcome, count]) => [{ outcome }, count]),
    );
    to.counter(
      "kvdrive_scrub_runs_total",
      "Passes of the scrub over all files, by outcome.",
      Object.entries(this.#scrubs).map(([outcome, count]) => [{ outcome }, count]),
    );
  }

  #writeSweeps(to: Exposition): void {
    to.counter(
      "kvdrive_sweeper_runs_total",
      "Sweeps, by outcome.",
      Object.entries(this.#sweeps).map(([outcome, count]) => [{ outcome }, count]),
    );
    to.counter(
      "kvdrive_sweeper_run_seconds_total",
      "Total time of all sweeps.",
      only(this.#sweepSeconds),
    );
    to.counter(
      "kvdrive_sweeper_removed_total",
      "What the sweeper removed: versions' bytes in chunks, bytes listed in a manifest, abandoned uploads, lists of parts, expired files.",
      Object.entries(this.#swept).map(([kind, count]) => [{ kind }, count]),
    );
    to.counter(
      "kvdrive_sweeper_takeovers_total",
      "Dead or silent writers whose bytes the sweeper removed.",
      only(this.#takeovers),
    );
    to.gauge(
      "kvdrive_sweeper_last_success_timestamp_seconds",
      "End of the last successful sweep.",
      this.#lastSweep === undefined ? [] : only(this.#lastSweep),
    );
  }
}
