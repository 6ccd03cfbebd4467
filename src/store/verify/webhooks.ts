import { prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectRecord } from "../engine/records.ts";
import { damagedCounters } from "./counters.ts";
import { type Problem, repairable } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

/** Yields projects that count their webhooks wrong: the count decides whether commits note what is due. */
export function* webhookProblems(snapshot: Snapshot): Generator<Problem> {
  yield* damagedCounters(snapshot, "webhook_due", () => 1);
  for (const entry of snapshot.list<ProjectRecord>(prefixes.all("project"))) {
    const project = String(entry.key[1]);
    const count = [...snapshot.keys(prefixes.all("webhook", project))].length;
    const { webhooks = 0, ...others } = entry.value;
    if (webhooks === count) continue;
    const message = `Project ${project} has ${count} webhooks, but counts ${webhooks}`;
    const operation = new Operation().check(entry.key, entry.versionstamp)
      .set(entry.key, count === 0 ? others : { ...others, webhooks: count });
    yield repairable({ kind: "index", message, project }, operation, "The count was corrected");
  }
}
