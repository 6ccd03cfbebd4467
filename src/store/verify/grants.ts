/**
 * Sessions of the dashboard, sign-in codes and download tickets, and the lists by which they are found.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { GrantIndexRecord, GrantKind, GrantRecord } from "../engine/records.ts";
import { deleteGrant, grantJournalKeys, setGrant } from "../sessions/grants.ts";
import type { PendingDeletions } from "./ownership.ts";
import { deleteUnchanged, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

type Entry = SnapshotEntry<GrantRecord & { project?: string }>;

/** What messages call each kind. */
const LABELS: Readonly<Record<GrantKind, string>> = {
  session: "A session of the dashboard",
  code: "A sign-in code",
  ticket: "A download ticket",
};

/**
 * Yields grants of projects that do not exist, grants that are not listed or not scheduled for deletion, and entries of
 * the lists without a grant. A grant whose credential is gone opens nothing, and is deleted at its deadline.
 */
export function* grantProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
): Generator<Problem> {
  for (const entry of snapshot.list<Entry["value"]>(prefixes.all("grant"))) {
    const problem = problemOf(snapshot, deletions, entry);
    if (problem !== undefined) yield problem;
  }
  for (const entry of snapshot.list<GrantIndexRecord>(prefixes.all("grant_of"))) {
    const { hash, project } = entry.value;
    const [, owner, kind, id] = entry.key.map(String);
    if (project !== undefined && deletions.hasProject(project)) continue;
    const grant = snapshot.get<GrantRecord>(keys.grant(kind as GrantKind, hash))?.value;
    if (grant?.owner.hash === owner && grant?.id === id) continue;
    const message =
      "The list of the sessions, codes and tickets of a key has one that does not exist";
    const problem = { kind: "index", message, ...(project && { project }) } as const;
    yield repairable(problem, deleteUnchanged(entry), "The entry was removed");
  }
}

function problemOf(
  snapshot: Snapshot,
  deletions: PendingDeletions,
  { key, value, versionstamp }: Entry,
): Problem | undefined {
  const [kind, hash] = [String(key[1]) as GrantKind, String(key[2])];
  const { id, owner, expires, project = owner.project } = value;
  const about = project === undefined ? {} : { project };
  if (project !== undefined && deletions.hasProject(project)) return undefined;
  const operation = new Operation().check(key, versionstamp);
  if (project !== undefined && !snapshot.has(keys.project(project))) {
    deleteGrant(operation.check(keys.project(project), null), { kind, hash, record: value });
    const message = `${LABELS[kind]} belongs to project ${project}, which does not exist`;
    return repairable({ kind: "orphan", message, ...about }, operation, "It was removed");
  }
  const isListed = snapshot.has(keys.grantOf(owner.hash, kind, id));
  const isScheduled = grantJournalKeys(hash, expires).every((each) => snapshot.has(each));
  if (isListed && isScheduled) return undefined;
  setGrant(operation, { kind, hash, record: value });
  if (isListed) {
    const message = `${LABELS[kind]} is not scheduled for deletion`;
    return repairable({ kind: "journal", message, ...about }, operation, "It was scheduled");
  }
  const message = `${LABELS[kind]} is missing from the list of its key`;
  return repairable({ kind: "index", message, ...about }, operation, "It was added");
}
