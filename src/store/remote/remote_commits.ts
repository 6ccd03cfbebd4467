import { monotonicUlid } from "@std/ulid";
import { DAY, MINUTE, SECOND } from "../../rules/units.ts";
import type { Commit, Commits, Outcome } from "../engine/commits.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type Reachability, TimeoutExceeded, withTimeout } from "./reachability.ts";
import { openValue } from "../reads/record_codec.ts";
import type { KvMethods } from "./remote_connection.ts";

/** Checks in one operation: below the limit of KV Connect, which is 10. Its other limits are those of Deno KV. */
const REMOTE_COMMIT_CHECKS = 8;

/** Checks that an operation of a caller may have: the marker of the commit needs one. */
export const REMOTE_OWN_CHECKS = REMOTE_COMMIT_CHECKS - 1;

/**
 * Commits in flight. Each waits for a network round trip of some milliseconds to tens of them, so more are in flight
 * than with an embedded store. If the store goes away, those in flight stay in memory.
 */
const REMOTE_GROUP_COMMITS = 8;
const REMOTE_BULK_COMMITS = 8;

/**
 * How long a commit of up to 800 KB may take before the caller gets 503: a hundred times its usual duration, and longer
 * than a restart of the store. Clients wait for 30 s and more.
 */
const REMOTE_COMMIT_TIMEOUT = 10 * SECOND;

/** Life of the marker by which a commit with a lost answer is recognized: longer than any retry takes. */
const COMMIT_MARKER_TTL = 10 * MINUTE;

/** How long an unconfirmed commit may still be on its way: a dead connection is noticed after a quarter of an hour. */
const LATE_COMMIT_TIME = DAY;

/** Unconfirmed commits that are remembered until the store is back: more than can be in flight at once. */
const MAX_UNCONFIRMED_COMMITS = 100;

/**
 * Returns the commits of a store behind a network. Deno KV's client sends an operation again and again until it has an
 * answer, so an operation with a lost answer arrives twice: its checks are then refused, and its sums count twice.
 *
 * Every commit therefore has a **marker**: it checks that an entry with a fresh key is absent, and sets that entry. A
 * second arrival fails on the marker, and after a refusal the marker shows whether the first one was applied. The entry
 * has the versionstamp of that commit and expires by itself.
 *
 * A commit that exceeds its deadline may still be on its way. When the store is back, its marker is set from here, so
 * that the commit has happened by then or never will. Nothing relies on that: bytes are published by a commit that
 * checks the lease of their writer, and everything else by one that checks the state it was decided on.
 *
 * @param connection Returns the current handle.
 * @param timeout Of one commit, in milliseconds.
 */
export function remoteCommits(
  connection: () => KvMethods,
  reachability: Reachability,
  timeout = REMOTE_COMMIT_TIMEOUT,
): Commits {
  let sending = 0;
  const send: Commit = async (operation) => {
    if (sending === 0) avoidDelayedAck(connection());
    sending++;
    try {
      return await reachability.within(
        timeout,
        () => operation.commit(connection(), REMOTE_COMMIT_CHECKS),
      );
    } finally {
      sending--;
    }
  };
  /** Returns the outcome of the commit that set a marker; `undefined` if it was not applied. */
  const findOutcome = async (marker: Deno.KvKey): Promise<Outcome | undefined> => {
    const { value, versionstamp } = await reachability.within(
      timeout,
      () => connection().get(marker),
    );
    const isDone = versionstamp !== null && openValue(marker, value) === true;
    return isDone ? { ok: true, versionstamp } : undefined;
  };
  const unconfirmed = new UnconfirmedCommits(connection);
  reachability.onBack(() => unconfirmed.prevent());
  return {
    once: async (operation) => {
      const marker = keys.commitMarker(monotonicUlid());
      try {
        const outcome = await send(withMarker(operation, marker));
        return outcome.ok ? outcome : await findOutcome(marker) ?? outcome;
      } catch (error) {
        if (isTimeout(error)) unconfirmed.add(marker);
        // The store has decided and its answer broke off: the marker tells how.
        if (!isBrokenAnswer(error)) throw error;
        const outcome = await findOutcome(marker);
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
 * Sends a small read ahead of a commit that is the only one in flight. Deno sends head and body of a commit separately
 * and leaves Nagle's algorithm on, so the body waits until the store has acknowledged the head. The store delays that
 * by 40 ms unless it has something to answer.
 */
function avoidDelayedAck(kv: KvMethods): void {
  // The commit reports any problem of the store.
  kv.get([""]).catch(() => {});
}

function withMarker(operation: Operation, marker: Deno.KvKey): Operation {
  const marked = new Operation();
  marked.add(operation);
  return marked.check(marker, null).set(marker, true, COMMIT_MARKER_TTL);
}

/** Commits that exceeded their deadline and may still be applied, by their markers. */
class UnconfirmedCommits {
  #markers: Deno.KvKey[] = [];

  constructor(private readonly connection: () => KvMethods) {}

  add(marker: Deno.KvKey): void {
    this.#markers.push(marker);
    if (this.#markers.length > MAX_UNCONFIRMED_COMMITS) this.#markers.shift();
  }

  /** Sets all markers, so that the commits that have not been applied never are. */
  async prevent(): Promise<void> {
    const markers = this.#markers.splice(0);
    const atomic = this.connection().atomic();
    for (const marker of markers) atomic.set(marker, false, { expireIn: LATE_COMMIT_TIME });
    try {
      if (markers.length > 0) await withTimeout(REMOTE_COMMIT_TIMEOUT, atomic.commit());
    } catch {
      // The store went away again: repeated when it is back.
      for (const marker of markers) this.add(marker);
    }
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof TimeoutExceeded;
}

function isBrokenAnswer(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof Error &&
    error.cause.message.includes("failed to read response body");
}
