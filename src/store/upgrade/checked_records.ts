import { prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { isRecordKind } from "../reads/record_codec.ts";
import { inBatches, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import { KINDS } from "../verify/verify.ts";
import type { Conversion, FormatStep } from "./format_step.ts";

/** Kinds of entries that expire by themselves, and would not any more if they were written again. */
const EXPIRING = new Set(["commit", "recounted"]);

/** Records that are converted at a time. They share commits. */
const BATCH = 500;

/** Records after which the progress is reported. */
const REPORT_EVERY = 100_000;

type Entry = Deno.KvEntry<unknown>;

/**
 * Writes each record again, which adds its checksum. That reads the same, so servers of this version do not notice which
 * records were converted.
 */
export const checkedRecords: FormatStep = {
  from: 2,
  to: 3,
  description: "each record gets a checksum",
  async convert(conversion) {
    const kinds = [...KINDS].filter((kind) => isRecordKind(kind) && !EXPIRING.has(kind));
    let done = 0;
    for (const kind of kinds) {
      const options = { batchSize: MAX_LIST_BATCH };
      const entries = conversion.reader.list({ prefix: prefixes.all(kind) }, options);
      for await (const batch of inBatches(entries, BATCH)) {
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
