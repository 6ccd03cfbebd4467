/**
 * The deletion of projects, drives and the keys of applications. It begins with a commit of `ProjectStore` or `AppStore`
 * that hides what is deleted and stores a marker. Everything that belongs to it is deleted here, in the background.
 *
 * @module
 */
import { StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { identityOf, keys, prefixes, ranges } from "../engine/keys.ts";
import { MAX_COMMIT_BYTES, Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import type {
  AppRecord,
  DeletionMarker,
  DriveLinkRecord,
  FileRecord,
  GrantIndexRecord,
  ProjectRecord,
  SessionRecord,
  TrashRecord,
  UploadSession,
} from "../engine/records.ts";
import { type Kind, PROJECT_KINDS } from "../engine/records/kinds.ts";
import { transact } from "../engine/transact.ts";
import { addGarbage } from "../bytes/garbage.ts";
import { announceRemoval } from "../files/names.ts";
import { discardVersion, releaseBytes } from "../files/shared_bytes.ts";
import { deleteKey, type KeyKind } from "./key_entries.ts";
import { PROJECT_KEYS } from "./project_keys.ts";
import { S3_KEYS } from "./s3_keys.ts";
import { deleteSums, discountStep } from "../quotas/usage.ts";
import { deleteLink } from "../links/link_record.ts";
import { deleteListedGrant } from "../sessions/grants.ts";

/** Steps in one operation: few enough not to hold up requests. */
export const DELETION_BATCH = 100;

/** How often the store is searched for deletions that another process began, in milliseconds. */
export const DELETION_INTERVAL = 2000;

type Marker = Deno.KvEntry<DeletionMarker>;

/**
 * Finishes the deletions that were begun, in short operations. Each operation checks that the marker is still there, so
 * a batch can be repeated, also by another process, and never touches a later project or drive of the same name.
 *
 * Several deletions take turns, a batch each, so that a large one does not delay a small one.
 */
export class Deletions {
  readonly #stop = new AbortController();
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    /** Called when all entries of a deletion are gone, before the name is free again. */
    private readonly onDeleted: () => void,
  ) {}

  /** Finishes all deletions. If some of them fail, the others are finished, and the first failure is thrown. */
  async runAll(): Promise<void> {
    const failures = new Map<string, unknown>();
    while (!this.#isStopped) {
      const markers = this.db.reader.list({ prefix: prefixes.all("removal") });
      const all = await Array.fromAsync(markers, ({ key }) => key);
      const running = all.filter((key) => !failures.has(identityOf(key)));
      if (running.length === 0) break;
      for (const key of running) {
        if (this.#isStopped) break;
        try {
          await this.#runBatch(key);
        } catch (error) {
          if (error instanceof StoreUnavailable || error instanceof StoreFull) throw error;
          failures.set(identityOf(key), error);
        }
      }
    }
    for (const failure of failures.values()) throw failure;
  }

  /** Takes a drive whose deletion has begun out of the sums of its project, unless that was done. */
  async discount(project: string, drive: string): Promise<void> {
    const marker = await this.db.reader.get<DeletionMarker>(keys.driveDeletion(project, drive));
    const step = await discountStep(this.db.reader, project, drive);
    if (marker.value === null || step === undefined) return;
    await this.db.commit(step.unchanged(marker));
  }

  /** Finishes one deletion, unless it is finished already or `stop` is called. */
  async run(key: Deno.KvKey): Promise<void> {
    while (!this.#isStopped && !await this.#runBatch(key));
  }

  /** Stops after the current batch. The next process continues there. */
  stop(): void {
    this.#stop.abort();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Runs the next batch of a deletion. Returns whether the deletion is finished. */
  async #runBatch(key: Deno.KvKey): Promise<boolean> {
    const marker = await this.db.reader.get<DeletionMarker>(key);
    if (marker.value === null) return true;
    const owner = await this.#ownerOf(marker);
    const batch = checkMarker(marker);
    if (owner !== undefined) batch.share(owner.unchanged);
    let steps = 0;
    let isLast = true;
    const { checks } = this.db.commits;
    // Every batch lists from the start, as earlier batches have deleted what they listed.
    const list = listUntil(this.db.reader, () => this.#isStopped);
    for await (const step of deletionSteps(list, marker, owner)) {
      if (steps >= DELETION_BATCH || !batch.hasRoomFor(step, MAX_COMMIT_BYTES, checks)) {
        isLast = false;
        break;
      }
      batch.add(step);
      steps++;
    }
    // A list that was cut short says nothing about the rest.
    if (this.#isStopped) return false;
    // The feed tells each deletion once: of several processes with this batch, one changes the marker.
    const isAnnounced = batch.feeds.length > 0;
    if (isAnnounced) batch.set(marker.key, marker.value);
    // Another process has finished the deletion, or an upload has changed: the next batch shows which.
    if (steps > 0 && !(await this.db.commitBulk(batch)).ok) {
      this.projects.forget(String(key[1]));
      return false;
    }
    if (!isLast || isAnnounced) return false;
    this.onDeleted();
    await this.#finish(marker);
    return true;
  }

  /** Returns the project of a drive that is deleted; `undefined` if more than a drive is, or less. */
  async #ownerOf({ key, value }: Marker): Promise<CachedProject | undefined> {
    return value.kind === "drive" ? await this.projects.find(String(key[1])) : undefined;
  }

  async #finish(marker: Marker): Promise<void> {
    const project = String(marker.key[1]);
    const last = checkMarker(marker).delete(marker.key);
    switch (marker.value.kind) {
      case "drive":
        await this.#finishDrive(marker, project);
        break;
      case "app":
        await this.db.commit(last);
        break;
      case "project":
        await this.db.commit(deleteSums(last, project));
    }
    this.projects.forget(project);
  }

  async #finishDrive(marker: Marker, project: string): Promise<void> {
    const drive = String(marker.key.at(-1));
    await transact(this.db, async () => {
      const [current, owner] = await this.db.reader.getMany<[DeletionMarker, ProjectRecord]>([
        marker.key,
        keys.project(project),
      ]);
      if (current.versionstamp !== marker.versionstamp) return { result: undefined };
      const operation = checkMarker(marker).delete(marker.key)
        .unchanged(owner);
      if (owner.value !== null) operation.set(owner.key, withoutDrive(owner.value, drive));
      return { operation, result: undefined };
    });
  }
}

function checkMarker({ key, versionstamp }: Marker): Operation {
  return new Operation().check(key, versionstamp);
}

function withoutDrive({ removing = [], ...record }: ProjectRecord, drive: string): ProjectRecord {
  const others = removing.filter((name) => name !== drive);
  return others.length === 0 ? record : { ...record, removing: others };
}

type List = KvReader["list"];

/** Lists entries until `isStopped`; a list without matching entries may be long as well. */
function listUntil(kv: Pick<KvReader, "list">, isStopped: () => boolean): List {
  return async function* <T>(selector: Deno.KvListSelector, options?: Parameters<List>[1]) {
    for await (const entry of kv.list<T>(selector, options)) {
      if (isStopped()) return;
      yield entry;
    }
  };
}

/**
 * Yields what remains to be deleted, in small steps; a step that was committed is not listed again. It reads no chunk:
 * the records say where they are.
 */
function deletionSteps(
  list: List,
  { key, value }: Marker,
  owner: CachedProject | undefined,
): AsyncGenerator<Operation> {
  const [project = "", , name = ""] = key.slice(1).map(String);
  switch (value.kind) {
    case "project":
      return projectSteps(list, project);
    case "drive":
      return driveSteps(list, project, owner, name);
    case "app":
      return appKeySteps(list, project, name);
  }
}

async function* projectSteps(list: List, project: string): AsyncGenerator<Operation> {
  yield* driveSteps(list, project, undefined);
  yield* appKeySteps(list, project);
  yield* appSteps(list, project);
  yield* sessionSteps(list, project);
  yield* grantSteps(list, project);
  yield* keySteps(list, project, PROJECT_KEYS);
  yield* keySteps(list, project, S3_KEYS);
  // The deletions of its drives and applications have nothing left to do.
  yield* deleteAll(list, prefixes.all("removal", project));
  for (const kind of PROJECT_KINDS) yield* deleteAll(list, prefixes.all(kind, project));
}

/** Yields the counters of one drive, then its files, folders, trash, uploads, locks and links; or those of all drives. */
async function* driveSteps(
  list: List,
  project: string,
  owner: CachedProject | undefined,
  ...drive: string[]
): AsyncGenerator<Operation> {
  const all = (kind: Kind) => prefixes.all(kind, project, ...drive);
  const [only] = drive;
  const discount = only === undefined ? undefined : await discountStep({ list }, project, only);
  if (discount !== undefined) yield discount;
  else yield* deleteAll(list, all("usage"));
  for await (const entry of list<FileRecord>({ prefix: all("file") }, { unreadable: true })) {
    const [, , drive = "", name = ""] = entry.key.map(String);
    const place = { project, drive, name };
    const step = isUnreadable(entry)
      ? new Operation().delete(entry.key)
      : recordStep(entry, entry.value);
    // The bytes become garbage, so downloads that have started are completed.
    if (!isUnreadable(entry)) discardVersion(step, place, entry.value);
    if (owner !== undefined) announceRemoval(step, owner, place);
    yield step;
  }
  for await (const entry of list<TrashRecord>({ prefix: all("trash") })) {
    yield trashStep(project, entry);
  }
  for await (const entry of list<UploadSession>({ prefix: all("upload") })) {
    yield uploadStep(project, entry);
  }
  for await (const { key, value } of list<UploadSession>({ prefix: all("completed_upload") })) {
    yield new Operation().delete(key).delete(keys.garbage(value.expires, String(key[3])));
  }
  for (const kind of ["trash", "upload", "completed_upload"] as const) {
    yield* deleteAll(list, all(kind), isUnreadable);
  }
  for (const kind of ["folder", "parts_revision", "locks"] as const) {
    yield* deleteAll(list, all(kind));
  }
  yield* linkSteps(list, project, ...drive);
}

/**
 * Deletes the entry of a record. The check fails if another process has deleted it: a record that shares its bytes must
 * release them once only.
 */
function recordStep(
  { key, versionstamp }: Deno.KvEntry<unknown>,
  { shared }: FileRecord,
): Operation {
  const step = new Operation().delete(key);
  return shared === undefined ? step : step.check(key, versionstamp);
}

function trashStep(project: string, entry: Deno.KvEntry<TrashRecord>): Operation {
  const { name, expires, record } = entry.value;
  const [drive = "", id = ""] = entry.key.slice(2).map(String);
  const step = recordStep(entry, record).delete(keys.garbage(expires, id));
  releaseBytes(step, { project, drive, name }, record);
  return step;
}

/** Ends an upload as an abort does. */
function uploadStep(project: string, entry: Deno.KvEntry<UploadSession>): Operation {
  const { name, expires } = entry.value;
  const [drive = "", id = ""] = entry.key.slice(2).map(String);
  const step = new Operation().unchanged(entry)
    .delete(entry.key)
    .delete(keys.garbage(expires, id))
    .delete(keys.partsRevision(project, drive, id))
    .sum(keys.projectUsage(project, "open_uploads"), -1);
  addGarbage(step, { kind: "upload", project, drive, name, id }, Date.now());
  return step;
}

async function* linkSteps(
  list: List,
  project: string,
  ...drive: string[]
): AsyncGenerator<Operation> {
  const links = { prefix: prefixes.all("drive_link", project, ...drive) };
  for await (const { key, value } of list<DriveLinkRecord>(links)) {
    const step = new Operation();
    const [name = "", id = ""] = key.slice(2).map(String);
    deleteLink(step, { project, drive: name, id, expires: value.expires });
    yield step;
  }
}

async function* appKeySteps(
  list: List,
  project: string,
  ...app: string[]
): AsyncGenerator<Operation> {
  const index = { prefix: prefixes.all("app_key_prefix", project, ...app) };
  for await (const { key, value: hash } of list<string>(index)) {
    yield new Operation().delete(keys.appKey(hash)).delete(key);
  }
  yield* deleteAll(list, prefixes.all("app_key_name", project, ...app));
}

/** Yields the keys of a project. Their records have the entries of the journal that end them. */
async function* keySteps<R extends { project: string; created: number }>(
  list: List,
  project: string,
  kind: KeyKind<R>,
): AsyncGenerator<Operation> {
  for await (const entry of list({ prefix: kind.indexOf(project) })) {
    const id = kind.idIn(entry);
    const step = new Operation().delete(entry.key);
    const [stored] = await Array.fromAsync(list<R>(ranges.entry(kind.record(id))));
    if (stored === undefined) step.delete(kind.record(id)).delete(kind.use(id));
    else deleteKey(step, kind, id, stored.value);
    yield step;
  }
}

async function* appSteps(list: List, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of list<AppRecord>({ prefix: prefixes.all("app", project) })) {
    const step = new Operation().delete(key);
    if (value.host !== undefined) step.delete(keys.appHost(value.host));
    yield step;
  }
}

/** Yields the sessions of a project. They have no index: the store holds few of them, and they expire by themselves. */
async function* sessionSteps(list: List, project: string): AsyncGenerator<Operation> {
  for await (const { key, value } of list<SessionRecord>({ prefix: prefixes.all("session") })) {
    if (value.project !== project) continue;
    yield new Operation().delete(key).delete(keys.garbage(value.expires, String(key[1])));
  }
}

/** Yields the grants of a project. Like sessions they have no index by project, and expire by themselves. */
async function* grantSteps(list: List, project: string): AsyncGenerator<Operation> {
  for await (const entry of list<GrantIndexRecord>({ prefix: prefixes.all("grant_of") })) {
    if (entry.value.project !== project) continue;
    const step = new Operation();
    deleteListedGrant(step, entry);
    yield step;
  }
}

/** Yields the deletion of entries below a prefix, also of those that cannot be read. */
async function* deleteAll(
  list: List,
  prefix: Deno.KvKey,
  isDeleted = (_: Deno.KvEntry<unknown>) => true,
): AsyncGenerator<Operation> {
  for await (const entry of list({ prefix }, { unreadable: true })) {
    if (isDeleted(entry)) yield new Operation().delete(entry.key);
  }
}
