/**
 * Projects, applications, their keys and audit logs, and the indexes by which keys, host names and old events are found.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { AppHostRecord, AppKeyRecord, AppRecord, ProjectRecord } from "../engine/records.ts";
import { PROJECT_KINDS } from "../engine/records/kinds.ts";
import type { EventRecord, ServerEventRecord } from "../accounts/events.ts";
import { areKeyLimits, type KeyLimits } from "../../rules/rights.ts";
import { deleteKey, journalKeys, type KeyKind, setKey } from "../accounts/key_entries.ts";
import { PROJECT_KEYS } from "../accounts/project_keys.ts";
import { S3_KEYS } from "../accounts/s3_keys.ts";
import { damagedCounters } from "./counters.ts";
import type { PendingDeletions } from "./ownership.ts";
import {
  deleteAll,
  deleteUnchanged,
  type Problem,
  type ProblemKind,
  repairable,
} from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields data, keys and applications of owners that do not exist, and entries of indexes that are missing or wrong. */
export function* accountProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
): Generator<Problem> {
  yield* missingProjects(snapshot, deletions);
  yield* keyProblems(snapshot, deletions, PROJECT_KEYS, PROJECT_KEY_TEXTS);
  yield* keyProblems(snapshot, deletions, S3_KEYS, S3_KEY_TEXTS);
  yield* appKeyProblems(snapshot, deletions);
  yield* appKeyIndexProblems(snapshot, deletions);
  yield* hostProblems(snapshot, deletions);
  yield* eventProblems(snapshot, deletions);
  yield* leftOfProjects(snapshot, deletions);
  yield* webhookProblems(snapshot);
}

/** The kinds of entries that have their project as the second part of their key. */
const KINDS_IN_PROJECTS = ["file", "folder", "upload", "usage", "app"] as const;

/** Data without a project is kept: creating the project again makes it accessible. */
function* missingProjects(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  const reported = new Set<string>();
  for (const kind of KINDS_IN_PROJECTS) {
    for (const [, id] of snapshot.heads(prefixes.all(kind), 2)) {
      const project = String(id);
      if (reported.has(project) || snapshot.has(keys.project(project))) continue;
      if (deletions.hasProject(project)) continue;
      reported.add(project);
      const message = `Project ${project} does not exist, but has data: ` +
        `kvdrive project create --id ${project} creates it again, with a new key`;
      yield { kind: "orphan", message, project };
    }
  }
}

/** What messages say about a kind of keys. */
interface KeyTexts {
  label: string;
  /** A key in its index. */
  listed: string;
  unlisted: string;
  unscheduled: string;
}

const PROJECT_KEY_TEXTS: KeyTexts = {
  label: "key",
  listed: "key prefix",
  unlisted: "is missing from its index",
  unscheduled: "expires, but is not scheduled for deletion",
};

const S3_KEY_TEXTS: KeyTexts = {
  label: "S3 key",
  listed: "S3 key",
  unlisted: "is missing from its list, or not scheduled for deletion",
  unscheduled: "is missing from its list, or not scheduled for deletion",
};

