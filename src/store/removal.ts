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

/**
 * What is to be done to remove a project, a drive or the keys of an application, in small steps. Steps that were done
 * don't come again. No chunk is read: the records say where they are.
 */
export function removalSteps(
  kv: Deno.Kv,
  { key, value }: Deno.KvEntry<RemovalMarker>,
): AsyncGenerator<Operation> {
  const [project = "", , name = ""] = key.slice(1).map(String);
  switch (value.kind) {
    case "project":
      return projectSteps(kv, project);
    case "drive":
      return driveSteps(kv, project, name);
    case "app":
      return appKeySteps(kv, project, name);
  }
}

async function* projectSteps(kv: Deno.Kv, project: string): AsyncGenerator<Operation> {
  yield* driveSteps(kv, project);
  yield* appKeySteps(kv, project);
  yield* appSteps(kv, project);
  yield* sessionSteps(kv, project);
  yield* projectKeySteps(kv, project);
  // Removals of its drives and applications have nothing left to do.
  yield* deleteAll(kv, prefixes.removals(project));
  yield* deleteAll(kv, prefixes.openUploads(project));
}

/** The files and uploads of one drive or of all. The counters go last: no file is left then to be taken off them. */
async function* driveSteps(
  kv: Deno.Kv,
  project: string,
  ...drive: string[]
): AsyncGenerator<Operation> {
  const files = { prefix: prefixes.ofDrive("file", project, ...drive) };
  for await (const { key, value } of kv.list<FileRecord>(files)) {
    const step = new Operation().delete(key);
    // Downloads that run end well: what they read is removed later.
    discardLayout(step, { project, drive: String(key[2]), name: String(key[3]) }, value, undefined);
    yield step;
  }
  const uploads = { prefix: prefixes.ofDrive("upload", project, ...drive) };
  for await (const entry of kv.list<UploadSession>(uploads)) yield uploadStep(project, entry);
  yield* deleteAll(kv, prefixes.ofDrive("completed_upload", project, ...drive));
  yield* deleteAll(kv, prefixes.ofDrive("parts_revision", project, ...drive));
  yield* deleteAll(kv, prefixes.ofDrive("usage", project, ...drive));
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
  kv: Deno.Kv,
  project: string,
  ...app: string[]
): AsyncGenerator<Operation> {
  const byPrefix = { prefix: prefixes.appKeyPrefixes(project, ...app) };
  for await (const { key, value: hash } of kv.list<string>(byPrefix)) {
    yield new Operation().delete(keys.appKey(hash)).delete(key);
  }
  yield* deleteAll(kv, prefixes.appKeyNames(project, ...app));
}

async function* appSteps(kv: Deno.Kv, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of kv.list<AppRecord>({ prefix: prefixes.apps(project) })) {
    const step = new Operation().delete(key);
    if (value.host !== undefined) step.delete(keys.appHost(value.host));
    yield step;
  }
}

/** There are few of them in the store, and they end by themselves, so they have no index. */
async function* sessionSteps(kv: Deno.Kv, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of kv.list<SessionRecord>({ prefix: prefixes.sessions() })) {
    if (value.project === project) yield new Operation().delete(key);
  }
}

/** Older stores have keys that are in no index. */
async function* projectKeySteps(kv: Deno.Kv, project: string): AsyncGenerator<Operation> {
  const all = kv.list<ProjectKeyRecord>({ prefix: prefixes.projectKeys() });
  for await (const { key, value } of all) {
    if (value.project === project) yield new Operation().delete(key);
  }
  yield* deleteAll(kv, prefixes.projectKeyPrefixes(project));
}

async function* deleteAll(kv: Deno.Kv, prefix: Deno.KvKey): AsyncGenerator<Operation> {
  for await (const { key } of kv.list({ prefix })) yield new Operation().delete(key);
}
