/**
 * What `ThreadReader` and its thread tell each other: a file first, then queries, each of which has one answer.
 *
 * @module
 */
import type { KvRow } from "./kv_encoding.ts";
import type { RowRange } from "./rows.ts";

/** The rows of some keys, or those of a range, as they are at one moment. */
export type RowQuery = { keys: Uint8Array<ArrayBuffer>[] } | RowRange;

/** The last message to a thread: it closes the file, and answers. */
export const CLOSE = "close";

export type RowMessage = { path: string } | RowQuery | typeof CLOSE;

/** Errors travel as text: structured clones lose their class. */
export type RowAnswer = { rows: (KvRow | undefined)[] } | { error: string };
