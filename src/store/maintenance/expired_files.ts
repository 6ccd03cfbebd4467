import type { Database } from "../engine/database.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { FileRecord, Place } from "../engine/records.ts";
import { removeFile } from "../files/names.ts";
import { discardVersion } from "../files/shared_bytes.ts";
import { inBatches, readMany } from "../reads/read_queue.ts";
import { TrustedClock } from "./clocks.ts";

/** Files that are deleted at a time: some commits, between which those of callers get their turn. */
const SWEEP_PAGE = 500;

type Expired = Deno.KvEntry<Place>;

/**
 * Deletes files whose deadline has passed, which the index by deadline finds. One operation deletes record and index
 * entry, corrects the counters and turns the bytes into garbage, so several processes may do it at once. What a sweep
 * leaves, the next one finds: after a crash, and if the file was moved or changed in between.
 */
export class ExpiredFiles {
  /** A clock that has just jumped forward must not delete files. */
  readonly #clock = new TrustedClock();
  #isStopped = false;

  constructor(private readonly db: Database, private readonly projects: ProjectCache) {}

  /**
   * Deletes the files that have expired. If some cannot be deleted, the others are, and the first failure is thrown.
   *
   * @param ahead Milliseconds to add to the present time, for tests.
   */
  async sweep(ahead = 0): Promise<void> {
    const due = ranges.expiryDue(this.#clock.now() + ahead);
    const entries = this.db.reader.list<Place>(due, { batchSize: SWEEP_PAGE });
    const failures: unknown[] = [];
    for await (const page of inBatches(entries, SWEEP_PAGE)) {
      if (this.#isStopped) return;
      for (const result of await this.#deleteAll(page)) {
        if (result.status === "rejected") failures.push(result.reason);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Ends a sweep after its current page. The next one continues there. */
  stop(): void {
    this.#isStopped = true;
  }

  async #deleteAll(page: readonly Expired[]): Promise<PromiseSettledResult<void>[]> {
    const places = page.map(({ value }) => keys.file(value));
    const files = await readMany<FileRecord>(this.db.reader, places);
    // Operations that wait at the same time share a commit.
    return await Promise.allSettled(
      files.map(async (file, i) => {
        const entry = page[i];
        if (entry !== undefined) await this.#delete(entry, file);
      }),
    );
  }

  /** Deletes a file that is still the one of its entry. */
  async #delete(
    { key, value, versionstamp }: Expired,
    file: Deno.KvEntryMaybe<FileRecord>,
  ): Promise<void> {
    const [, due, version] = key;
    const operation = new Operation().unchanged(file).delete(key);
    const record = file.value;
    if (record === null || record.version !== version || record.expires !== due) {
      // The entry may have been given the new name of a moved file meanwhile.
      await this.db.commit(operation.check(key, versionstamp));
      return;
    }
    const { project, drive } = value;
    const owner = await this.projects.find(project);
    // The deletion of the project or of the drive deletes the file.
    if (owner === undefined || owner.deleting.includes(drive)) return;
    operation.share(owner.unchanged);
    removeFile(operation, owner, value, file);
    discardVersion(operation, value, record);
    if ((await this.db.commit(operation)).ok) this.db.meter.swept("expired_file");
    else this.projects.forget(project);
  }
}
