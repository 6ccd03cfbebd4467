/**
 * The step to format 2: sums of each project's counters. Before, there was one entry with the sum of the bytes of each
 * project with a quota, and one entry for each open upload, and the metadata of S3 callers did not count.
 *
 * @module
 */
import { keys, prefixes, type UsageCounter } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { FileRecord, TrashRecord } from "../engine/records.ts";
import { countedBytes, countOf, PROJECT_COUNTERS } from "../quotas/usage.ts";
import { commitAll, type Conversion, type FormatStep } from "./format_step.ts";

/** The kinds of entries that format 2 does not have. */
const DROPPED = ["quota", "open_upload"];

/** All changes set absolute values, so the step can be interrupted anywhere and run again. */
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
  const kinds: [kind: string, counter: UsageCounter, recordOf: (value: unknown) => FileRecord][] = [
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
    for await (const { key } of reader.list({ prefix: prefixes.all(kind) })) {
      yield new Operation().delete(key);
    }
  }
}

/** An operation deletes before it adds. */
function setCounter(key: Deno.KvKey, value: number): Operation {
  return new Operation().delete(key).sum(key, value);
}
