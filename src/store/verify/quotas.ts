import { keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import { setProject } from "../quota_account.ts";
import type { ProjectRecord, QuotaRecord } from "../records.ts";
import type { Snapshot, SnapshotEntry } from "../snapshot.ts";
import type { Problem } from "./problem.ts";

/** Sums of bytes that are not what the counters of a project's drives say, or of a project that needs none. */
export function* quotaProblems(snapshot: Snapshot): Generator<Problem> {
  for (const entry of snapshot.list<QuotaRecord>(prefixes.all("quota"))) {
    const project = String(entry.key[1]);
    const owner = snapshot.get<ProjectRecord>(keys.project(project));
    if (owner?.value.maxBytes === undefined) yield unneeded(project, entry);
    else {
      const counted = countedBytes(snapshot, project, owner.value);
      if (counted !== entry.value.bytes) yield wrong(project, entry, owner, counted);
    }
  }
}

function unneeded(project: string, { key, versionstamp }: SnapshotEntry): Problem {
  const removal = new Operation().check(key, versionstamp).delete(key);
  return {
    kind: "quota",
    message: `There is a sum of bytes for project ${project}, which has no limit`,
    project,
    repair: { done: "The sum was removed", operations: () => [removal] },
  };
}

/** Whoever is about to use the sum demands the project's record, so that one is written anew as well. */
function wrong(
  project: string,
  { value }: SnapshotEntry<QuotaRecord>,
  owner: SnapshotEntry<ProjectRecord>,
  counted: number,
): Problem {
  const removal = new Operation().check(owner.key, owner.versionstamp);
  setProject(removal, project, owner.value);
  return {
    kind: "quota",
    message:
      `The sum of bytes of project ${project} says ${value.bytes}, and the counters of its ` +
      `drives ${counted}`,
    project,
    repair: { done: "It is added up anew", operations: () => [removal] },
  };
}

/** What the counters say, right or wrong: those are looked at on their own. */
function countedBytes(snapshot: Snapshot, project: string, { removing = [] }: ProjectRecord) {
  let sum = 0;
  for (const { key, value } of snapshot.list<unknown>([...prefixes.all("usage"), project])) {
    const [, , drive = "", counter] = key.map(String);
    if (counter === "files" || removing.includes(drive)) continue;
    if (value instanceof Deno.KvU64) sum += Number(value.value);
  }
  return sum;
}
