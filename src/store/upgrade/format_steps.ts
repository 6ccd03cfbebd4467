/**
 * The steps from each format of the store to the next.
 *
 * @module
 */
import { keys, prefixes, type UsageCounter } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { FileRecord, TrashRecord } from "../engine/records.ts";
import { type Kind, KINDS } from "../engine/records/kinds.ts";
import { countedBytes, countOf, PROJECT_COUNTERS } from "../quotas/usage.ts";
import { isRecordKind } from "../reads/record_codec.ts";
import { inBatches, type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";

/** Operations that are committed at the same time. */
const COMMIT_BATCH = 100;

/** A store during a step. */
export interface Conversion {
  reader: KvReader;
  /**
   * Commits a change. Changes of the same turn share commits, so a batch is a `Promise.all` of small operations.
   *
   * @returns `false` if a check of the operation fails.
   * @throws {Overtaken} once another process has finished the step.
   */
  commit(operation: Operation): Promise<boolean>;
  /** Receives the progress, as a sentence. */
  onNotice(text: string): void;
}

/** The change from one format to the next. */
export interface FormatStep {
  from: number;
  to: number;
  /** What it does, as the end of a sentence. */
  description: string;
  /**
   * Changes the entries. It may be interrupted anywhere and run again from its beginning, so it leaves what it has
   * changed already.
   */
  convert(conversion: Conversion): Promise<void>;
}

/** Commits operations in batches, in their order. */
async function commitAll(
  { commit }: Conversion,
  operations: AsyncIterable<Operation>,
): Promise<void> {
  for await (const batch of inBatches(operations, COMMIT_BATCH)) {
    await Promise.all(batch.map(commit));
  }
}

/** The kinds of entries that format 2 does not have. */
const DROPPED = ["quota", "open_upload"];

/**
 * The step to format 2: sums of each project's counters. Before, there was one entry with the sum of the bytes of each
 * project with a quota, and one entry for each open upload, and the metadata of S3 callers did not count. All changes set
 * absolute values.
 */
export const projectSums: FormatStep = {
  from: 1,
  to: 2,
  description: "the usage of each project is added up",
  convert: async (conversion) => {
    await commitAll(conversion, drivesWithMetadata(conversion));
    await commitAll(conversion, sums(conversion));
    await commitAll(conversion, dropped(conversion));
  },
};

/** Yields the corrections of drives in which metadata has to be counted. */
async function* drivesWithMetadata({ reader }: Conversion): AsyncGenerator<Operation> {
  const kinds: [
    kind: "file" | "trash",
    counter: UsageCounter,
    recordOf: (value: unknown) => FileRecord,
  ][] = [
    ["file", "bytes", (value) => value as FileRecord],
    ["trash", "trash_bytes", (value) => (value as TrashRecord).record],
  ];
  for (const [kind, counter, recordOf] of kinds) {
    // The entries of a drive follow each other.
    let current = { project: "", drive: "", bytes: 0, hasMetadata: false };
    const correction = function* () {
      const { project, drive, bytes, hasMetadata } = current;
      if (hasMetadata) yield setCounter(keys.usage(project, drive, counter), bytes);
    };
    for await (const { key, value } of reader.list({ prefix: prefixes.all(kind) })) {
      const [, project = "", drive = ""] = key.map(String);
      if (project !== current.project || drive !== current.drive) {
        yield* correction();
        current = { project, drive, bytes: 0, hasMetadata: false };
      }
      const record = recordOf(value);
      current.bytes += countedBytes(record);
      current.hasMetadata ||= record.object !== undefined;
    }
    yield* correction();
  }
}

async function* sums({ reader }: Conversion): AsyncGenerator<Operation> {
  const totals = new Map<string, Map<string, number>>();
  const add = (project: string, counter: string, by: number) => {
    const counts = totals.get(project) ?? new Map<string, number>();
    totals.set(project, counts.set(counter, (counts.get(counter) ?? 0) + by));
  };
  for await (const { key, value } of reader.list({ prefix: prefixes.all("usage") })) {
    add(String(key[1]), String(key[3]), countOf(value));
  }
  for await (const { key } of reader.list({ prefix: prefixes.all("upload") })) {
    add(String(key[1]), "open_uploads", 1);
  }
  for (const [project, counts] of totals) {
    for (const counter of PROJECT_COUNTERS) {
      yield setCounter(keys.projectUsage(project, counter), counts.get(counter) ?? 0);
    }
  }
}

async function* dropped({ reader }: Conversion): AsyncGenerator<Operation> {
  for (const kind of DROPPED) {
    for await (const { key } of reader.list({ prefix: [kind] })) {
      yield new Operation().delete(key);
    }
  }
}

/** An operation deletes before it adds. */
function setCounter(key: Deno.KvKey, value: number): Operation {
  return new Operation().delete(key).sum(key, value);
}

/** Kinds of entries that expire by themselves, and would not any more if they were written again. */
const EXPIRING = new Set(["commit", "recounted"]);

/** Records that are converted at a time. They share commits. */
const RECORD_BATCH = 500;

/** Records after which the progress is reported. */
const REPORT_EVERY = 100_000;

type Entry = Deno.KvEntry<unknown>;

/**
 * The step to format 3. Writes each record again, which adds its checksum. That reads the same, so servers of this version do not notice which
 * records were converted.
 */
export const checkedRecords: FormatStep = {
  from: 2,
  to: 3,
  description: "each record gets a checksum",
  async convert(conversion) {
    const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) =>
      isRecordKind(kind) && !EXPIRING.has(kind)
    );
    let done = 0;
    for (const kind of kinds) {
      const options = { batchSize: MAX_LIST_BATCH };
      const entries = conversion.reader.list({ prefix: prefixes.all(kind) }, options);
      for await (const batch of inBatches(entries, RECORD_BATCH)) {
        const records = batch.filter(({ value }) => !(value instanceof Deno.KvU64));
        await Promise.all(records.map((entry) => convertEntry(conversion, entry)));
        const before = done;
        done += records.length;
        if (Math.floor(before / REPORT_EVERY) === Math.floor(done / REPORT_EVERY)) continue;
        conversion.onNotice(`${done} records have their checksum`);
      }
    }
  },
};

/** Writes a record again unless it has changed since: every change writes the checksum. */
async function convertEntry({ commit }: Conversion, entry: Entry): Promise<void> {
  const { key, value, versionstamp } = entry;
  await commit(new Operation().check(key, versionstamp).set(key, value));
}

/**
 * The step to format 4. A store in files has its chunks in one of their own from there on, which `separateBytes` moves
 * whenever it finds some among the records. In a shared store nothing changes.
 */
const separateFiles: FormatStep = {
  from: 3,
  to: 4,
  description: "chunks of files may have a file of their own",
  convert: async () => {},
};

/** All steps in their order. The last one leads to `FORMAT`. */
export const FORMAT_STEPS: readonly FormatStep[] = [projectSums, checkedRecords, separateFiles];
