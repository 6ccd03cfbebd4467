import { assertEquals, assertRejects } from "@std/assert";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { QuotaRecord } from "../engine/records.ts";
import { DRIVE } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

const { project } = DRIVE;

/** Sets the quota of the test project in bytes; `null` removes it. */
export async function setQuota({ store }: TestStore, maxBytes: number | null): Promise<void> {
  const info = await store.projects.update(project, { maxBytes });
  assertEquals(info?.maxBytes, maxBytes ?? undefined);
}

/**
 * Returns the bytes of the test project, open uploads included. Its quota entry, if there is one, must say the same.
 */
export async function usedBytes({ store, db }: TestStore): Promise<number> {
  const drives = await store.drives(project);
  const sum = drives.reduce((all, { bytes, openBytes }) => all + bytes + openBytes, 0);
  const { value } = await db.reader.get<QuotaRecord>(keys.quota(project));
  if (value !== null) assertEquals(value, { bytes: sum });
  return sum;
}

/** Returns what the quota entry of the test project says; 0 without one. For use while others write. */
export async function quotaEntry({ db }: TestStore): Promise<number> {
  return (await db.reader.get<QuotaRecord>(keys.quota(project))).value?.bytes ?? 0;
}

/** Asserts that work fails for the quota. */
export async function assertQuotaExceeded(work: Promise<unknown>): Promise<QuotaExceeded> {
  return await assertRejects(() => work, QuotaExceeded);
}

/** Rethrows an error unless it is for the quota. */
export function ignoreQuotaExceeded(error: unknown): void {
  if (!(error instanceof QuotaExceeded)) throw error;
}

export function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
