import { DAY, MINUTE } from "../rules/units.ts";
import { ChangeFeed } from "./changes/change_feed.ts";
import { ChangeSignals } from "./changes/change_signals.ts";
import { AdminToken } from "./accounts/admin_token.ts";
import { AppKeyStore } from "./accounts/app_keys.ts";
import { AppStore } from "./accounts/apps.ts";
import { Deletions } from "./accounts/deletions.ts";
import { EventLog } from "./accounts/events.ts";
import { ProjectKeyStore } from "./accounts/project_keys.ts";
import { ProjectStore, type UsedProject } from "./accounts/projects.ts";
import { Revocations } from "./accounts/revocations.ts";
import { S3KeyStore } from "./accounts/s3_keys.ts";
import { NO_S3_SECRET_KEY, S3SecretBox, type S3SecretKey } from "./accounts/s3_secrets.ts";
import { SessionStore } from "./sessions/app_sessions.ts";
import { SignInStore } from "./sessions/sign_ins.ts";
import { TicketStore } from "./sessions/tickets.ts";
import { UsageHistory } from "./accounts/usage_history.ts";
import { type DiskReservation, type DiskSpace, StoreFull } from "./disk/disk_space.ts";
import type { ChangeProbe } from "./disk/file_probes.ts";
import { databaseSize } from "./disk/store_files.ts";
import type { Database } from "./engine/database.ts";
import { UnreadableEntry } from "./engine/errors.ts";
import { MemoryBudget, MIN_MEMORY_BUDGET } from "./engine/memory_budget.ts";
import { ProjectCache } from "./engine/project_cache.ts";
import type { FileRecord, Place } from "./engine/records.ts";
import type { StoreMeter } from "./engine/commits.ts";
import { changeFile, type FileChanges } from "./files/expiry.ts";
import { UNREADABLE_RECORD, type WriteCondition, type WriteGuard } from "./files/file_record.ts";
import { type Beside, FileReader, type OnDamage } from "./files/file_reader.ts";
import { FileStore } from "./files/file_store.ts";
import { Trash } from "./files/trash.ts";
import { BodyReceiver, DiscardedBytes } from "./bytes/receive.ts";
import { OpenVersions } from "./bytes/open_versions.ts";
import { LockStore, surroundings } from "./locks/lock_store.ts";
import { LinkStore } from "./links/link_store.ts";
import { type DrivePage, type DriveQuery, listDrives } from "./listing/drives.ts";
import { FolderStore } from "./listing/folders.ts";
import {
  folderExists,
  listDirectory,
  listFiles,
  listObjects,
  type ListPage,
  type ListQuery,
  type ObjectPage,
  type ObjectQuery,
} from "./listing/listing.ts";
import { FileSearch, type SearchOptions } from "./listing/search.ts";
import type { Compactor } from "./maintenance/compactor.ts";
import { type Damage, DamagedFiles, placeOf } from "./maintenance/damaged_files.ts";
import { ExpiredFiles } from "./maintenance/expired_files.ts";
import { Scrub, type ScrubState } from "./maintenance/scrub.ts";
import { Sweeper } from "./maintenance/sweeper.ts";
import { Quotas } from "./quotas/quotas.ts";
import { listUsage, NO_PROJECT_USAGE, type ProjectUsage, readUsage } from "./quotas/usage.ts";
import { uploadEnder } from "./uploads/session.ts";
import { UploadStore } from "./uploads/upload_store.ts";
import { DeliveryQueue, WebhookLease } from "./webhooks/delivery_queue.ts";
import { WebhookStore } from "./webhooks/webhook_store.ts";

/** Default time without a byte after which a transfer is aborted. */
export const DEFAULT_IDLE_TIMEOUT = MINUTE;

/** Default life of an upload session. */
export const DEFAULT_UPLOAD_TTL = DAY;