/** Yields keys without a project or with wrong entries beside them, and entries of keys that do not exist. */
function* keyProblems<R extends KeyLimits & { project: string; created: number }>(
  snapshot: Snapshot,
  deletions: PendingDeletions,
  kind: KeyKind<R>,
  texts: KeyTexts,
): Generator<Problem> {
  for (const entry of snapshot.list<R>(prefixes.like(kind.record("")))) {
    const { key, value, versionstamp } = entry;
    const [id, { project }] = [String(key[1]), value];
    if (deletions.hasProject(project)) continue;
    const label = `The ${texts.label} ${kind.nameOf(id, value)} of project ${project}`;
    if (!snapshot.has(keys.project(project))) {
      yield orphanKey(entry, keys.project(project), `${label} has no project`, project);
      continue;
    }
    const operation = new Operation().check(key, versionstamp);
    if (!areKeyLimits(value)) {
      // An invalid time has no entries in the journal.
      deleteKey(operation, kind, id, { ...value, expires: undefined });
      const message = `${label} has limits that make no sense`;
      yield indexProblem(message, operation, "The key was removed", project);
      continue;
    }
    // A key that the journal does not end would stay in lists after the end of its life until someone uses it.
    const isScheduled = journalKeys(id, value).every((each) => snapshot.has(each));
    const index = kind.index(id, value);
    if (isScheduled && snapshot.has(index)) continue;
    operation.check(index, snapshot.get(index)?.versionstamp ?? null);
    setKey(operation, kind, id, value);
    const message = `${label} ${isScheduled ? texts.unlisted : texts.unscheduled}`;
    const done = isScheduled ? "It was added" : "It was scheduled";
    yield indexProblem(message, operation, done, project, isScheduled ? "index" : "journal");
  }
  for (const entry of snapshot.list(prefixes.like(kind.indexOf("")))) {
    const [, project = "", name = ""] = entry.key.map(String);
    if (deletions.hasProject(project)) continue;
    const id = kind.idIn(entry);
    const record = snapshot.get<R>(kind.record(id))?.value;
    const isRight = record?.project === project && kind.nameOf(id, record) === name;
    if (!isRight) {
      yield wrongInIndex(entry, `the ${texts.listed} ${name} of project ${project}`, project);
    }
  }
  for (const entry of snapshot.list<number>(prefixes.like(kind.use("")))) {
    const owner = kind.record(String(entry.key[1]));
    if (snapshot.has(owner)) continue;
    const message = "The last use of a key is stored, but the key does not exist";
    const removal = deleteUnchanged(entry).check(owner, null);
    yield repairable({ kind: "orphan", message }, removal, "The entry was removed");
  }
}

function* appKeyProblems(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const entry of snapshot.list<AppKeyRecord>(prefixes.all("app_key"))) {
    const { project, app, prefix, name } = entry.value;
    if (deletions.hasApp(project, app)) continue;
    const label = `The key ${prefix} of application ${app} of project ${project}`;
    if (!snapshot.has(keys.app(project, app))) {
      yield orphanKey(entry, keys.app(project, app), `${label} has no application`, project);
      continue;
    }
    yield* missingFromIndex(snapshot, entry, keys.appKeyName(project, app, name), label);
    yield* missingFromIndex(snapshot, entry, keys.appKeyPrefix(project, app, prefix), label);
  }
}

function* appKeyIndexProblems(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const kind of ["app_key_name", "app_key_prefix"] as const) {
    for (const entry of snapshot.list<string>(prefixes.all(kind))) {
      const [, project = "", app = "", text = ""] = entry.key.map(String);
      if (deletions.hasApp(project, app)) continue;
      const owner = snapshot.get<AppKeyRecord>(keys.appKey(entry.value))?.value;
      const isRight = owner?.project === project && owner.app === app &&
        (kind === "app_key_name" ? owner.name : owner.prefix) === text;
      if (isRight) continue;
      const label = `the key ${JSON.stringify(text)} of application ${app} of project ${project}`;
      yield wrongInIndex(entry, label, project);
    }
  }
}

function* hostProblems(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<AppRecord>(prefixes.all("app"))) {
    const [, project = "", app = ""] = key.map(String);
    if (value.host === undefined || deletions.hasProject(project)) continue;
    const indexKey = keys.appHost(value.host);
    if (snapshot.has(indexKey)) continue;
    const operation = new Operation().check(key, versionstamp).check(indexKey, null)
      .set(indexKey, { project, app } satisfies AppHostRecord);
    const label = `The host name of application ${app} of project ${project}`;
    yield indexProblem(`${label} is missing from its index`, operation, "It was added", project);
  }
  for (const entry of snapshot.list<AppHostRecord>(prefixes.all("app_host"))) {
    const { project, app } = entry.value;
    if (deletions.hasProject(project)) continue;
    const owner = snapshot.get<AppRecord>(keys.app(project, app))?.value;
    if (owner?.host === entry.key[1]) continue;
    yield wrongInIndex(entry, `the host name ${entry.key[1]}`, project);
  }
}

