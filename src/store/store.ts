import { DEFAULT_UPLOAD_TTL } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import type { Compactor } from "./compactor.ts";
import type { DiskSpace } from "./disk_space.ts";
import { type DriveUsage, listDrives } from "./drive_store.ts";
import { StoreFull } from "./errors.ts";
import { FileStore } from "./file_store.ts";
import { listDirectory, listFiles, type ListPage, type ListQuery } from "./listing.ts";
import { ProjectStore } from "./project_store.ts";
import { Readers } from "./readers.ts";
import { Sweeper } from "./sweeper.ts";
import { UploadStore } from "./upload_store.ts";

export interface StoreOptions {
  /** How long an upload session lives, in milliseconds. */
  uploadTtl?: number;
  /** Room for uploads; without it there is always some. */
  disk?: DiskSpace;
  /** Gives free space of the store back; without it the store keeps it for later. */
  compactor?: Compactor;
  /** Told of failures in the background. */
  onError: (error: unknown) => void;
}

/** All that the program keeps, on one database. */
export class Store {
  readonly files: FileStore;
  readonly uploads: UploadStore;
  readonly projects: ProjectStore;
  readonly sweeper: Sweeper;
  readonly #db: Database;
  readonly #disk: DiskSpace | undefined;

  constructor(db: Database, options: StoreOptions) {
    const { uploadTtl = DEFAULT_UPLOAD_TTL, onError, disk, compactor } = options;
    this.#disk = disk;
    const readers = new Readers();
    this.#db = db;
    this.files = new FileStore(db, readers);
    this.uploads = new UploadStore(db, this.files, uploadTtl);
    this.projects = new ProjectStore(db);
    this.sweeper = new Sweeper(db, readers, onError, { disk, compactor });
  }

  /** A page of a drive's files; up to the first slash behind the prefix unless `recursive`. */
  async list(query: ListQuery, { recursive }: { recursive: boolean }): Promise<ListPage> {
    return await (recursive ? listFiles : listDirectory)(this.#db.reader, query);
  }

  /**
   * Promises room on the disk for so many bytes, until what it gives is disposed of. Where there is none, what nobody
   * needs is removed soon.
   *
   * @throws {StoreFull} where only the reserve is left.
   */
  async demandRoom(size: number): Promise<Disposable | undefined> {
    try {
      return await this.#disk?.demand(size);
    } catch (error) {
      if (error instanceof StoreFull) this.sweeper.wake();
      throw error;
    }
  }

  async drives(project: string): Promise<DriveUsage[]> {
    return await listDrives(this.#db, project);
  }

  /** Ends the work in the background and closes the database. */
  async close(): Promise<void> {
    await this.sweeper.stop();
    await this.#db.close();
  }
}
