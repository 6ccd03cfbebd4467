import { StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { identityOf, keys, prefixes } from "../engine/keys.ts";
import { MAX_COMMIT_BYTES, Operation } from "../engine/operation.ts";
import { type ProjectCache, setProjectRecord } from "../engine/project_cache.ts";
import type { KvReader } from "../engine/read_queue.ts";
import type {
  AppRecord,
  DeletionMarker,
  FileRecord,
  ProjectKeyRecord,
  ProjectRecord,
  SessionRecord,
  UploadSession,
} from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { addGarbage, discardContent } from "../files/garbage.ts";

/** Pieces deleted in one operation when bytes are reclaimed: short enough not to hold up requests. */
export const DELETION_BATCH = 100;

/** Lists entries of the store. */
type List = <T>(selector: Deno.KvListSelector) => AsyncIterable<Deno.KvEntry<T>>;

/** Lists entries until it is told to stop: a list without matching entries may be long as well. */
function listUntil(kv: KvReader, isStopped: () => boolean): List {
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
function deletionSteps(
  list: List,
  { key, value }: Deno.KvEntry<DeletionMarker>,
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
  yield* deleteAll(list, prefixes.deletions(project));
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
    discardContent(
      step,
      { project, drive: String(key[2]), name: String(key[3]) },
      value,
      undefined,
    );
    yield step;
  }
  const uploads = { prefix: prefixes.ofDrive("upload", project, ...drive) };
  for await (const entry of list<UploadSession>(uploads)) yield uploadStep(project, entry);
  const completed = { prefix: prefixes.ofDrive("completed_upload", project, ...drive) };
  for await (const { key, value } of list<UploadSession>(completed)) {
    yield new Operation().delete(key).delete(keys.garbage(value.expires, String(key[3])));
  }
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
    .delete(keys.partsRevision(project, drive, id))
    .delete(keys.openUpload(project, number));
  addGarbage(step, { kind: "upload", project, drive, name, id }, Date.now());
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
    if (value.project !== project) continue;
    yield new Operation().delete(key).delete(keys.garbage(value.expires, String(key[1])));
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

type Marker = Deno.KvEntry<DeletionMarker>;

/** Milliseconds between two looks for removals that another process has begun: they are to be over within 5 s. */
export const DELETION_INTERVAL = 2000;

/** A removal and how many batches of it are done. */
interface RunningDeletion {
  key: Deno.KvKey;
  batches: number;
}

/**
 * Does what a removal has begun, in operations short enough not to hold up requests. Each demands that the marker of the
 * removal stands, so all can be repeated, here and in other processes: what is made anew afterwards is never touched.
 *
 * Several removals take turns, one batch a turn, so that a large one does not delay a small one.
 */
export class Deletions {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #stop = new AbortController();
  /** Counts the removals that this process has begun. */
  #begun = 0;

  constructor(db: Database, projects: ProjectCache) {
    this.#db = db;
    this.#projects = projects;
  }

  /** Makes a `runAll` that is under way include a removal that has just begun. */
  notifyStarted(): void {
    this.#begun++;
  }

  /**
   * Does all removals that were begun and not finished. If some fail, the others are done, and the first failure is
   * thrown.
   */
  async runAll(): Promise<void> {
    const removals = new Map<string, RunningDeletion>();
    const failures: unknown[] = [];
    const failed = new Set<string>();
    let listed: { at: number; begun: number } | undefined;
    while (!this.#isStopped) {
      if (
        listed === undefined || listed.begun !== this.#begun ||
        performance.now() - listed.at > DELETION_INTERVAL
      ) {
        listed = { at: performance.now(), begun: this.#begun };
        await this.#list(removals, failed);
      }
      if (removals.size === 0) break;
      for (const [id, removal] of nextOf(removals)) {
        try {
          if (await this.#doBatch(removal.key)) removals.delete(id);
          removal.batches++;
        } catch (error) {
          if (error instanceof StoreUnavailable || error instanceof StoreFull) throw error;
          removals.delete(id);
          failed.add(id);
          failures.push(error);
        }
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Does one removal to its end, unless it is over or the remover is stopped. */
  async run(key: Deno.KvKey): Promise<void> {
    while (!this.#isStopped && !await this.#doBatch(key));
  }

  /** Ends what runs after the current batch. The next start continues there. */
  stop(): void {
    this.#stop.abort();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #list(removals: Map<string, RunningDeletion>, failed: ReadonlySet<string>): Promise<void> {
    const markers = this.#db.reader.list<DeletionMarker>({ prefix: prefixes.deletions() });
    for await (const { key } of markers) {
      const id = identityOf(key);
      if (!removals.has(id) && !failed.has(id)) removals.set(id, { key, batches: 0 });
    }
  }

  /** Does the next batch of a removal; gives whether the removal is over. */
  async #doBatch(key: Deno.KvKey): Promise<boolean> {
    const marker = await this.#db.reader.get<DeletionMarker>(key);
    if (marker.value === null) return true;
    const batch = checkMarker(marker);
    let steps = 0;
    let isLast = true;
    const { checks } = this.#db.commits;
    // Every batch lists from the start: what earlier ones removed is not listed any more.
    for await (const step of deletionSteps(listUntil(this.#db.reader, this.#isOver), marker)) {
      if (steps >= DELETION_BATCH || !batch.hasRoomFor(step, MAX_COMMIT_BYTES, checks)) {
        isLast = false;
        break;
      }
      batch.add(step);
      steps++;
    }
    // A list that was cut short says nothing about the rest.
    if (this.#isStopped) return false;
    // Another process has finished the removal, or an upload has changed: the next batch shows which.
    if (steps > 0 && !(await this.#db.commitBulk(batch, "background")).ok) return false;
    if (isLast) await this.#finish(marker);
    return isLast;
  }

  readonly #isOver = (): boolean => this.#isStopped;

  async #finish(marker: Marker): Promise<void> {
    const project = String(marker.key[1]);
    if (marker.value.kind === "drive") await this.#finishDrive(marker, project);
    else await this.#db.commit(checkMarker(marker).delete(marker.key));
    this.#projects.forget(project);
  }

  async #finishDrive(marker: Marker, project: string): Promise<void> {
    const drive = String(marker.key.at(-1));
    await transact(this.#db, async () => {
      const [stands, owner] = await this.#db.reader.getMany<[DeletionMarker, ProjectRecord]>([
        marker.key,
        keys.project(project),
      ]);
      if (stands.versionstamp !== marker.versionstamp) return { result: undefined };
      const operation = checkMarker(marker).delete(marker.key)
        .check(owner.key, owner.versionstamp);
      if (owner.value !== null) {
        setProjectRecord(operation, project, withoutDrive(owner.value, drive));
      }
      return { operation, result: undefined };
    });
  }
}

/**
 * The removals whose turn it is: the one that had the fewest turns, so that a small one is soon over, and the oldest, so
 * that a large one continues however many small ones come.
 */
function nextOf(removals: ReadonlyMap<string, RunningDeletion>): Map<string, RunningDeletion> {
  const [oldest] = removals;
  let least = oldest;
  for (const entry of removals) {
    if (least === undefined || entry[1].batches < least[1].batches) least = entry;
  }
  return new Map([least, oldest].filter((entry) => entry !== undefined));
}

function checkMarker({ key, versionstamp }: Marker): Operation {
  return new Operation().check(key, versionstamp);
}

function withoutDrive({ removing = [], ...record }: ProjectRecord, drive: string): ProjectRecord {
  const others = removing.filter((name) => name !== drive);
  return others.length === 0 ? record : { ...record, removing: others };
}
