import type { Database } from "./database.ts";
import { BeingDeleted, NoSuchProject } from "./errors.ts";
import { keys } from "./keys.ts";
import { type Operation, SharedCheck } from "./operation.ts";
import type { ProjectRecord } from "./records.ts";
import { TtlCache } from "./ttl_cache.ts";

/** Adds a change of a project's record. What counts against its quota is added up anew after that. */
export function setProjectRecord(
  operation: Operation,
  project: string,
  record: ProjectRecord,
): void {
  operation.set(keys.project(project), record).delete(keys.quota(project));
}

/** A project as every request needs it. */
export interface CachedProject {
  /** Milliseconds since 1970. A project of the same id that was made later is another one. */
  created: number;
  /** Drives that are being removed. */
  deleting: readonly string[];
  /** How many bytes its files may have together, if that is limited. */
  maxBytes?: number;
  /** The domain below which its owner may choose host names, if there is one. */
  hostSuffix?: string;
  /** Demands that the project is unchanged: there, and none of its other drives being removed. */
  unchanged: SharedCheck;
}

/** A thing that belongs to a project as it was when the thing was read. */
export interface Owned {
  project: string;
  /** When the project was created. */
  projectCreated: number;
}

/**
 * The projects' records, believed for a few seconds. Reads rely on them as they are; every write demands in its own
 * operation that the record is still what was believed, so nothing is published into what is being removed.
 */
export class ProjectCache {
  readonly #db: Database;
  readonly #projects: TtlCache<CachedProject>;

  constructor(db: Database) {
    this.#db = db;
    // While a drive is being removed the store is asked each time: other processes may have written to it again.
    const keeps = ({ deleting: removing }: CachedProject) => removing.length === 0;
    this.#projects = new TtlCache((project) => this.#read(project), { isCacheable: keeps });
  }

  async find(project: string): Promise<CachedProject | undefined> {
    // Every request comes here, so what is known costs no more turns than it has to.
    return this.#projects.peek(project) ?? await this.#projects.get(project);
  }

  /** Whether a drive, or its project, is to look as if it were not there. */
  async isHidden({ project, drive }: { project: string; drive: string }): Promise<boolean> {
    const known = await this.find(project);
    return known === undefined || known.deleting.includes(drive);
  }

  /**
   * The project that a write goes to: the operation that publishes demands that it is `unchanged`.
   *
   * @param begun What this gave when the write began: it is not to end in a later project of the same id.
   * @throws {NoSuchProject} if the project is not there any more.
   * @throws {BeingDeleted} if the drive is being removed.
   */
  async requireWritable(
    { project, drive }: { project: string; drive: string },
    begun?: CachedProject,
  ): Promise<CachedProject> {
    const known = await this.find(project);
    if (known === undefined || (begun !== undefined && begun.created !== known.created)) {
      throw new NoSuchProject(project);
    }
    if (known.deleting.includes(drive)) throw new BeingDeleted("drive", drive);
    return known;
  }

  /** What is believed of a thing, where its project is still the one that it belonged to. */
  async findOwned<T extends Owned>(
    things: TtlCache<T>,
    key: string,
  ): Promise<{ thing: T; owner: CachedProject } | undefined> {
    // The two are believed from different moments on, so they are compared once more as they are now.
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

  /** To be called when a project was changed, or an operation that demanded that it was not has failed. */
  forget(project: string): void {
    this.#projects.forget(project);
  }

  async #read(project: string): Promise<CachedProject | undefined> {
    const [{ key, value, versionstamp }] = await this.#db.reads.get<[ProjectRecord]>([
      keys.project(project),
    ]);
    if (value === null) return undefined;
    const { created, removing = [], maxBytes, hostSuffix } = value;
    const limit = maxBytes === undefined ? {} : { maxBytes };
    const suffix = hostSuffix === undefined ? {} : { hostSuffix };
    return {
      created,
      deleting: removing,
      ...limit,
      ...suffix,
      unchanged: new SharedCheck(key, versionstamp),
    };
  }
}
