import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { SharedCheck } from "../engine/operation.ts";
import type { ProjectRecord, QuotaRecord } from "../engine/records.ts";
import { listDrives } from "./usage.ts";

/** The bytes of a project with a quota at one moment, and what has to be unchanged for them to be so still. */
export interface QuotaAccount {
  used: number;
  limit: number;
  /** Demands the project's record. */
  unchanged: SharedCheck;
  /** Of the entry with the sum; `null`: there was none, and the counters of the drives were added up. */
  versionstamp: string | null;
}

/** The account of a project; `undefined` where it has no quota, or is not there. */
export async function readQuotaAccount(
  db: Database,
  project: string,
): Promise<QuotaAccount | undefined> {
  const [owner, entry] = await db.reads.get<[ProjectRecord, QuotaRecord]>([
    keys.project(project),
    keys.quota(project),
  ]);
  return await quotaAccountOf(db, owner, entry);
}

/**
 * The same from a project's record and entry, which were read at one moment.
 *
 * Without an entry the counters are read in several steps, and yet the sum is exact where the entry is still missing and
 * the record still unchanged afterwards: whoever changes a counter makes the entry, and it is deleted only together with
 * a change of the record.
 */
export async function quotaAccountOf(
  db: Database,
  owner: Deno.KvEntryMaybe<ProjectRecord>,
  entry: Deno.KvEntryMaybe<QuotaRecord>,
): Promise<QuotaAccount | undefined> {
  const limit = owner.value?.maxBytes;
  if (limit === undefined) return undefined;
  const used = entry.value?.bytes ??
    await countBytes(db, String(owner.key[1]), owner.value?.removing ?? []);
  const unchanged = new SharedCheck(owner.key, owner.versionstamp);
  return { used, limit, unchanged, versionstamp: entry.versionstamp };
}

/** Whether a project may grow by so many bytes. It may always become smaller, also while it has too many. */
export function fitsQuota(
  { used, limit }: Pick<QuotaAccount, "used" | "limit">,
  more: number,
): boolean {
  return more <= 0 || used + more <= limit;
}

async function countBytes(
  db: Database,
  project: string,
  removing: readonly string[],
): Promise<number> {
  const drives = await listDrives(db, project);
  return drives.filter(({ name }) => !removing.includes(name))
    .reduce((sum, { bytes, openBytes }) => sum + bytes + openBytes, 0);
}