export interface StoreOptions {
  /** Life of an upload session, in milliseconds. */
  uploadTtl?: number;
  maxOpenUploads?: number;
  /** Reserves disk space for uploads; without it they are not limited by the disk. */
  disk?: DiskSpace;
  /** Returns free pages of the store's file to the disk; without it the file keeps them. */
  compactor?: Compactor;
  /** Memory for files and messages; by default the smallest budget. */
  memory?: MemoryBudget;
  /** Encrypts the secrets of S3 keys; without it there are no such keys. */
  s3SecretKey?: S3SecretKey | undefined;
  /** Receives events for the metrics. */
  meter?: StoreMeter;
  /** Time between two passes of the scrub, in milliseconds; without it no pass is scheduled. */
  scrubEvery?: number | undefined;
  /** Tells the process that does the background work that there is some; absent if this one does it. */
  wakeOther?: ((part: BackgroundPart) => void) | undefined;
  /** Receives errors of background work. */
  onError: (error: unknown) => void;
  /** Receives a sentence at the start and the end of long background work. */
  onNotice?: (text: string) => void;
}

/** Background work that begins at once if there is a reason. */
export type BackgroundPart = "sweeper" | "scrub";

/** Known damage, and the progress of the scrub. */
export interface Integrity extends ScrubState {
  damages: Damage[];
}

/**
 * The store: everything that kvdrive keeps, on one database. It connects the parts below `store/` and runs their
 * background work (sweeper, scrub). The rest of the program uses the store through this class.
 */
export class Store {
  readonly files: FileStore;
  readonly trash: Trash;
  readonly folders: FolderStore;
  readonly uploads: UploadStore;
  readonly adminToken: AdminToken;
  readonly projects: ProjectStore;
  readonly keys: ProjectKeyStore;
  readonly s3Keys: S3KeyStore;
  readonly apps: AppStore;
  readonly appKeys: AppKeyStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInStore;
  readonly tickets: TicketStore;
  readonly events: EventLog;
  readonly links: LinkStore;
  readonly locks: LockStore;
  readonly changes: ChangeFeed;
  readonly changeSignals: ChangeSignals;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
  readonly webhookLease: WebhookLease;
  readonly usageHistory: UsageHistory;
  readonly revocations = new Revocations();
  readonly sweeper: Sweeper;
  readonly scrub: Scrub;
  readonly memory: MemoryBudget;
  readonly #damages: DamagedFiles;
  readonly #search: FileSearch;
  readonly #disk: DiskSpace | undefined;
  readonly #projectCache: ProjectCache;
  readonly #quotas: Quotas;
  readonly #wakeOther: StoreOptions["wakeOther"];

