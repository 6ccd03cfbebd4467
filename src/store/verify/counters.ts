/**
 * The counters of drives, and the sums that quotas are compared with.
 *
 * @module
 */
import { DAY } from "../../rules/units.ts";
import { identityOf, keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { setProjectRecord } from "../engine/project_cache.ts";
import type { ProjectRecord, QuotaRecord } from "../engine/records.ts";
import { setExpiring } from "../bytes/garbage.ts";
import type { FileCount } from "./files.ts";
import type { PendingDeletions } from "./ownership.ts";
import { deleteUnchanged, driveText, type Problem, repairWith } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** How long the mark of a corrected counter lives, in milliseconds: much longer than a check takes. */
const RECOUNT_MARK_TTL = DAY;

const COUNTERS = ["files", "bytes"] as const;

/** What the files of a drive add up to. */
interface DriveUsage {
  project: string;
  drive: string;
  files: bigint;
  bytes: bigint;
}

/** Compares the counters of drives with their files, which are added in the order of the store's keys. */
export class UsageCheck {
  readonly #snapshot: Snapshot;
  readonly #deletions: PendingDeletions;
  /** The drive whose files are being added. */
  #current: DriveUsage | undefined;
  #problems: Problem[] = [];

  constructor(snapshot: Snapshot, deletions: PendingDeletions) {
    this.#snapshot = snapshot;
    this.#deletions = deletions;
  }

  add({ project, drive, size }: Omit<FileCount, "isUnchecked">): void {
    const current = this.#current;
    if (current?.project !== project || current.drive !== drive) {
      this.#compareCurrent();
      this.#current = { project, drive, files: 0n, bytes: 0n };
    }
    if (this.#current === undefined) return;
    this.#current.files++;
    this.#current.bytes += BigInt(size);
  }

  /**
   * Yields the problems of all drives, including those that have counters and no file. Call it after the last `add`.
   */
  *finish(): Generator<Problem> {
    this.#compareCurrent();
    this.#current = undefined;
    yield* this.#problems.splice(0);
    for (const head of this.#snapshot.heads(prefixes.all("usage"), 3)) {
      const [, project = "", drive = ""] = head.map(String);
      const hasFiles = this.#snapshot.heads(["file", project, drive], 3).next().value !== undefined;
      if (hasFiles) continue;
      this.#compare({ project, drive, files: 0n, bytes: 0n });
      yield* this.#problems.splice(0);
    }
  }

  #compareCurrent(): void {
    if (this.#current !== undefined) this.#compare(this.#current);
  }

  #compare(usage: DriveUsage): void {
    const { project, drive } = usage;
    // A deletion removes the files one by one and the counters last.
    if (this.#deletions.hasDrive(project, drive)) return;
    const [files, bytes] = COUNTERS.map((counter) =>
      counterValue(this.#snapshot.get(keys.usage(project, drive, counter)))
    );
    if (files === usage.files && bytes === usage.bytes) return;
    this.#problems.push({
      kind: "usage",
      message: `The counters of ${driveText(usage)} say ${files} files and ${bytes} bytes, ` +
        `but there are ${usage.files} files and ${usage.bytes} bytes`,
      project,
      drive,
      repair: repairWith(this.#correction(usage), "The counters were corrected"),
    });
  }

  #correction(usage: DriveUsage): Operation {
    const { project, drive } = usage;
    const operation = recountOnce(this.#snapshot, usage);
    for (const counter of COUNTERS) {
      correctCounter(
        operation,
        this.#snapshot,
        keys.usage(project, drive, counter),
        usage[counter],
      );
    }
    return operation;
  }
}

/** Returns the value of a counter: 0 if there is none, `undefined` for an entry that is no counter. */
export function counterValue(entry: SnapshotEntry<unknown> | undefined): bigint | undefined {
  if (entry === undefined) return 0n;
  return entry.value instanceof Deno.KvU64 ? entry.value.value : undefined;
}

/**
 * Returns an operation that corrects counters of a drive at most once. Writers only add to counters, so a correction
 * may add the difference at any time after the snapshot; the mark it checks and sets tells that this has happened.
 */
export function recountOnce(
  snapshot: Snapshot,
  { project, drive }: { project: string; drive: string },
): Operation {
  const mark = keys.recounted(project, drive);
  const operation = new Operation().check(mark, snapshot.get(mark)?.versionstamp ?? null);
  const id = crypto.randomUUID();
  const deadline = Date.now() + RECOUNT_MARK_TTL;
  setExpiring(operation, { project, drive }, { key: mark, value: id, deadline, id });
  return operation;
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

/**
 * Yields problems of counters of drives, including those that count something in drives without it.
 *
 * @param counts The right values by the identity of the counter's key. Values of 0 are added.
 * @param labels The counters concerned, and what each counts.
 */
export function* driveCounterProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
  counts: Map<string, bigint>,
  labels: Readonly<Record<string, string>>,
): Generator<Problem> {
  for (const key of snapshot.keys(prefixes.all("usage"))) {
    const id = identityOf(key);
    if (String(key.at(-1)) in labels && !counts.has(id)) counts.set(id, 0n);
  }
  for (const [id, right] of counts) {
    const key = (JSON.parse(id) as unknown[]).map(String);
    const [, project = "", drive = "", counter = ""] = key;
    // A deletion removes the counters last.
    if (deletions.hasDrive(project, drive)) continue;
    const counted = counterValue(snapshot.get(key));
    if (counted === right) continue;
    const correction = recountOnce(snapshot, { project, drive });
    correctCounter(correction, snapshot, key, right);
    yield {
      kind: "usage",
      message: `The counter of ${labels[counter]} of ${driveText({ project, drive })} says ` +
        `${counted}, but there are ${right}`,
      project,
      drive,
      repair: repairWith(correction, "The counter was corrected"),
    };
  }
}

/** Yields stored sums of bytes that differ from the counters of a project's drives, or whose project has no quota. */
export function* quotaProblems(snapshot: Snapshot): Generator<Problem> {
  for (const entry of snapshot.list<QuotaRecord>(prefixes.all("quota"))) {
    const project = String(entry.key[1]);
    const owner = snapshot.get<ProjectRecord>(keys.project(project));
    if (owner?.value.maxBytes === undefined) yield unneededSum(project, entry);
    else {
      const counted = countedBytes(snapshot, project, owner.value);
      if (counted !== entry.value.bytes) yield wrongSum(project, entry, owner, counted);
    }
  }
}

function unneededSum(project: string, entry: SnapshotEntry): Problem {
  return {
    kind: "quota",
    message: `There is a sum of bytes for project ${project}, which has no limit`,
    project,
    repair: repairWith(deleteUnchanged(entry), "The sum was removed"),
  };
}

function wrongSum(
  project: string,
  { value }: SnapshotEntry<QuotaRecord>,
  owner: SnapshotEntry<ProjectRecord>,
  counted: number,
): Problem {
  // Writers that use the sum check the project's record: writing that again makes them start over with a new sum.
  const removal = new Operation().check(owner.key, owner.versionstamp);
  setProjectRecord(removal, project, owner.value);
  return {
    kind: "quota",
    message: `The sum of bytes of project ${project} is ${value.bytes}, ` +
      `but the counters of its drives add up to ${counted}`,
    project,
    repair: repairWith(removal, "The next write adds it up again"),
  };
}

/** The counters that a quota limits. */
const COUNTED = new Set(["bytes", "open_bytes", "trash_bytes"]);

/** Adds up the counters as they are: wrong ones are problems of their own. */
function countedBytes(
  snapshot: Snapshot,
  project: string,
  { removing = [] }: ProjectRecord,
): number {
  let sum = 0;
  for (const { key, value } of snapshot.list<unknown>([...prefixes.all("usage"), project])) {
    const [, , drive = "", counter = ""] = key.map(String);
    if (!COUNTED.has(counter) || removing.includes(drive)) continue;
    if (value instanceof Deno.KvU64) sum += Number(value.value);
  }
  return sum;
}
