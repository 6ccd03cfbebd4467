import { compareNames } from "../../rules/names.ts";
import { prefixes, ranges } from "../engine/keys.ts";
import { COUNTERS, type DriveUsage, NO_USAGE } from "../quotas/usage.ts";
import { type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import { isEmptyFrom, type PageQuery, startOf } from "./listing.ts";

/** Counters that a drive has at most. */
const MAX_COUNTERS = Object.keys(COUNTERS).length;

export interface DriveQuery extends PageQuery {
  project: string;
  /** The only drives that are listed; `undefined` for all. */
  among: readonly string[] | undefined;
}

/** A page of the drives of a project, in the order of their names' UTF-8 bytes. */
export interface DrivePage {
  drives: DriveUsage[];
  /** Whether there is another drive. */
  more: boolean;
}

/**
 * Returns a page of a project's drives and their usage. It costs as much as the drives of the page.
 *
 * @param hidden Drives that are left out.
 */
export async function listDrives(
  reader: KvReader,
  query: DriveQuery,
  hidden: readonly string[],
): Promise<DrivePage> {
  const drives: DriveUsage[] = [];
  for await (const { key, value } of countersOf(reader, query)) {
    const [, , drive, counter] = key.map(String);
    if (drive === undefined || hidden.includes(drive)) continue;
    if (drives.at(-1)?.name !== drive) {
      if (drives.length === query.limit) return { drives, more: true };
      drives.push({ name: drive, ...NO_USAGE });
    }
    const usage = drives.at(-1);
    const field = COUNTERS[counter ?? ""];
    if (usage !== undefined && field !== undefined) usage[field] = Number(value.value);
  }
  return { drives, more: false };
}

/** The counters of drives, those of one drive after the other. */
async function* countersOf(
  reader: KvReader,
  query: DriveQuery,
): AsyncGenerator<Deno.KvEntry<Deno.KvU64>> {
  const { project, prefix, limit, among } = query;
  const from = startOf(query);
  if (isEmptyFrom(prefix, from)) return;
  if (among === undefined) {
    const batchSize = Math.min((limit + 1) * MAX_COUNTERS, MAX_LIST_BATCH);
    yield* reader.list<Deno.KvU64>(ranges.named(["usage", project], prefix, from), { batchSize });
    return;
  }
  const names = among.filter((name) => name.startsWith(prefix) && compareNames(name, from) >= 0);
  for (const name of names.sort(compareNames)) {
    yield* reader.list<Deno.KvU64>({ prefix: prefixes.all("usage", project, name) });
  }
}