  constructor(private readonly db: Database, options: StoreOptions) {
    this.#wakeOther = options.wakeOther;
    const { uploadTtl = DEFAULT_UPLOAD_TTL, onError, disk, compactor, meter } = options;
    const { scrubEvery: every, onNotice = () => {} } = options;
    if (meter !== undefined) db.meter = meter;
    this.#disk = disk;
    const { revocations } = this;
    this.memory = options.memory ??
      new MemoryBudget(MIN_MEMORY_BUDGET, { maxWait: DEFAULT_IDLE_TIMEOUT });
    const { memory } = this;
    const openVersions = new OpenVersions(db);
    const projectCache = new ProjectCache(db);
    const deletions = new Deletions(db, projectCache, () => this.links.forgetDeleted());
    this.#projectCache = projectCache;
    const quotas = this.#quotas = new Quotas(db, options.maxOpenUploads);
    this.#damages = new DamagedFiles(db);
    this.scrub = new Scrub(db, openVersions, this.#damages, { every, onError, onNotice });
    const note = (place: Place, version: string, problem: string) =>
      void this.#damages.note(place, version, problem).then((isNew) => {
        if (isNew) this.wake("scrub");
      }).catch(onError);
    const onDamage: OnDamage = (place, version, { problem }) => note(place, version, problem);
    db.unreadable.report = ({ key, versionstamp, reason }) => {
      onError(new UnreadableEntry(key, reason));
      if (key[0] === "file") note(placeOf(key), versionstamp, UNREADABLE_RECORD);
    };
    const discarded = new DiscardedBytes(() => this.wake("sweeper"));
    const bodies = new BodyReceiver(db, quotas, memory.uploads, discarded);
    const reader = new FileReader(db, { projects: projectCache, openVersions, memory, onDamage });
    this.files = new FileStore(db, { reader, projects: projectCache, quotas, bodies });
    this.#search = new FileSearch(db.reader);
    this.folders = new FolderStore(db, projectCache);
    const end = uploadEnder(db, projectCache);
    this.uploads = new UploadStore(db, projectCache, quotas, this.files, {
      end,
      bodies,
      memory: memory.uploads,
      discarded,
      ttl: uploadTtl,
      onUndigested: () => this.wake("scrub"),
    });
    this.trash = new Trash(db, projectCache, quotas);
    this.events = new EventLog(db);
    const { events } = this;
    this.usageHistory = new UsageHistory(db, { usage: () => this.usage(), onError });
    this.sweeper = new Sweeper(db, openVersions, {
      enders: { endUpload: end, trash: this.trash },
      deletions,
      expired: new ExpiredFiles(db, projectCache),
      events,
      usageHistory: this.usageHistory,
      disk,
      compactor,
      onError,
    });
    const wake = () => this.wake("sweeper");
    this.adminToken = new AdminToken(db, revocations, events);
    this.projects = new ProjectStore(db, projectCache, revocations, deletions, events, wake);
    const keyDeps = { projects: projectCache, revocations, events, onError };
    this.keys = new ProjectKeyStore(db, keyDeps);
    const secrets = new S3SecretBox(options.s3SecretKey ?? NO_S3_SECRET_KEY);
    this.s3Keys = new S3KeyStore(db, { ...keyDeps, secrets });
    this.apps = new AppStore(db, projectCache, revocations, deletions, events, wake);
    this.appKeys = new AppKeyStore(db, projectCache, this.apps, revocations, events);
    this.sessions = new SessionStore(db, this.keys, this.apps, revocations, events);
    const { adminToken, keys } = this;
    this.signIns = new SignInStore(db, { adminToken, keys, events }, onError);
    this.tickets = new TicketStore(db, projectCache, { adminToken, keys, signIns: this.signIns });
    this.locks = new LockStore(db, projectCache);
    const notify = () => revocations.notify();
    this.links = new LinkStore(db, projectCache, events, { notify, onError });
    this.changes = new ChangeFeed(db, projectCache);
    this.changeSignals = new ChangeSignals(db, projectCache, onError);
    const { changes } = this;
    this.webhooks = new WebhookStore(db, { projects: projectCache, events, changes });
    this.deliveries = new DeliveryQueue(db, changes, events);
    this.webhookLease = new WebhookLease(db);
  }

  /**
   * Returns a page of a drive's files: all of them if `recursive`, otherwise files and directories under the prefix.
   */
  async list(query: ListQuery, { recursive }: { recursive: boolean }): Promise<ListPage> {
    if (await this.#projectCache.isHidden(query)) return { entries: [], more: false };
    return await (recursive ? listFiles : listDirectory)(this.db.reader, query);
  }

  /** Returns a page of a drive's files and folders as S3 clients see them. */
  async listObjects(query: ObjectQuery): Promise<ObjectPage> {
    if (await this.#projectCache.isHidden(query)) return { entries: [], more: false };
    return await listObjects(this.db.reader, query);
  }

  /** Returns whether there is the marker of a folder, or a file below it. The name ends with a slash. */
  async folderExists(place: Place): Promise<boolean> {
    return !await this.#projectCache.isHidden(place) && await folderExists(this.db.reader, place);
  }

  /** Returns what a write of a file requires of the folders and locks around its name. */
  besides(place: Place, require: Parameters<typeof surroundings>[2]): Beside {
    return surroundings({ reader: this.db.reader, locks: this.locks }, place, require);
  }

  /** Returns a page of the files of a drive whose names contain a text. */
  async search(query: ListQuery, options: SearchOptions): Promise<ListPage> {
    if (await this.#projectCache.isHidden(query)) return { entries: [], more: false };
    return await this.#search.run(query, options);
  }

  /** Changes properties of a file: see `changeFile` in `files/expiry.ts`. */
  async changeFile(
    place: Place,
    changes: FileChanges,
    condition: WriteCondition,
    guard?: WriteGuard,
  ): Promise<FileRecord | "absent" | "refused"> {
    const parts = { db: this.db, projects: this.#projectCache, quotas: this.#quotas };
    return await changeFile(parts, place, changes, condition, guard);
  }

  /**
   * Reserves disk space, in bytes, until the result is disposed of. If there is not enough, a sweep starts.
   *
   * @throws {StoreFull} if only the configured reserve is left.
   */
  async reserveDisk(size: number): Promise<DiskReservation | undefined> {
    try {
      return await this.#disk?.reserve(size);
    } catch (error) {
      if (error instanceof StoreFull) this.wake("sweeper");
      throw error;
    }
  }

  /** Returns a page of the drives of a project and their usage; none if the project does not exist. */
  async listDrives(query: DriveQuery): Promise<DrivePage> {
    const known = await this.#projectCache.find(query.project);
    if (known === undefined) return { drives: [], more: false };
    return await listDrives(this.db.reader, query, known.deleting);
  }

  /** Returns the usage of a project, without the drives that are being deleted. It is one read. */
  async usageOf(project: string): Promise<ProjectUsage> {
    return await readUsage(this.db.reads, project);
  }

  /** Returns all projects with their usage, in the order of their ids. Its cost does not depend on their drives. */
  async usage(): Promise<UsedProject[]> {
    const [infos, usages] = await Promise.all([this.projects.list(), listUsage(this.db)]);
    return infos.map((info) => ({ ...info, ...(usages.get(info.project) ?? NO_PROJECT_USAGE) }));
  }

  /** Makes background work begin soon, in the process that does it. */
  wake(part: BackgroundPart): void {
    if (this.#wakeOther === undefined) this[part].wake();
    else this.#wakeOther(part);
  }

  /** Detects commits of records by all processes; absent on a shared store. */
  get changeProbe(): ChangeProbe | undefined {
    return this.db.changes;
  }

  /** Calls a function with the projects in whose feeds a commit of this process has added changes. */
  onAnnounced(receive: (projects: string[]) => void): void {
    this.db.onAnnounced.add((feeds) => receive(feeds.map(([, project]) => String(project))));
  }

  /** Returns the size of the store's files and their logs in bytes; `undefined` if they cannot be read or there are none. */
  async size(): Promise<number | undefined> {
    const { logs } = this.db;
    return logs.length === 0 ? undefined : await databaseSize(logs.map(({ path }) => path));
  }

  /** Returns the known damage and the progress of the scrub. */
  async integrity(): Promise<Integrity> {
    const [state, damages] = await Promise.all([this.scrub.state(), this.#damages.list()]);
    return { ...state, damages };
  }

  /**
   * Resolves once the store can be read and written. Changes nothing.
   *
   * @param signal Stops the wait.
   */
  async probe(signal: AbortSignal): Promise<void> {
    await this.db.probe(signal);
  }

  /** Stops the background work and closes the database. */
  async close(): Promise<void> {
    const { sweeper, scrub, links, usageHistory: { traffic } } = this;
    this.changeSignals.close();
    await Promise.all([
      sweeper.stop(),
      scrub.stop(),
      links.close(),
      traffic.close(),
    ]);
    await this.db.close();
  }
}
