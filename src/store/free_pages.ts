import type { DatabaseSync } from "node:sqlite";

/** How many pages of the store's file hold nothing. */
export function freePages(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA freelist_count").get()?.["freelist_count"] ?? 0);
}

/** How many pages the store's file has. */
export function pageCount(sqlite: DatabaseSync): number {
  return Number(sqlite.prepare("PRAGMA page_count").get()?.["page_count"] ?? 0);
}
