/**
 * Webhooks: the count in the record of their project, which decides whether commits note what is due, and what remains of
 * projects and webhooks that do not exist.
 *
 * @module
 */
import { keys, prefixes, WEBHOOK_KINDS } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectRecord } from "../engine/records.ts";
import { damagedCounters } from "./counters.ts";
import type { PendingDeletions } from "./ownership.ts";
import { deleteAll, type Problem, repairable } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

export function* webhookProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
): Generator<Problem> {
  for (const kind of WEBHOOK_KINDS) {
    for (const head of snapshot.heads(prefixes.webhooks(kind), 2)) {
      const project = String(head[1]);
      const owner = keys.project(project);
      if (snapshot.has(owner) || deletions.hasProject(project)) continue;
      const message = `There are webhooks of project ${project}, which does not exist`;
      const repair = deleteAll([...snapshot.keys(head)], owner, "They were removed");
      yield { kind: "orphan", message, project, repair };
    }
  }
  yield* damagedCounters(snapshot, "webhook_due", () => 1);
  for (const entry of snapshot.list<ProjectRecord>(prefixes.projects())) {
    const project = String(entry.key[1]);
    const count = [...snapshot.keys(prefixes.webhooks("webhook", project))].length;
    const { webhooks = 0, ...others } = entry.value;
    if (webhooks === count) continue;
    const message = `Project ${project} has ${count} webhooks, but counts ${webhooks}`;
    const operation = new Operation().check(entry.key, entry.versionstamp)
      .set(entry.key, count === 0 ? others : { ...others, webhooks: count });
    yield repairable({ kind: "index", message, project }, operation, "The count was corrected");
  }
}
