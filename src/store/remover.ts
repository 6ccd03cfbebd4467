import { MAX_COMMIT_BYTES, RECLAIM_BATCH } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { StoreFull, StoreUnavailable } from "./errors.ts";
import { identityOf, keys, prefixes } from "./keys.ts";
import type { KnownProjects } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import type { ProjectRecord, RemovalMarker } from "./records.ts";
import { setProject } from "./quota_account.ts";
import { listUntil, removalSteps } from "./removal.ts";

type Marker = Deno.KvEntry<RemovalMarker>;

/** Milliseconds between two looks for removals that another process has begun: they are to be over within 5 s. */
export const REMOVAL_INTERVAL = 2000;

/** A removal and how many batches of it are done. */
interface Removal {
  key: Deno.KvKey;
  batches: number;
}

/**
 * Does what a removal has begun, in operations short enough not to hold up requests. Each demands that the marker of the
 * removal stands, so all can be repeated, here and in other processes: what is made anew afterwards is never touched.
 *
 * Several removals take turns, one batch a turn, so that a large one does not delay a small one.
 */
export class Remover {
  readonly #db: Database;
  readonly #projects: KnownProjects;
  readonly #stop = new AbortController();
  /** Counts the removals that this process has begun. */
  #begun = 0;

  constructor(db: Database, projects: KnownProjects) {
    this.#db = db;
    this.#projects = projects;
  }

  /** Makes a `runAll` that is under way include a removal that has just begun. */
  notice(): void {
    this.#begun++;
  }

  /**
   * Does all removals that were begun and not finished. If some fail, the others are done, and the first failure is
   * thrown.
   */
  async runAll(): Promise<void> {
    const removals = new Map<string, Removal>();
    const failures: unknown[] = [];
    const failed = new Set<string>();
    let listed: { at: number; begun: number } | undefined;
    while (!this.#isStopped) {
      if (
        listed === undefined || listed.begun !== this.#begun ||
        performance.now() - listed.at > REMOVAL_INTERVAL
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

  async #list(removals: Map<string, Removal>, failed: ReadonlySet<string>): Promise<void> {
    const markers = this.#db.reader.list<RemovalMarker>({ prefix: prefixes.removals() });
    for await (const { key } of markers) {
      const id = identityOf(key);
      if (!removals.has(id) && !failed.has(id)) removals.set(id, { key, batches: 0 });
    }
  }

  /** Does the next batch of a removal; gives whether the removal is over. */
  async #doBatch(key: Deno.KvKey): Promise<boolean> {
    const marker = await this.#db.reader.get<RemovalMarker>(key);
    if (marker.value === null) return true;
    const batch = demandMarker(marker);
    let steps = 0;
    let isLast = true;
    const { checks } = this.#db.commits;
    // Every batch lists from the start: what earlier ones removed is not listed any more.
    for await (const step of removalSteps(listUntil(this.#db.reader, this.#isOver), marker)) {
      if (steps >= RECLAIM_BATCH || !batch.hasRoomFor(step, MAX_COMMIT_BYTES, checks)) {
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
    else await this.#db.commit(demandMarker(marker).delete(marker.key));
    this.#projects.forget(project);
  }

  async #finishDrive(marker: Marker, project: string): Promise<void> {
    const drive = String(marker.key.at(-1));
    await decide(this.#db, async () => {
      const [stands, owner] = await this.#db.reader.getMany<[RemovalMarker, ProjectRecord]>([
        marker.key,
        keys.project(project),
      ]);
      if (stands.versionstamp !== marker.versionstamp) return { result: undefined };
      const operation = demandMarker(marker).delete(marker.key)
        .check(owner.key, owner.versionstamp);
      if (owner.value !== null) setProject(operation, project, withoutDrive(owner.value, drive));
      return { operation, result: undefined };
    });
  }
}

/**
 * The removals whose turn it is: the one that had the fewest turns, so that a small one is soon over, and the oldest, so
 * that a large one continues however many small ones come.
 */
function nextOf(removals: ReadonlyMap<string, Removal>): Map<string, Removal> {
  const [oldest] = removals;
  let least = oldest;
  for (const entry of removals) {
    if (least === undefined || entry[1].batches < least[1].batches) least = entry;
  }
  return new Map([least, oldest].filter((entry) => entry !== undefined));
}

function demandMarker({ key, versionstamp }: Marker): Operation {
  return new Operation().check(key, versionstamp);
}

function withoutDrive({ removing = [], ...record }: ProjectRecord, drive: string): ProjectRecord {
  const others = removing.filter((name) => name !== drive);
  return others.length === 0 ? record : { ...record, removing: others };
}
