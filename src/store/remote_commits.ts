import { monotonicUlid } from "@std/ulid";
import {
  COMMIT_MARKER_TIME,
  LATE_COMMIT_TIME,
  MAX_OVERDUE_COMMITS,
  REMOTE_BULK_COMMITS,
  REMOTE_COMMIT_CHECKS,
  REMOTE_COMMIT_TIME,
  REMOTE_GROUP_COMMITS,
  REMOTE_OWN_CHECKS,
} from "../drive/limits.ts";
import type { Outcome } from "./commit.ts";
import type { Commits } from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { inTime, Overdue } from "./in_time.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { Reachability } from "./reachability.ts";
import type { Reach } from "./remote_handle.ts";

/**
 * The commits of a store behind a network. Its client sends an operation again and again until it has an answer, so one
 * whose answer was lost is done a second time: checks that held are refused then, and sums count twice.
 *
 * Hence the marker: every operation demands that an entry of a fresh name is absent, and sets it. A second try fails on
 * it, whatever the operation is, and whoever is refused looks whether the entry is there: then the first try held. The
 * entry bears the versionstamp of that commit, and ends by itself.
 *
 * What passed its deadline may still be on its way. When the store is back its marker is set from here, so it has happened
 * by then or never will. Nothing relies on that: bytes are published by a commit that demands the lease of their writer,
 * and everything else by one that demands the state that it was decided on.
 */
export function remoteCommits(
  way: () => Reach,
  reachability: Reachability,
  time = REMOTE_COMMIT_TIME,
): Commits {
  let sending = 0;
  const send = async (operation: Operation): Promise<Outcome> => {
    if (sending === 0) keepCompany(way());
    sending++;
    try {
      return await reachability.within(time, () => operation.commit(way(), REMOTE_COMMIT_CHECKS));
    } finally {
      sending--;
    }
  };
  /** The outcome of the commit that set a marker; `undefined` where there was none. */
  const happened = async (marker: Deno.KvKey): Promise<Outcome | undefined> => {
    const { value, versionstamp } = await reachability.within(time, () => way().get(marker));
    return value === true ? { ok: true, versionstamp } : undefined;
  };
  const overdue = new OverdueCommits(way);
  reachability.onBack(() => overdue.end());
  return {
    once: async (operation) => {
      const marker = keys.commitMarker(monotonicUlid());
      try {
        const outcome = await send(marked(operation, marker));
        return outcome.ok ? outcome : await happened(marker) ?? outcome;
      } catch (error) {
        if (isOverdue(error)) overdue.add(marker);
        // The answer broke off on its way: the store has decided, so that it can be asked.
        if (!isBrokenAnswer(error)) throw error;
        const outcome = await happened(marker);
        if (outcome === undefined) throw error;
        return outcome;
      }
    },
    again: send,
    checks: REMOTE_OWN_CHECKS,
    groups: REMOTE_GROUP_COMMITS,
    bulk: REMOTE_BULK_COMMITS,
  };
}

/**
 * A small read that is sent before a commit which is the only one. The runtime sends head and body of a commit one after
 * the other and leaves Nagle's algorithm on, so the body waits until the store has acknowledged the head, which it puts
 * off for 40 ms unless it has something to answer.
 */
function keepCompany(kv: Reach): void {
  // Whatever is wrong with the store, the commit tells.
  kv.get([""]).catch(() => {});
}

function marked(operation: Operation, marker: Deno.KvKey): Operation {
  const copy = new Operation();
  copy.add(operation);
  return copy.check(marker, null).set(marker, true, COMMIT_MARKER_TIME);
}

/** Commits of which nobody knows whether they will happen yet. There are as many as were on their way at once. */
class OverdueCommits {
  readonly #way: () => Reach;
  #markers: Deno.KvKey[] = [];

  constructor(way: () => Reach) {
    this.#way = way;
  }

  add(marker: Deno.KvKey): void {
    this.#markers.push(marker);
    if (this.#markers.length > MAX_OVERDUE_COMMITS) this.#markers.shift();
  }

  /** Sees to it that those that have not happened never do. */
  async end(): Promise<void> {
    const markers = this.#markers.splice(0);
    const atomic = this.#way().atomic();
    for (const marker of markers) atomic.set(marker, false, { expireIn: LATE_COMMIT_TIME });
    try {
      if (markers.length > 0) await inTime(REMOTE_COMMIT_TIME, atomic.commit());
    } catch {
      // The store went away again: when it is back, once more.
      for (const marker of markers) this.add(marker);
    }
  }
}

function isOverdue(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof Overdue;
}

function isBrokenAnswer(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof Error &&
    error.cause.message.includes("failed to read response body");
}
