/**
 * What reads a store's file: SQLite through a memory map (`mapped`), SQLite with system calls (`direct`), or Deno KV
 * (`kv`). Each is slower than the one before.
 */
export const READ_MODES = ["mapped", "direct", "kv"] as const;

export type ReadMode = typeof READ_MODES[number];
