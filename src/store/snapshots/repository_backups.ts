import type { Snapshot } from "../../repository/manifest.ts";
import { NoRepository, RepositoryError } from "../../repository/errors.ts";
import { Repository, type RepositorySettings } from "../../repository/repository.ts";
import type { Retention } from "../../repository/retention.ts";
import { MINUTE, SECOND } from "../../rules/units.ts";
import type { BackupSchedule, ScheduledBackups } from "../backup/backup_schedule.ts";
import { databasePath } from "../disk/store_files.ts";
import { SnapshotRun } from "./snapshot_task.ts";
import { requireWhole } from "./take_snapshot.ts";
import type { BackupStatus } from "../backup/backup_health.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { decodeValue, encodeKey, KV_COLUMNS, type KvRow } from "../reads/kv_encoding.ts";
import { namedByteFile } from "../verify/snapshot.ts";

/** The pauses before a failed snapshot is repeated, in milliseconds: the first, twice as long each time, and the longest. */
const FIRST_RETRY = 15 * SECOND;
const LONGEST_RETRY = 10 * MINUTE;

/** How far a snapshot's time may be ahead of our clock, in milliseconds: clocks are corrected now and then. */
const CLOCK_TOLERANCE = MINUTE;

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

export interface RepositoryBackupsOptions {
  folder: string;
  repository: RepositorySettings;
  /** Bytes a second; `undefined` for no limit. */
  bandwidth: number | undefined;
  /** Which snapshots stay. */
  retention: Retention;
  /** Receives sentences for the operator. */
  onNotice: (text: string) => void;
  /** Receives the failure of what follows a snapshot. */
  onError: (error: unknown) => void;
}

/** The state of a server's snapshots. */
export interface SnapshotStatus extends BackupStatus {
  target: string;
  /** The files of the newest snapshot, their bytes, and those that it added; `undefined` if there is none. */
  last: { files: number; bytes: number; added: number } | undefined;
}

/** Snapshots of a store in a repository. Several processes may make them at the same time. */
export class RepositoryBackups implements ScheduledBackups {
  #repository: Repository | undefined;
  #last: Snapshot | undefined;
  #run: SnapshotRun | undefined;
  #isStopped = false;

  constructor(private readonly options: RepositoryBackupsOptions) {}

  get place(): string {
    return this.options.repository.target;
  }

  /** Returns what the server tells of its snapshots. The newest one is that which was last seen. */
  status(schedule: BackupSchedule): SnapshotStatus {
    const last = this.#last;
    const size = last && { files: last.files, bytes: last.bytes, added: last.added };
    return { ...schedule.status(), target: this.place, last: size };
  }

  async newest(now: number): Promise<number | undefined> {
    try {
      this.#repository ??= await Repository.open(this.options.repository);
    } catch (error) {
      // The first snapshot makes it.
      if (error instanceof NoRepository) return undefined;
      throw error;
    }
    const snapshots = await this.#repository.snapshots(this.options.onError);
    // The next snapshot would make a new one where the former was.
    if (snapshots.length === 0) await this.#repository.requirePresent();
    this.#last = snapshots.findLast(({ time }) => time <= now + CLOCK_TOLERANCE);
    return this.#last?.time;
  }

  lock(): Promise<Disposable | undefined> {
    return Promise.resolve(NO_LOCK);
  }

  async make(): Promise<boolean> {
    const { folder, repository, bandwidth, retention, onNotice, onError } = this.options;
    const store = await storeIdOf(folder);
    if (this.#isStopped) return false;
    const options = { source: databasePath(folder), store, repository, bandwidth };
    this.#run = new SnapshotRun(options, retention);
    const result = await this.#run.run({ onNotice });
    if (result?.pruneProblem !== undefined) onError(new RepositoryError(result.pruneProblem));
    if (result === undefined) return false;
    requireWhole(result.snapshot, this.place);
    return true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#run?.stop();
  }

  retryAfter(failures: number): number {
    return Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(10, failures - 1));
  }
}

/**
 * Returns the id of the store in a folder. A store that an older version made gets one.
 *
 * @throws {CannotOpenStore}
 */
export async function storeIdOf(folder: string): Promise<string> {
  return idIn(databasePath(folder)) ?? await giveId(folder);
}

/** Reads the id with SQLite, which takes less memory than to open the store. */
function idIn(path: string): string | undefined {
  try {
    const key = keys.storeId();
    return withSqlite(path, (sqlite) => {
      const row = sqlite.prepare(`SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`).get(encodeKey(key));
      const id = row && decodeValue(key, row as unknown as KvRow);
      // Only a store that is complete has a second file.
      return typeof id === "string" && namedByteFile(path, sqlite) !== undefined ? id : undefined;
    });
  } catch {
    // Opening the store reports why it cannot be read.
    return undefined;
  }
}

async function giveId(folder: string): Promise<string> {
  const database = await openDatabase(folder);
  try {
    const key = keys.storeId();
    while (true) {
      const { value, versionstamp } = await database.reader.get<string>(key);
      if (typeof value === "string") return value;
      // A refusal means that another process was faster.
      await database.commit(new Operation().check(key, versionstamp).set(key, crypto.randomUUID()));
    }
  } finally {
    await database.close();
  }
}
