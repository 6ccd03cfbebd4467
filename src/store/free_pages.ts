import type { DatabaseSync } from "node:sqlite";

/** How many pages of the store's file hold nothing. */
export function freePages(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA freelist_count").get()?.["freelist_count"] ?? 0);
}
