import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { DriveLinkRecord, LinkKeyRecord, LinkRecord } from "../engine/records.ts";
import { addLinkDeadline, deleteLink } from "../links/link_record.ts";
import { damagedCounters } from "./counters.ts";
import type { PendingDeletions } from "./ownership.ts";
import { deleteUnchanged, driveText, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields links of projects that do not exist, and entries of links that are missing or belong to no link. */
export function* linkProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
): Generator<Problem> {
  const signing = snapshot.get<LinkKeyRecord>(keys.linkKey())?.value.id;
  for (const entry of snapshot.list<LinkRecord>(prefixes.all("link"))) {
    const { project, drive, keyId } = entry.value;
    // Links of an earlier signing key open nothing, and the sweeper deletes them.
    if (keyId !== signing || deletions.hasDrive(project, drive)) continue;
    if (snapshot.has(keys.project(project))) {
      yield* missingFromList(snapshot, entry);
      yield* missingDeadline(snapshot, entry);
    } else yield orphanLink(entry);
  }
  yield* wrongInList(snapshot, deletions);
  yield* orphanCounters(snapshot);
  // A link with a limit is used up, because the count that is lost may have reached it.
  yield* damagedCounters(snapshot, "link_downloads", ([, id]) => {
    const link = snapshot.get<LinkRecord>(keys.link(String(id)));
    return link?.value.maxDownloads ?? 0;
  });
}

function orphanLink({ key, value, versionstamp }: SnapshotEntry<LinkRecord>): Problem {
  const { project, drive } = value;
  const removal = new Operation().check(key, versionstamp).check(keys.project(project), null);
  deleteLink(removal, { id: String(key[1]), ...value });
  const message = `A link leads to ${driveText(value)}, which does not exist`;
  return repairable({ kind: "orphan", message, project, drive }, removal, "The link was removed");
}

function* missingFromList(
  snapshot: Snapshot,
  { key, value, versionstamp }: SnapshotEntry<LinkRecord>,
): Generator<Problem> {
  const { project, drive, expires } = value;
  const index = keys.driveLink(project, drive, String(key[1]));
  if (snapshot.has(index)) return;
  const record: DriveLinkRecord = expires === undefined ? {} : { expires };
  const addition = new Operation().check(key, versionstamp).check(index, null).set(index, record);
  const message = `A link is missing from the list of ${driveText(value)}`;
  yield repairable({ kind: "index", message, project, drive }, addition, "It was added");
}

function* missingDeadline(
  snapshot: Snapshot,
  { key, value, versionstamp }: SnapshotEntry<LinkRecord>,
): Generator<Problem> {
  const { project, drive, expires } = value;
  const id = String(key[1]);
  if (expires === undefined || snapshot.has(keys.garbage(expires, id))) return;
  const operation = new Operation().check(key, versionstamp);
  addLinkDeadline(operation, { project, drive, id, expires });
  const message = `A link of ${driveText(value)} would be kept for ever`;
  const problem = { kind: "journal", message, project, drive } as const;
  yield repairable(problem, operation, "It is deleted at its deadline");
}

function* wrongInList(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const entry of snapshot.list<DriveLinkRecord>(prefixes.all("drive_link"))) {
    const [, project = "", drive = "", id = ""] = entry.key.map(String);
    if (deletions.hasDrive(project, drive)) continue;
    const link = snapshot.get<LinkRecord>(keys.link(id))?.value;
    if (link?.project === project && link.drive === drive) continue;
    const message = `The list of ${driveText({ project, drive })} has a link that does not exist`;
    const problem = { kind: "index", message, project, drive } as const;
    yield repairable(problem, deleteUnchanged(entry), "The entry was removed");
  }
}

function* orphanCounters(snapshot: Snapshot): Generator<Problem> {
  for (const entry of snapshot.list<unknown>(prefixes.all("link_downloads"))) {
    const link = keys.link(String(entry.key[1]));
    if (snapshot.has(link)) continue;
    const message = "The downloads of a link are counted that does not exist";
    const removal = deleteUnchanged(entry).check(link, null);
    yield repairable({ kind: "orphan", message }, removal, "The count was removed");
  }
}
