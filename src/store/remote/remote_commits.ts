import { monotonicUlid } from "@std/ulid";
import { MINUTE, SECOND } from "../../rules/units.ts";
import type { Commits, Outcome } from "../engine/commits.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type KvMethods, type Reachability, TimeoutExceeded, withTimeout } from "./reachability.ts";

/**
 * Checks in one operation on a remote store, and those of them that our own operations may have: one is for recognising
 * the commit. KV Connect's limit is 10; everything else is as above.
 */
const REMOTE_COMMIT_CHECKS = 8;

export const REMOTE_OWN_CHECKS = REMOTE_COMMIT_CHECKS - 1;

/**
 * The same on a remote store, and reads of it in all: an operation waits for the way there and back, some milliseconds
 * to tens of them, so more of them are on their way. What is on its way when the store goes away stays in memory.
 */
const REMOTE_GROUP_COMMITS = 8;

const REMOTE_BULK_COMMITS = 8;

const REMOTE_COMMIT_TIME = 10 * SECOND;

/** How long the entry lives by which a commit whose answer was lost is recognised: longer than anybody asks for it. */
const COMMIT_MARKER_TIME = 10 * MINUTE;

/** How long a commit that passed its deadline may be on its way still: a dead connection is noticed after a quarter of an hour. */
const LATE_COMMIT_TIME = 24 * 60 * MINUTE;

/** Such commits that are remembered until the store is back: more than can be on their way at once. */
const MAX_UNCONFIRMED_COMMITS = 100;

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
  way: () => KvMethods,
  reachability: Reachability,
  time = REMOTE_COMMIT_TIME,
): Commits {
  let sending = 0;
  const send = async (operation: Operation): Promise<Outcome> => {
    if (sending === 0) avoidDelayedAck(way());
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
  const overdue = new UnconfirmedCommits(way);
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
    idempotent: send,
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
function avoidDelayedAck(kv: KvMethods): void {
  // Whatever is wrong with the store, the commit tells.
  kv.get([""]).catch(() => {});
}

function marked(operation: Operation, marker: Deno.KvKey): Operation {
  const copy = new Operation();
  copy.add(operation);
  return copy.check(marker, null).set(marker, true, COMMIT_MARKER_TIME);
}

/** Commits of which nobody knows whether they will happen yet. There are as many as were on their way at once. */
class UnconfirmedCommits {
  readonly #way: () => KvMethods;
  #markers: Deno.KvKey[] = [];

  constructor(way: () => KvMethods) {
    this.#way = way;
  }

  add(marker: Deno.KvKey): void {
    this.#markers.push(marker);
    if (this.#markers.length > MAX_UNCONFIRMED_COMMITS) this.#markers.shift();
  }

  /** Sees to it that those that have not happened never do. */
  async end(): Promise<void> {
    const markers = this.#markers.splice(0);
    const atomic = this.#way().atomic();
    for (const marker of markers) atomic.set(marker, false, { expireIn: LATE_COMMIT_TIME });
    try {
      if (markers.length > 0) await withTimeout(REMOTE_COMMIT_TIME, atomic.commit());
    } catch {
      // The store went away again: when it is back, once more.
      for (const marker of markers) this.add(marker);
    }
  }
}

function isOverdue(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof TimeoutExceeded;
}

function isBrokenAnswer(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof Error &&
    error.cause.message.includes("failed to read response body");
}
