import { MINUTE } from "../../rules/units.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { setProjectRecord } from "../engine/project_cache.ts";
import type { ProjectRecord, QuotaRecord } from "../engine/records.ts";
import { setExpiring } from "../files/garbage.ts";
import type { FileCount } from "./files.ts";
import type { PendingRemovals } from "./ownership.ts";
import { driveText, type Problem } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** How long it stays known that counters were put right: much longer than counting takes. */
export const RECOUNT_MARK_TTL = 24 * 60 * MINUTE;

const COUNTERS = ["files", "bytes"] as const;

interface Counted {
  project: string;
  drive: string;
  files: bigint;
  bytes: bigint;
}

/** Counts what drives hold while their files are walked in the order of the store, and compares it with the counters. */
export class UsageCheck {
  readonly #snapshot: Snapshot;
  readonly #removals: PendingRemovals;
  #counted: Counted | undefined;
  #wrong: Problem[] = [];

  constructor(snapshot: Snapshot, removals: PendingRemovals) {
    this.#snapshot = snapshot;
    this.#removals = removals;
  }

  add({ project, drive, size }: Omit<FileCount, "isUnchecked">): void {
    const current = this.#counted;
    if (current?.project !== project || current.drive !== drive) {
      this.#finish();
      this.#counted = { project, drive, files: 0n, bytes: 0n };
    }
    if (this.#counted === undefined) return;
    this.#counted.files++;
    this.#counted.bytes += BigInt(size);
  }

  /** What was found in drives whose files have all come. */
  *found(): Generator<Problem> {
    yield* this.#wrong.splice(0);
  }

  /** To be called when all files have come: gives the rest, and what counters say of drives without a file. */
  *rest(): Generator<Problem> {
    this.#finish();
    this.#counted = undefined;
    yield* this.found();
    for (const [, project = "", drive = ""] of this.#heads()) {
      const isEmpty = !this.#snapshot.heads(["file", project, drive], 3).next().value;
      if (!isEmpty) continue;
      this.#compare({ project, drive, files: 0n, bytes: 0n });
      yield* this.found();
    }
  }

  *#heads(): Generator<string[]> {
    for (const head of this.#snapshot.heads(prefixes.all("usage"), 3)) yield head.map(String);
  }

  #finish(): void {
    if (this.#counted !== undefined) this.#compare(this.#counted);
  }

  #compare(counted: Counted): void {
    const { project, drive } = counted;
    // Files go one after another then, and the counters at the end.
    if (this.#removals.hasDrive(project, drive)) return;
    const told = COUNTERS.map((counter) => this.#told(project, drive, counter));
    const isRight = COUNTERS.every((counter, i) => told[i]?.value === counted[counter]);
    // A drive that never had a byte has no counter of bytes.
    if (isRight) return;
    const [files, bytes] = told;
    const correction = this.#correction(counted);
    this.#wrong.push({
      kind: "usage",
      message: `The counters of ${driveText(project, drive)} say ${files?.value} files of ` +
        `${bytes?.value} bytes, and there are ${counted.files} of ${counted.bytes}`,
      project,
      drive,
      repair: {
        done: "The counters were put right",
        operations: () => [correction],
      },
    });
  }

  #told(project: string, drive: string, counter: "files" | "bytes") {
    const entry = this.#snapshot.get<unknown>(keys.usage(project, drive, counter));
    if (entry === undefined) return { value: 0n, versionstamp: null };
    const { value, versionstamp } = entry;
    return { value: value instanceof Deno.KvU64 ? value.value : undefined, versionstamp };
  }

  /**
   * Writers add to the counters and never set them, so what is missing can be added whatever they do meanwhile. That it
   * is added once is seen by an entry of its own.
   */
  #correction(counted: Counted): Operation {
    const { project, drive } = counted;
    const mark = keys.recounted(project, drive);
    const operation = new Operation()
      .check(mark, this.#snapshot.get(mark)?.versionstamp ?? null);
    const deadline = Date.now() + RECOUNT_MARK_TTL;
    const id = crypto.randomUUID();
    setExpiring(operation, counted, { key: mark, value: id, deadline, id });
    for (const counter of COUNTERS) {
      const key = keys.usage(project, drive, counter);
      const { value, versionstamp } = this.#told(project, drive, counter);
      if (value !== undefined) operation.sum(key, counted[counter] - value);
      // What is no counter nobody can have added to. A sum comes after what is deleted.
      else operation.check(key, versionstamp).delete(key).sum(key, counted[counter]);
    }
    return operation;
  }
}

/** Sums of bytes that are not what the counters of a project's drives say, or of a project that needs none. */
export function* quotaProblems(snapshot: Snapshot): Generator<Problem> {
  for (const entry of snapshot.list<QuotaRecord>(prefixes.all("quota"))) {
    const project = String(entry.key[1]);
    const owner = snapshot.get<ProjectRecord>(keys.project(project));
    if (owner?.value.maxBytes === undefined) yield unneeded(project, entry);
    else {
      const counted = countedBytes(snapshot, project, owner.value);
      if (counted !== entry.value.bytes) yield wrong(project, entry, owner, counted);
    }
  }
}

function unneeded(project: string, { key, versionstamp }: SnapshotEntry): Problem {
  const removal = new Operation().check(key, versionstamp).delete(key);
  return {
    kind: "quota",
    message: `There is a sum of bytes for project ${project}, which has no limit`,
    project,
    repair: { done: "The sum was removed", operations: () => [removal] },
  };
}

/** Whoever is about to use the sum demands the project's record, so that one is written anew as well. */
function wrong(
  project: string,
  { value }: SnapshotEntry<QuotaRecord>,
  owner: SnapshotEntry<ProjectRecord>,
  counted: number,
): Problem {
  const removal = new Operation().check(owner.key, owner.versionstamp);
  setProjectRecord(removal, project, owner.value);
  return {
    kind: "quota",
    message:
      `The sum of bytes of project ${project} says ${value.bytes}, and the counters of its ` +
      `drives ${counted}`,
    project,
    repair: { done: "It is added up anew", operations: () => [removal] },
  };
}

/** What the counters say, right or wrong: those are looked at on their own. */
function countedBytes(snapshot: Snapshot, project: string, { removing = [] }: ProjectRecord) {
  let sum = 0;
  for (const { key, value } of snapshot.list<unknown>([...prefixes.all("usage"), project])) {
    const [, , drive = "", counter] = key.map(String);
    if (counter === "files" || removing.includes(drive)) continue;
    if (value instanceof Deno.KvU64) sum += Number(value.value);
  }
  return sum;
}
