import { StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { ExpiryRecord, FileRecord, Place } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import { isIndexedBy } from "../files/expiry.ts";
import { discardVersion } from "../files/shared_bytes.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { countUsage } from "../quotas/usage.ts";

/** Entries that are read, and files that are deleted, at a time: few enough not to hold up requests. */
const SWEEP_PAGE = 50;

/** Which files a sweep is for. */
export interface ExpirySweep {
  /** The project; all projects unless given. */
  project?: string;
  /** Milliseconds to add to the present time, for tests. */
  ahead?: number;
}

/**
 * Deletes files whose deadline has passed, which the index by deadline finds. One operation deletes record and index
 * entry, corrects the counters and turns the bytes into garbage, so several processes may do it at once, and a crash
 * leaves nothing undone that the next sweep does not find.
 */
export class ExpiredFiles {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #quotas: Quotas;
  readonly #clock: { now(): number };
  #isStopped = false;

  /** @param clock Says which deadlines have passed. A clock that has just jumped forward must not delete files. */
  constructor(db: Database, { projects, quotas, clock }: {
    projects: ProjectCache;
    quotas: Quotas;
    clock: { now(): number };
  }) {
    this.#db = db;
    this.#projects = projects;
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /**
   * Deletes the files that have expired. If some cannot be deleted, the others are, and the first failure is thrown.
   */
  async sweep({ project, ahead = 0 }: ExpirySweep = {}): Promise<void> {
    const due = ranges.expiryDue(this.#clock.now() + ahead);
    const failures: unknown[] = [];
    for await (const page of this.#pages(due)) {
      const chosen = page.filter(({ value }) => project === undefined || value.project === project);
      // Operations that wait at the same time share a commit.
      const results = await Promise.allSettled(
        chosen.map(({ key, value }) => this.#delete(key, value)),
      );
      for (const result of results) {
        if (result.status === "rejected") failures.push(result.reason);
      }
      if (this.#isStopped) break;
    }
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Deletes a file that a caller is told to be absent, so that it stays absent if the system clock is set back. On a full
   * disk, or if the store cannot be reached, it is left to a sweep.
   */
  async drop(place: Place, { version, expires }: FileRecord): Promise<void> {
    if (expires === undefined) return;
    try {
      await this.#delete(keys.expiry(expires, version), place);
    } catch (error) {
      if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) throw error;
    }
  }

  /** Ends a sweep after its current page. The next one continues there. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Deletes a file, unless another process was faster, or it was given another deadline. */
  async #delete(key: Deno.KvKey, { project, drive, name }: Place): Promise<void> {
    const place = { project, drive, name };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const owner = await this.#projects.find(project);
      const [entry, file] = await this.#db.reads.get<[ExpiryRecord, FileRecord]>([
        key,
        keys.file(place),
      ]);
      if (entry.value === null) return;
      const operation = new Operation().check(key, entry.versionstamp)
        .check(file.key, file.versionstamp)
        .delete(key);
      if (!isIndexedBy(file.value, key)) {
        if ((await this.#db.commit(operation)).ok) return;
        continue;
      }
      // The deletion of the project or of the drive deletes the file.
      if (owner === undefined || owner.deleting.includes(drive)) return;
      operation.share(owner.unchanged).delete(file.key);
      const more = countUsage(operation, place, file.value, null);
      discardVersion(operation, place, file.value);
      if ((await this.#quotas.commit(owner, place, operation, { more })).ok) {
        return this.#db.meter.swept("expired_file");
      }
      this.#projects.forget(project);
    }
    // Others keep changing the file or its project: the next sweep tries again.
  }

  async *#pages(range: Deno.KvListSelector): AsyncGenerator<Deno.KvEntry<ExpiryRecord>[]> {
    let page: Deno.KvEntry<ExpiryRecord>[] = [];
    const options = { batchSize: SWEEP_PAGE };
    for await (const entry of this.#db.reader.list<ExpiryRecord>(range, options)) {
      if (page.push(entry) < SWEEP_PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }
}
