import { assertEquals, assertRejects } from "@std/assert";
import { QuotaExceeded } from "../engine/errors.ts";
import { DRIVE } from "./bodies.ts";
import { assertSums } from "./entries.ts";
import type { TestStore } from "./stores.ts";

const { project } = DRIVE;

/** Sets the quota of the test project in bytes; `null` removes it. */
export async function setQuota({ store }: TestStore, maxBytes: number | null): Promise<void> {
  const info = await store.projects.update(project, { maxBytes });
  assertEquals(info?.maxBytes, maxBytes ?? undefined);
}

/** Returns the bytes that count against the quota of the test project, after a check of all sums. */
export async function usedBytes(bench: TestStore): Promise<number> {
  await assertSums(bench);
  return await usedNow(bench);
}

/** The same without the check, for use while others write. */
export async function usedNow({ store }: TestStore): Promise<number> {
  const { bytes, openBytes, trashBytes } = await store.usageOf(project);
  return bytes + openBytes + trashBytes;
}

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
