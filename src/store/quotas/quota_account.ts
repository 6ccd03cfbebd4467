import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { SharedCheck } from "../engine/operation.ts";
import type { ProjectRecord, QuotaRecord } from "../engine/records.ts";
import { listDrives } from "./usage.ts";

/** The bytes of a project with a quota at one moment, and what shows that they are still the same. */
export interface QuotaAccount {
  /** Bytes of its files, of its trash, and of the parts of its open uploads. */
  used: number;
  /** The quota in bytes. */
  limit: number;
  /** Fails an operation if the project's record has changed. */
  unchanged: SharedCheck;
  /** Of the entry with the sum; `null` if there was none and the counters of the drives were added up. */
  versionstamp: string | null;
}

/** Reads the account of a project. Returns `undefined` if it has no quota or does not exist. */
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
 * Returns the account of a project from its record and its quota entry, which were read at one moment.
 *
 * If there is no entry, the counters are read in several steps. The sum is exact if there is still no entry afterwards and
 * the record is unchanged: every change of a counter writes the entry, and only a change of the record deletes it.
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

/** Returns whether a project may grow by `more` bytes. It may always shrink, even if it is over its quota. */
export function fitsQuota(
  { used, limit }: Pick<QuotaAccount, "used" | "limit">,
  more: number,
): boolean {
  return more <= 0 || used + more <= limit;
}

async function countBytes(
  db: Database,
  project: string,
  deleting: readonly string[],
): Promise<number> {
  const drives = await listDrives(db, project);
  return drives.filter(({ name }) => !deleting.includes(name))
    .reduce((sum, { bytes, openBytes, trashBytes }) => sum + bytes + openBytes + trashBytes, 0);
}
