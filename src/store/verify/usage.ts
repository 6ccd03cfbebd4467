import { RECOUNT_MEMORY } from "../../drive/limits.ts";
import { keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import type { Snapshot } from "../snapshot.ts";
import type { FileCount } from "./files.ts";
import { driveText, type Problem } from "./problem.ts";
import type { Removals } from "./removals.ts";

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
  readonly #removals: Removals;
  #counted: Counted | undefined;
  #wrong: Problem[] = [];

  constructor(snapshot: Snapshot, removals: Removals) {
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
      .check(mark, this.#snapshot.get(mark)?.versionstamp ?? null)
      .set(mark, crypto.randomUUID(), RECOUNT_MEMORY);
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
