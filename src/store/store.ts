import { MINUTE } from "../rules/units.ts";
import { AppKeyStore } from "./accounts/app_keys.ts";
import { AppStore } from "./accounts/apps.ts";
import { Deletions } from "./accounts/deletions.ts";
import { ProjectKeyStore } from "./accounts/project_keys.ts";
import { ProjectStore } from "./accounts/projects.ts";
import { Revocations } from "./accounts/revocations.ts";
import { SessionStore } from "./accounts/sessions.ts";
import { type DiskSpace, StoreFull } from "./disk/disk_space.ts";
import type { Database } from "./engine/database.ts";
import type { StoreDamaged } from "./engine/errors.ts";
import { MemoryBudget, MIN_MEMORY_BUDGET } from "./engine/memory_budget.ts";
import { ProjectCache } from "./engine/project_cache.ts";
import type { Place } from "./engine/records.ts";
import type { StoreMeter } from "./engine/store_meter.ts";
import { FileStore } from "./files/file_store.ts";
import { listDirectory, listFiles, type ListPage, type ListQuery } from "./files/listing.ts";
import { DiscardedBytes } from "./files/receive.ts";
import { OpenVersions } from "./files/versions.ts";
import type { Compactor } from "./maintenance/compactor.ts";
import { type Damage, DamagedFiles } from "./maintenance/damaged_files.ts";
import { Scrub, type ScrubState } from "./maintenance/scrub.ts";
import { Sweeper } from "./maintenance/sweeper.ts";
import { Quotas } from "./quotas/quotas.ts";
import { type DriveUsage, listDrives, listUsage, type ProjectUsage } from "./quotas/usage.ts";
import { DEFAULT_MAX_OPEN_UPLOADS, OpenUploadLimit } from "./uploads/open_upload_limit.ts";
import { OverdueUploads } from "./uploads/session.ts";
import { UploadStore } from "./uploads/upload_store.ts";

/** A body that gives no byte, or a reader that takes none, for this long is given up, unless configured. */
export const DEFAULT_IDLE_TIMEOUT = MINUTE;

/** An upload session's life, and the time that running transfers get at shutdown, unless configured. */
export const DEFAULT_UPLOAD_TTL = 24 * 60 * MINUTE;

export interface StoreOptions {
  /** How long an upload session lives, in milliseconds. */
  uploadTtl?: number;
  /** How many uploads a project may have open. */
  maxOpenUploads?: number;
  /** Room for uploads; without it there is always some. */
  disk?: DiskSpace;
  /** Gives free space of the store back; without it the store keeps it for later. */
  compactor?: Compactor;
  /** What may be in memory of files and messages; unless given, as little as may be. */
  memory?: MemoryBudget;
  /** Is told what the store does. */
  meter?: StoreMeter;
  /** How often all files are checked, in milliseconds; without it they are not. */
  scrubEvery?: number | undefined;
  /** Told of failures in the background. */
  onError: (error: unknown) => void;
  /** Told of the beginning and the end of long work in the background, in a sentence. */
  onNotice?: (text: string) => void;
}

/** What is known of the integrity of all files. */
export interface Integrity extends ScrubState {
  damages: Damage[];
}

/** All that the program keeps, on one database. */
export class Store {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly projects: ProjectStore;
  readonly keys: ProjectKeyStore;
  readonly apps: AppStore;
  readonly appKeys: AppKeyStore;
  readonly sessions: SessionStore;
  readonly revocations = new Revocations();
  readonly sweeper: Sweeper;
  readonly scrub: Scrub;
  readonly memory: MemoryBudget;
  readonly #damages: DamagedFiles;
  readonly #db: Database;
  readonly #disk: DiskSpace | undefined;
  readonly #known: ProjectCache;
  readonly #openUploads: OpenUploadLimit;

