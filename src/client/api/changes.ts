import { pause } from "./retrier.ts";
import type { Transport } from "./transport.ts";

/** Seconds for which the server waits for a change, and milliseconds until its answer must be there. */
const WAIT = 50;
const ANSWER_TIME = (WAIT + 30) * 1000;

/** The shortest time between two questions, in milliseconds, if the server ends the waiting early without a change. */
const MIN_INTERVAL = 1000;

/** Changes of one answer. */
const PAGE = 1000;

/**
 * What happened to a file of a drive.
 *
 * @example
 * ```ts
 * const describe = ({ type, name, from }: Change) => `${type} ${from ?? ""} ${name}`;
 * ```
 */
export interface Change {
  /** A cursor: `since` of a later call goes on after this change. */
  id: string;
  /** UTC with milliseconds. */
  at: string;
  /** `delete` is also for files that expired, or moved out of the key's sight. */
  type: "put" | "delete" | "move";
  name: string;
  /** The earlier name of a file that was moved. */
  from?: string;
  etag?: string;
  /** Bytes. */
  size?: number;
  content_type?: string;
}

/**
 * Where the changes of a drive begin, and how they are asked for.
 *
 * @example
 * ```ts
 * const options: ChangePageOptions = { since: "0", limit: 10, wait: 0 };
 * ```
 */
export interface ChangePageOptions {
  /** A cursor: the `id` of a change, or `last` of a page. `0`: from the oldest that is kept. Absent: none but later ones. */
  since?: string | number | undefined;
  /** 1 to 1000; 100 unless given. */
  limit?: number | undefined;
  /** Seconds, 0 to 60, for which the answer waits for a change. */
  wait?: number | undefined;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
}

/**
 * Some changes of a drive.
 *
 * @example
 * ```ts
 * const isAll = ({ more }: ChangePage) => !more;
 * ```
 */
export interface ChangePage {
  changes: Change[];
  /** The cursor after them. */
  last: string;
  /** Whether there are further ones by now. */
  more: boolean;
}

/** Returns the changes after a cursor. */
export async function changePage(
  transport: Transport,
  drive: string,
  { signal, ...query }: ChangePageOptions & { timeout?: number; retryFor?: number },
): Promise<ChangePage> {
  const { timeout = ANSWER_TIME, retryFor, ...own } = query;
  const path = [...transport.files, drive, "changes"];
  return await transport.json({
    method: "GET",
    path,
    query: { ...own },
    signal,
    timeout,
    retryFor,
  });
}

/** Returns changes as they happen, until the signal is aborted. A connection that breaks is made again, for ever. */
export async function* changes(
  transport: Transport,
  drive: string,
  { since, signal }: { since?: string | number | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<Change, void> {
  let cursor = since;
  let wait = 0;
  while (!signal?.aborted) {
    let page: ChangePage;
    const asked = performance.now();
    try {
      const options = { since: cursor, wait, limit: PAGE, signal, retryFor: Infinity };
      page = await changePage(transport, drive, options);
      const isEarly = wait > 0 && page.changes.length === 0 && !page.more;
      const left = asked + MIN_INTERVAL - performance.now();
      if (isEarly && left > 0) await pause(left, signal);
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
    for (const change of page.changes) {
      if (signal?.aborted) return;
      yield change;
    }
    cursor = page.last;
    wait = page.more ? 0 : WAIT;
  }
}