/** Yields what remains of projects that do not exist: later projects with the same ids would inherit it. */
function* leftOfProjects(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const kind of PROJECT_KINDS) {
    for (const head of snapshot.heads(prefixes.all(kind), 2)) {
      const project = String(head[1]);
      const owner = keys.project(project);
      if (snapshot.has(owner) || deletions.hasProject(project)) continue;
      const message = `There are entries (${kind}) of project ${project}, which does not exist`;
      const repair = deleteAll([...snapshot.keys(head)], owner, "They were removed");
      yield { kind: "orphan", message, project, repair };
    }
  }
}

/** Yields events that would not be found when they are old. */
function* eventProblems(snapshot: Snapshot, deletions: PendingDeletions): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<EventRecord>(prefixes.all("event"))) {
    const [, project = "", id = ""] = key.map(String);
    const indexKey = keys.serverEvent(id);
    if (snapshot.has(indexKey) || deletions.hasProject(project)) continue;
    // Otherwise it is removed.
    if (!snapshot.has(keys.project(project))) continue;
    const operation = new Operation().check(key, versionstamp).check(indexKey, null)
      .set(indexKey, { ...value, project } satisfies ServerEventRecord);
    const message = `The event ${id} of project ${project} is missing from the server's log`;
    yield indexProblem(message, operation, "It was added", project);
  }
}

/** Yields projects that count their webhooks wrong: the count decides whether commits note what is due. */
function* webhookProblems(snapshot: Snapshot): Generator<Problem> {
  yield* damagedCounters(snapshot, "webhook_due", () => 1);
  for (const entry of snapshot.list<ProjectRecord>(prefixes.all("project"))) {
    const project = String(entry.key[1]);
    const count = [...snapshot.keys(prefixes.all("webhook", project))].length;
    const { webhooks = 0, ...others } = entry.value;
    if (webhooks === count) continue;
    const message = `Project ${project} has ${count} webhooks, but counts ${webhooks}`;
    const operation = new Operation().unchanged(entry)
      .set(entry.key, count === 0 ? others : { ...others, webhooks: count });
    yield repairable({ kind: "index", message, project }, operation, "The count was corrected");
  }
}

/**
 * Yields a problem if an index has no entry for a key. A wrong entry is reported as such, and has to be removed first.
 */
function* missingFromIndex(
  snapshot: Snapshot,
  { key, value, versionstamp }: SnapshotEntry<{ project: string }>,
  indexKey: Deno.KvKey,
  label: string,
): Generator<Problem> {
  if (snapshot.has(indexKey)) return;
  const hash = String(key[1]);
  const operation = new Operation().check(key, versionstamp)
    .check(indexKey, null)
    .set(indexKey, hash);
  yield indexProblem(
    `${label} is missing from its index`,
    operation,
    "It was added",
    value.project,
  );
}

function wrongInIndex(entry: SnapshotEntry, label: string, project: string): Problem {
  const message = `An index has ${label}, which does not exist`;
  return indexProblem(message, deleteUnchanged(entry), "The entry was removed", project);
}

function indexProblem(
  message: string,
  operation: Operation,
  done: string,
  project: string,
  kind: ProblemKind = "index",
): Problem {
  return repairable({ kind, message, project }, operation, done);
}

/** @param owner The key of the owner, which must not exist when the key is removed. */
function orphanKey(
  entry: SnapshotEntry,
  owner: Deno.KvKey,
  message: string,
  project: string,
): Problem {
  const removal = deleteUnchanged(entry).check(owner, null);
  return repairable({ kind: "orphan", message, project }, removal, "The key was removed");
}
