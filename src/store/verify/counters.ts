/**
 * The counters of drives, and their sums for each project.
 *
 * @module
 */
import { DAY } from "../../rules/units.ts";
import { setExpiring } from "../bytes/garbage.ts";
import { identityOf, keys, prefixes, type UsageCounter } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { PROJECT_COUNTERS, USAGE_COUNTERS } from "../quotas/usage.ts";
import type { PendingDeletions } from "./ownership.ts";
import { driveText, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** How long the mark of a corrected counter lives, in milliseconds: much longer than a check takes. */
const RECOUNT_MARK_TTL = DAY;

type ProjectCounter = (typeof PROJECT_COUNTERS)[number];

const LABELS: Readonly<Record<ProjectCounter, string>> = {
  files: "files",
  bytes: "bytes",
  open_bytes: "bytes in open uploads",
  trash_files: "files in the trash",
  trash_bytes: "bytes in the trash",
  open_uploads: "open uploads",
};

/** A drive, or a project without one. */
interface Counted {
  project: string;
  drive?: string;
}

interface WrongCounter {
  counter: ProjectCounter;
  /** `undefined` if the entry is no counter. */
  counted: bigint | undefined;
  right: bigint;
}

type Counts = Map<string, bigint>;

/** Compares counters with what they count. */
export class UsageCheck {
  /** By project and drive. */
  readonly #drives = new Map<string, Map<string, Counts>>();
  readonly #openUploads = new Map<string, bigint>();

  constructor(private readonly snapshot: Snapshot, private readonly deletions: PendingDeletions) {}

  /** Adds to the right value of a counter of a drive. */
  add(
    { project, drive }: { project: string; drive: string },
    counter: UsageCounter,
    by: number,
  ): void {
    const counts = this.#countsOf(project, drive);
    counts.set(counter, (counts.get(counter) ?? 0n) + BigInt(by));
  }

  addUpload(project: string): void {
    this.#openUploads.set(project, (this.#openUploads.get(project) ?? 0n) + 1n);
  }

  /** Yields wrong counters and wrong sums. To be called after the last `add`. */
  *problems(): Generator<Problem> {
    for (const head of this.snapshot.heads(prefixes.all("usage"), 3)) {
      this.#countsOf(String(head[1]), String(head[2]));
    }
    for (const [project, drives] of this.#drives) {
      if (this.deletions.hasProject(project)) continue;
      const sums: Counts = new Map([["open_uploads", this.#openUploads.get(project) ?? 0n]]);
      for (const [drive, rights] of drives) {
        // The deletion of a drive removes its counters first, together with its part of the sums.
        const isDeleted = this.deletions.hasDrive(project, drive);
        const wrong: WrongCounter[] = [];
        for (const counter of USAGE_COUNTERS) {
          const counted = this.#value(keys.usage(project, drive, counter));
          const right = isDeleted ? counted ?? 0n : rights.get(counter) ?? 0n;
          if (counted !== right) wrong.push({ counter, counted, right });
          sums.set(counter, (sums.get(counter) ?? 0n) + right);
        }
        if (!isDeleted) yield* this.#wrongCounters({ project, drive }, wrong);
      }
      const wrong = PROJECT_COUNTERS.map((counter) => ({
        counter,
        counted: this.#value(keys.projectUsage(project, counter)),
        right: sums.get(counter) ?? 0n,
      }));
      yield* this.#wrongCounters({ project }, wrong.filter((one) => one.counted !== one.right));
    }
  }

  #value(key: Deno.KvKey): bigint | undefined {
    return counterValue(this.snapshot.get(key));
  }

  #countsOf(project: string, drive: string): Counts {
    const drives = this.#drives.get(project) ?? new Map<string, Counts>();
    const counts = drives.get(drive) ?? new Map<string, bigint>();
    this.#drives.set(project, drives.set(drive, counts));
    return counts;
  }

  *#wrongCounters(place: Counted, wrong: readonly WrongCounter[]): Generator<Problem> {
    if (wrong.length === 0) return;
    const { project, drive } = place;
    const what = drive === undefined ? `project ${project}` : driveText({ project, drive });
    const labelled = (of: "counted" | "right") =>
      wrong.map((one) => `${one[of] ?? "an invalid number of"} ${LABELS[one.counter]}`)
        .join(" and ");
    const message = `The counters of ${what} say ${labelled("counted")}, ` +
      `but there are ${labelled("right")}`;
    const correction = this.#correction(place, wrong);
    yield repairable(
      { kind: "usage", message, ...place },
      correction,
      "The counters were corrected",
    );
  }

  /**
   * Returns an operation that corrects counters at most once. Writers only add to counters, so a correction may add the
   * difference at any time after the snapshot; the mark that it checks and sets tells that this has happened. The check
   * of the project refuses it if the drive was deleted since.
   */
  #correction({ project, drive }: Counted, wrong: readonly WrongCounter[]): Operation {
    const snapshot = this.snapshot;
    const versionstampOf = (key: Deno.KvKey) => snapshot.get(key)?.versionstamp ?? null;
    const mark = keys.recounted(project, drive);
    const owner = keys.project(project);
    const operation = new Operation().check(mark, versionstampOf(mark))
      .check(owner, versionstampOf(owner));
    const id = crypto.randomUUID();
    const deadline = Date.now() + RECOUNT_MARK_TTL;
    setExpiring(operation, { project, drive: drive ?? "" }, { key: mark, value: id, deadline, id });
    for (const { counter, right } of wrong) {
      const key = drive === undefined || counter === "open_uploads"
        ? keys.projectUsage(project, counter)
        : keys.usage(project, drive, counter);
      correctCounter(operation, snapshot, key, right);
    }
    return operation;
  }
}

/** Adds to an operation what changes a counter to its right value. */
export function correctCounter(
  operation: Operation,
  snapshot: Snapshot,
  key: Deno.KvKey,
  right: bigint,
): void {
  const entry = snapshot.get(key);
  const value = counterValue(entry);
  // An entry that is no counter is replaced: no writer can have added to it, and operations delete before they add.
  if (value === undefined) operation.check(key, entry?.versionstamp ?? null).delete(key);
  operation.sum(key, right - (value ?? 0n));
}

/** Yields the damaged counters of a kind that other checks do not compare with what they count. */
export function* damagedCounters(
  snapshot: Snapshot,
  kind: "webhook_due" | "link_downloads",
  rightOf: (key: readonly (string | number)[]) => number,
): Generator<Problem> {
  for (const entry of snapshot.list<unknown>(prefixes.all(kind))) {
    if (counterValue(entry) !== undefined) continue;
    const { key, versionstamp } = entry;
    const value = new Deno.KvU64(BigInt(rightOf(key)));
    const message = `The entry ${identityOf(key)} is no counter`;
    const correction = new Operation().check(key, versionstamp).set(key, value);
    yield repairable({ kind: "usage", message }, correction, `It was set to ${value.value}`);
  }
}

/** Returns the value of a counter: 0 if there is none, `undefined` for an entry that is no counter. */
export function counterValue(entry: SnapshotEntry<unknown> | undefined): bigint | undefined {
  if (entry === undefined) return 0n;
  return entry.value instanceof Deno.KvU64 ? entry.value.value : undefined;
}
