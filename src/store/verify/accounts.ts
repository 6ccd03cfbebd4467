import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type {
  AppHostRecord,
  AppKeyRecord,
  AppRecord,
  ProjectKeyRecord,
} from "../engine/records.ts";
import type { PendingRemovals } from "./ownership.ts";
import type { Problem } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

/** Keys and applications of what is not there, and indexes that don't say what they have to. */
export function* accountProblems(
  snapshot: Snapshot,
  removals: PendingRemovals,
): Generator<Problem> {
  yield* lostProjects(snapshot, removals);
  yield* projectKeys(snapshot, removals);
  yield* appKeys(snapshot, removals);
  yield* hosts(snapshot, removals);
}

const IN_PROJECTS = ["file", "upload", "usage", "app"] as const;

/** What has no project is kept, as making the project again brings it back. */
function* lostProjects(snapshot: Snapshot, removals: PendingRemovals): Generator<Problem> {
  const told = new Set<string>();
  for (const kind of IN_PROJECTS) {
    for (const [, id] of snapshot.heads(prefixes.all(kind), 2)) {
      const project = String(id);
      if (told.has(project) || snapshot.has(keys.project(project))) continue;
      if (removals.hasProject(project)) continue;
      told.add(project);
      const advice = `kvdrive project create --id ${project} makes it again, with a new key`;
      const message = `There is no project ${project}, and there are things of it: ${advice}`;
      yield { kind: "orphan", message, project };
    }
  }
}

function* projectKeys(snapshot: Snapshot, removals: PendingRemovals): Generator<Problem> {
  const all = snapshot.list<ProjectKeyRecord>(prefixes.all("project_key"));
  for (const { key, value, versionstamp } of all) {
    const { project, prefix } = value;
    if (removals.hasProject(project)) continue;
    const shown = `key ${prefix} of project ${project}`;
    if (!snapshot.has(keys.project(project))) {
      const removal = new Operation().check(key, versionstamp)
        .check(keys.project(project), null)
        .delete(key);
      yield lost(
        `The ${shown}, which is not there, is kept`,
        "The key was removed",
        removal,
        project,
      );
    } else {
      const hash = String(key[1]);
      const at = keys.projectKeyPrefix(project, prefix);
      yield* missingIndex(snapshot, at, hash, { key, versionstamp }, `The ${shown}`, project);
    }
  }
  for (
    const { key, value, versionstamp } of snapshot.list<string>(prefixes.all("project_key_prefix"))
  ) {
    const [, project = "", prefix = ""] = key.map(String);
    if (removals.hasProject(project)) continue;
    const owner = snapshot.get<ProjectKeyRecord>(keys.projectKey(value))?.value;
    if (owner?.project === project && owner.prefix === prefix) continue;
    const removal = new Operation().check(key, versionstamp).delete(key);
    yield wrongIndex(`the key prefix ${prefix} of project ${project}`, removal, project);
  }
}

function* appKeys(snapshot: Snapshot, removals: PendingRemovals): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<AppKeyRecord>(prefixes.all("app_key"))) {
    const { project, app, prefix, name } = value;
    if (removals.hasApp(project, app)) continue;
    const shown = `key ${prefix} of application ${app} of project ${project}`;
    if (!snapshot.has(keys.app(project, app))) {
      const removal = new Operation().check(key, versionstamp)
        .check(keys.app(project, app), null)
        .delete(key);
      yield lost(
        `The ${shown}, which is not there, is kept`,
        "The key was removed",
        removal,
        project,
      );
      continue;
    }
    const hash = String(key[1]);
    const indexes = [
      keys.appKeyName(project, app, name),
      keys.appKeyPrefix(project, app, prefix),
    ];
    for (const at of indexes) {
      yield* missingIndex(snapshot, at, hash, { key, versionstamp }, `The ${shown}`, project);
    }
  }
  for (const kind of ["app_key_name", "app_key_prefix"] as const) {
    for (const { key, value, versionstamp } of snapshot.list<string>(prefixes.all(kind))) {
      const [, project = "", app = "", text = ""] = key.map(String);
      if (removals.hasApp(project, app)) continue;
      const owner = snapshot.get<AppKeyRecord>(keys.appKey(value))?.value;
      const isRight = owner?.project === project && owner.app === app &&
        (kind === "app_key_name" ? owner.name : owner.prefix) === text;
      if (isRight) continue;
      const removal = new Operation().check(key, versionstamp).delete(key);
      const what = `the key ${JSON.stringify(text)} of application ${app} of project ${project}`;
      yield wrongIndex(what, removal, project);
    }
  }
}

function* hosts(snapshot: Snapshot, removals: PendingRemovals): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<AppRecord>(prefixes.all("app"))) {
    const [, project = "", app = ""] = key.map(String);
    if (value.host === undefined || removals.hasProject(project)) continue;
    const at = keys.appHost(value.host);
    const found = snapshot.get<AppHostRecord>(at);
    if (found !== undefined) continue;
    const operation = new Operation().check(key, versionstamp).check(at, null)
      .set(at, { project, app } satisfies AppHostRecord);
    yield indexProblem(
      `The application ${app} of project ${project} is not found by its host name`,
      operation,
      project,
    );
  }
  for (
    const { key, value, versionstamp } of snapshot.list<AppHostRecord>(prefixes.all("app_host"))
  ) {
    const { project, app } = value;
    if (removals.hasProject(project)) continue;
    const owner = snapshot.get<AppRecord>(keys.app(project, app))?.value;
    if (owner?.host === key[1]) continue;
    const removal = new Operation().check(key, versionstamp).delete(key);
    yield wrongIndex(`the host name ${key[1]}`, removal, project);
  }
}

/** Where another thing stands in the index, that is what is wrong first. */
function* missingIndex(
  snapshot: Snapshot,
  at: Deno.KvKey,
  hash: string,
  { key, versionstamp }: { key: Deno.KvKey; versionstamp: string },
  what: string,
  project: string,
): Generator<Problem> {
  if (snapshot.has(at)) return;
  const operation = new Operation().check(key, versionstamp).check(at, null).set(at, hash);
  yield indexProblem(`${what} is not in its lists`, operation, project);
}

function indexProblem(message: string, operation: Operation, project: string): Problem {
  const repair = { done: "It was added", operations: () => [operation] };
  return { kind: "index", message, project, repair };
}

function wrongIndex(what: string, removal: Operation, project: string): Problem {
  const repair = { done: "The entry was removed", operations: () => [removal] };
  return { kind: "index", message: `A list has ${what}, which leads nowhere`, project, repair };
}

function lost(message: string, done: string, removal: Operation, project: string): Problem {
  return { kind: "orphan", message, project, repair: { done, operations: () => [removal] } };
}
