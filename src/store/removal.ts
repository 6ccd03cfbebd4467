import { discardLayout, throwAway } from "./garbage.ts";
import { keys, prefixes } from "./keys.ts";
import { Operation } from "./operation.ts";
import type {
  AppRecord,
  FileRecord,
  ProjectKeyRecord,
  RemovalMarker,
  SessionRecord,
  UploadSession,
} from "./records.ts";

/** Lists entries of the store. */
type List = <T>(selector: Deno.KvListSelector) => AsyncIterable<Deno.KvEntry<T>>;

/** Lists entries until it is told to stop: a list without matching entries may be long as well. */
export function listUntil(kv: Deno.Kv, isStopped: () => boolean): List {
  return async function* <T>(selector: Deno.KvListSelector) {
    for await (const entry of kv.list<T>(selector)) {
      if (isStopped()) return;
      yield entry;
    }
  };
}

/**
 * What is to be done to remove a project, a drive or the keys of an application, in small steps. Steps that were done
 * don't come again. No chunk is read: the records say where they are.
 */
export function removalSteps(
  list: List,
  { key, value }: Deno.KvEntry<RemovalMarker>,
): AsyncGenerator<Operation> {
  const [project = "", , name = ""] = key.slice(1).map(String);
  switch (value.kind) {
    case "project":
      return projectSteps(list, project);
    case "drive":
      return driveSteps(list, project, name);
    case "app":
      return appKeySteps(list, project, name);
  }
}

async function* projectSteps(list: List, project: string): AsyncGenerator<Operation> {
  yield* driveSteps(list, project);
  yield* appKeySteps(list, project);
  yield* appSteps(list, project);
  yield* sessionSteps(list, project);
  yield* projectKeySteps(list, project);
  // Removals of its drives and applications have nothing left to do.
  yield* deleteAll(list, prefixes.removals(project));
  yield* deleteAll(list, prefixes.openUploads(project));
}

/** The files and uploads of one drive or of all. The counters go last: no file is left then to be taken off them. */
async function* driveSteps(
  list: List,
  project: string,
  ...drive: string[]
): AsyncGenerator<Operation> {
  const files = { prefix: prefixes.ofDrive("file", project, ...drive) };
  for await (const { key, value } of list<FileRecord>(files)) {
    const step = new Operation().delete(key);
    // Downloads that run end well: what they read is removed later.
    discardLayout(step, { project, drive: String(key[2]), name: String(key[3]) }, value, undefined);
    yield step;
  }
  const uploads = { prefix: prefixes.ofDrive("upload", project, ...drive) };
  for await (const entry of list<UploadSession>(uploads)) yield uploadStep(project, entry);
  yield* deleteAll(list, prefixes.ofDrive("completed_upload", project, ...drive));
  yield* deleteAll(list, prefixes.ofDrive("parts_revision", project, ...drive));
  yield* deleteAll(list, prefixes.ofDrive("usage", project, ...drive));
}

/** As if it were aborted. Its number may belong to another upload already if it is not open any more. */
function uploadStep(
  project: string,
  { key, value: { name, expires, number }, versionstamp }: Deno.KvEntry<UploadSession>,
): Operation {
  const [drive = "", id = ""] = key.slice(2).map(String);
  const step = new Operation().check(key, versionstamp)
    .delete(key)
    .delete(keys.garbage(expires, id))
    .delete(keys.partsRevision(project, drive, id));
  if (number !== undefined) step.delete(keys.openUpload(project, number));
  throwAway(step, { kind: "upload", project, drive, name, id }, Date.now());
  return step;
}

/** The keys of one application or of all. */
async function* appKeySteps(
  list: List,
  project: string,
  ...app: string[]
): AsyncGenerator<Operation> {
  const byPrefix = { prefix: prefixes.appKeyPrefixes(project, ...app) };
  for await (const { key, value: hash } of list<string>(byPrefix)) {
    yield new Operation().delete(keys.appKey(hash)).delete(key);
  }
  yield* deleteAll(list, prefixes.appKeyNames(project, ...app));
}

async function* appSteps(list: List, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of list<AppRecord>({ prefix: prefixes.apps(project) })) {
    const step = new Operation().delete(key);
    if (value.host !== undefined) step.delete(keys.appHost(value.host));
    yield step;
  }
}

/** There are few of them in the store, and they end by themselves, so they have no index. */
async function* sessionSteps(list: List, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of list<SessionRecord>({ prefix: prefixes.sessions() })) {
    if (value.project === project) yield new Operation().delete(key);
  }
}

/** Older stores have keys that are in no index. */
async function* projectKeySteps(list: List, project: string): AsyncGenerator<Operation> {
  const all = list<ProjectKeyRecord>({ prefix: prefixes.projectKeys() });
  for await (const { key, value } of all) {
    if (value.project === project) yield new Operation().delete(key);
  }
  yield* deleteAll(list, prefixes.projectKeyPrefixes(project));
}

async function* deleteAll(list: List, prefix: Deno.KvKey): AsyncGenerator<Operation> {
  for await (const { key } of list({ prefix })) yield new Operation().delete(key);
}
