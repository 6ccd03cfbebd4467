import type { Database } from "./database.ts";
import { BeingDeleted, NoSuchDrive, NoSuchProject } from "./errors.ts";
import { keys } from "./keys.ts";
import { SharedCheck } from "./operation.ts";
import type { Place, ProjectRecord } from "./records.ts";
import { TtlCache } from "./ttl_cache.ts";

/** The record of a project, as every request needs it. A later project with the same id has another `created`. */
export interface CachedProject extends Omit<ProjectRecord, "removing"> {
  /** Drives that are being deleted. */
  deleting: readonly string[];
  /** Fails an operation if the record has changed: the project was deleted, or the deletion of a drive began. */
  unchanged: SharedCheck;
  /** Drives that were there. Each of them is there while the record is unchanged, as a deletion changes it first. */
  existing: Set<string>;
}

/** Something that belongs to a project, with the project as it was when the thing was read. */
export interface Owned {
  project: string;
  /** When the project was created. */
  projectCreated: number;
}

/**
 * The records of projects, cached for a few seconds. Reads use the cached record. Every write checks in its own
 * operation that the record has not changed since, so nothing is published into a project or drive that is being
 * deleted.
 */
export class ProjectCache {
  readonly #projects: TtlCache<CachedProject>;

  constructor(private readonly db: Database) {
    // While a drive is being deleted, every request reads the record: the drive may be free again in another process.
    const isCacheable = ({ deleting }: CachedProject) => deleting.length === 0;
    this.#projects = new TtlCache((project) => this.#read(project), { isCacheable });
  }

  /** Returns a project, or `undefined` if it does not exist. */
  async find(project: string): Promise<CachedProject | undefined> {
    // Every request comes here. For a cached record, `peek` avoids a turn of the event loop.
    return this.#projects.peek(project) ?? await this.#projects.get(project);
  }

  /** Returns whether a drive must look empty to readers: its project does not exist, or the drive is being deleted. */
  async isHidden({ project, drive }: { project: string; drive: string }): Promise<boolean> {
    const found = await this.find(project);
    return found === undefined || found.deleting.includes(drive);
  }

  /**
   * Returns the project that a write goes to. The operation that publishes the write must check `unchanged`.
   *
   * @param begun The project when the write began: the write must not end in a later project with the same id.
   * @throws {NoSuchProject} if the project no longer exists.
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {NoSuchDrive} if the write needs the drive, and there is none.
   */
  async requireWritable(
    { project, drive, needsDrive = false }: Pick<Place, "project" | "drive" | "needsDrive">,
    begun?: CachedProject,
  ): Promise<CachedProject> {
    const found = await this.find(project);
    if (found === undefined || (begun !== undefined && begun.created !== found.created)) {
      throw new NoSuchProject(project);
    }
    if (found.deleting.includes(drive)) throw new BeingDeleted("drive", drive);
    if (needsDrive && !found.existing.has(drive)) {
      if (!await this.hasDrive({ project, drive })) throw new NoSuchDrive(drive);
      found.existing.add(drive);
    }
    return found;
  }

  /** Returns whether there is a drive with this name, which may be one that is being deleted. It is one read. */
  async hasDrive({ project, drive }: { project: string; drive: string }): Promise<boolean> {
    const [files] = await this.db.reads.get<[Deno.KvU64]>([keys.usage(project, drive, "files")]);
    return files.versionstamp !== null;
  }

  /** Returns a cached thing and its project, or `undefined` if one of them no longer exists. */
  async findOwned<T extends Owned>(
    things: TtlCache<T>,
    key: string,
  ): Promise<{ thing: T; owner: CachedProject } | undefined> {
    // The two may be cached from different times. If they do not belong together, both are read once more.
    for (let tries = 0; tries < 2; tries++) {
      const thing = await things.get(key);
      const owner = thing === undefined ? undefined : await this.find(thing.project);
      if (thing === undefined || owner === undefined) return undefined;
      if (owner.created === thing.projectCreated) return { thing, owner };
      things.forget(key);
      this.forget(thing.project);
    }
    return undefined;
  }

  /** Drops a project from the cache: it was changed, or an operation that checked `unchanged` has failed. */
  forget(project: string): void {
    this.#projects.forget(project);
  }

  async #read(project: string): Promise<CachedProject | undefined> {
    const [{ key, value, versionstamp }] = await this.db.reads.get<[ProjectRecord]>([
      keys.project(project),
    ]);
    if (value === null) return undefined;
    const { removing: deleting = [], ...settings } = value;
    const unchanged = new SharedCheck(key, versionstamp);
    return { ...settings, deleting, unchanged, existing: new Set() };
  }
}
