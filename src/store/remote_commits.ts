import { monotonicUlid } from "@std/ulid";
import {
  COMMIT_MARKER_TIME,
  REMOTE_BULK_COMMITS,
  REMOTE_COMMIT_CHECKS,
  REMOTE_COMMIT_TIME,
  REMOTE_GROUP_COMMITS,
  REMOTE_OWN_CHECKS,
} from "../drive/limits.ts";
import type { Outcome } from "./commit.ts";
import type { Commits } from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { Reachability } from "./reachability.ts";

/**
 * The commits of a store behind a network. Its client sends an operation again and again until it has an answer, so one
 * whose answer was lost is done a second time: checks that held are refused then, and sums count twice.
 *
 * Hence the marker: every operation demands that an entry of a fresh name is absent, and sets it. A second try fails on
 * it, whatever the operation is, and whoever is refused looks whether the entry is there: then the first try held. The
 * entry bears the versionstamp of that commit, and ends by itself.
 *
 * What passed its deadline may still happen later, or never. Nothing relies on either: bytes are published by a commit
 * that demands the lease of their writer, and everything else by one that demands the state that it was decided on.
 */
export function remoteCommits(
  kv: Deno.Kv,
  reachability: Reachability,
  time = REMOTE_COMMIT_TIME,
): Commits {
  const send = (operation: Operation) =>
    reachability.within(time, () => operation.commit(kv, REMOTE_COMMIT_CHECKS));
  return {
    once: async (operation) => {
      const marker = keys.commitMarker(monotonicUlid());
      try {
        const outcome = await send(marked(operation, marker));
        return outcome.ok ? outcome : await happened(kv, marker) ?? outcome;
      } catch (error) {
        // The answer broke off on its way: the store has decided, so that it can be asked.
        if (!isBrokenAnswer(error)) throw error;
        const outcome = await happened(kv, marker);
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

function marked(operation: Operation, marker: Deno.KvKey): Operation {
  const copy = new Operation();
  copy.add(operation);
  return copy.check(marker, null).set(marker, true, COMMIT_MARKER_TIME);
}

/** The outcome of the commit that set a marker; `undefined` where there was none. */
async function happened(kv: Deno.Kv, marker: Deno.KvKey): Promise<Outcome | undefined> {
  const { versionstamp } = await kv.get(marker);
  return versionstamp === null ? undefined : { ok: true, versionstamp };
}

function isBrokenAnswer(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.cause instanceof Error &&
    error.cause.message.includes("failed to read response body");
}