  constructor(db: Database, options: StoreOptions) {
    const { uploadTtl = DEFAULT_UPLOAD_TTL, onError, disk, compactor, meter } = options;
    const { scrubEvery: every, onNotice = () => {} } = options;
    const { maxOpenUploads = DEFAULT_MAX_OPEN_UPLOADS } = options;
    if (meter !== undefined) db.meter = meter;
    this.#disk = disk;
    const { revocations } = this;
    this.memory = options.memory ??
      new MemoryBudget(MIN_MEMORY_BUDGET, { patience: DEFAULT_IDLE_TIMEOUT });
    const { memory } = this;
    const readers = new OpenVersions();
    const known = new ProjectCache(db);
    const remover = new Deletions(db, known);
    this.#db = db;
    this.#known = known;
    const quotas = new Quotas(db);
    this.#damages = new DamagedFiles(db);
    this.scrub = new Scrub(db, readers, this.#damages, { every, onError, onNotice });
    const onDamage = (place: Place, version: string, error: StoreDamaged) =>
      void this.#damages.note(place, version, error.problem).then((isNew) => {
        if (isNew) this.scrub.wake();
      }).catch(onError);
    const discarded = new DiscardedBytes(() => this.sweeper.wake());
    const shared = { projects: known, quotas, readers, memory, discarded };
    this.files = new FileStore(db, { ...shared, onDamage });
    this.#openUploads = new OpenUploadLimit(db, maxOpenUploads);
    const { end } = new OverdueUploads(db, known, quotas);
    this.uploads = new UploadStore(db, known, quotas, this.files, {
      open: this.#openUploads,
      end,
      discarded,
      memory: memory.uploads,
      ttl: uploadTtl,
      onUndigested: () => this.scrub.wake(),
    });
    this.sweeper = new Sweeper(db, readers, onError, end, { disk, compactor, remover, meter });
    const wake = () => this.sweeper.wake();
    this.projects = new ProjectStore(db, known, revocations, remover, wake);
    this.keys = new ProjectKeyStore(db, known, revocations);
    this.apps = new AppStore(db, known, revocations, remover, wake);
    this.appKeys = new AppKeyStore(db, known, this.apps, revocations);
    this.sessions = new SessionStore(db, this.keys, this.apps, revocations);
  }

  /** A page of a drive's files; up to the first slash behind the prefix unless `recursive`. */
  async list(query: ListQuery, { recursive }: { recursive: boolean }): Promise<ListPage> {
    if (await this.#known.isHidden(query)) return { entries: [], more: false };
    return await (recursive ? listFiles : listDirectory)(this.#db.reader, query);
  }

  /**
   * Promises room on the disk for so many bytes, until what it gives is disposed of. Where there is none, what nobody
   * needs is removed soon.
   *
   * @throws {StoreFull} where only the reserve is left.
   */
  async reserveDisk(size: number): Promise<Disposable | undefined> {
    try {
      return await this.#disk?.reserve(size);
    } catch (error) {
      if (error instanceof StoreFull) this.sweeper.wake();
      throw error;
    }
  }

  /** The drives of a project and what they hold; none where there is no such project. */
  async drives(project: string): Promise<DriveUsage[]> {
    const known = await this.#known.find(project);
    if (known === undefined) return [];
    const drives = await listDrives(this.#db, project);
    return drives.filter(({ name }) => !known.deleting.includes(name));
  }

  /** What each project holds, in the order of their ids. */
  async usage(): Promise<ProjectUsage[]> {
    return await listUsage(this.#db, await this.projects.listDeletingDrives());
  }

  /** Which files are known to be damaged, and how far the scrub is. */
  async integrity(): Promise<Integrity> {
    const [state, damages] = await Promise.all([this.scrub.state(), this.#damages.list()]);
    return { ...state, damages };
  }

  /**
   * Looks whether the store can be read and written, without changing anything: it comes to its end when that is so.
   *
   * @param signal Ends it before.
   */
  async probe(signal: AbortSignal): Promise<void> {
    await this.#db.probe(signal);
  }

  /** Ends the work in the background and closes the database. */
  async close(): Promise<void> {
    await Promise.all([this.sweeper.stop(), this.scrub.stop()]);
    await this.#db.close();
  }
}
