import { setImmediate } from "node:timers";
import { KeyedMutex } from "../../rules/concurrency.ts";
import { byteLength } from "../../rules/names.ts";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation, SharedCheck } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { FileRecord, LockRecord, LocksRecord, Place } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import type { Beside } from "../files/file_reader.ts";
import { folderExists, rangesBelow } from "../listing/listing.ts";
import type { KvReader } from "../reads/read_queue.ts";

/** The most bytes of the locks of a drive, which are one value of at most 64 KiB: a few hundred locks. */
const MAX_LOCKS_BYTES = 60_000;

/** The most bytes of those of one key, so that it leaves room for others. */
const MAX_KEY_BYTES = MAX_LOCKS_BYTES * 3 / 4;

/** A drive, or a key in it, has no room for another lock. */
export class TooManyLocks extends Error {
  override readonly name = "TooManyLocks";
}

type LockedDrive = Pick<Place, "project" | "drive">;

/** The locks of a drive. */
export interface DriveLocks {
  /** Those that have not expired. */
  locks: readonly LockRecord[];
  /** Fails an operation if they have changed. */
  unchanged: readonly SharedCheck[];
}

/** What a change of the locks decided. Without `locks` nothing changes. */
export interface LockDecision<T> {
  locks?: readonly LockRecord[];
  result: T;
}

/**
 * The locks that WebDAV clients have on names of a drive. They are one entry for each drive: a change reads all of them
 * and replaces them in one operation, whichever process makes it, and a write looks them up with one read.
 */
export class LockStore {
  /** By drive: changes of this process would fail each other, as they replace the same entry. */
  private readonly turns = new KeyedMutex();

  constructor(private readonly db: Database, private readonly projects: ProjectCache) {}

  /** Reads the locks of a drive. */
  async read(drive: LockedDrive): Promise<DriveLocks> {
    if (await this.projects.isHidden(drive)) return { locks: [], unchanged: [] };
    const [entry] = await this.db.reads.get<[LocksRecord]>([keys.locks(drive)]);
    return driveLocks(entry);
  }

  /**
   * Changes the locks of a drive.
   *
   * @param decide Returns the locks that the drive has from now on. It may be called several times.
   * @throws {NoSuchProject}
   * @throws {NoSuchDrive}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {TooManyLocks}
   */
  async change<T>(
    drive: LockedDrive,
    decide: (locks: readonly LockRecord[]) => LockDecision<T>,
  ): Promise<T> {
    return await this.turns.run(turnOf(drive), () => this.#change(drive, decide));
  }

  /**
   * Resolves between two changes of this process. The next one begins after this turn of the event loop: what the caller
   * reads and commits in it comes first. Without that a write would lose to each of many changes in succession.
   */
  async betweenChanges(drive: LockedDrive): Promise<void> {
    const begun = Promise.withResolvers<void>();
    void this.turns.run(turnOf(drive), async () => {
      begun.resolve();
      await new Promise<void>((resolve) => setImmediate(resolve));
    });
    await begun.promise;
  }

  async #change<T>(
    drive: LockedDrive,
    decide: (locks: readonly LockRecord[]) => LockDecision<T>,
  ): Promise<T> {
    let tries = 0;
    return await transact<T>(this.db, async () => {
      // An attempt fails if the project has changed since it was cached.
      if (tries++ > 0) this.projects.forget(drive.project);
      const { unchanged } = await this.projects.requireWritable({ ...drive, needsDrive: true });
      const [entry] = await this.db.reads.get<[LocksRecord]>([keys.locks(drive)]);
      const before = currentLocks(entry.value);
      const { locks, result } = decide(before);
      if (locks === undefined) return { result };
      const operation = new Operation().share(unchanged).unchanged(entry);
      if (locks.length === 0) return { operation: operation.delete(entry.key), result };
      requireRoom(locks, before);
      const record: LocksRecord = { locks: [...locks] };
      const last = Math.max(...locks.map(({ expires }) => expires));
      operation.set(entry.key, record, Math.max(1, last - Date.now()));
      return { operation, result };
    });
  }
}

function turnOf({ project, drive }: LockedDrive): string {
  return JSON.stringify([project, drive]);
}

/** @throws {TooManyLocks} */
function requireRoom(locks: readonly LockRecord[], before: readonly LockRecord[]): void {
  const bytesOf = (some: readonly LockRecord[]) => byteLength(JSON.stringify(some));
  if (bytesOf(locks) > MAX_LOCKS_BYTES) {
    throw new TooManyLocks(`The drive has ${locks.length} locks`);
  }
  for (const { by } of locks.filter((lock) => !before.includes(lock))) {
    const own = locks.filter((lock) => lock.by === by);
    if (bytesOf(own) > MAX_KEY_BYTES) throw new TooManyLocks(`The key has ${own.length} locks`);
  }
}

/** Returns what an entry says about the locks of its drive. */
export function driveLocks(
  { key, value, versionstamp }: Deno.KvEntryMaybe<LocksRecord>,
): DriveLocks {
  return { locks: currentLocks(value), unchanged: [new SharedCheck(key, versionstamp)] };
}

function currentLocks(record: LocksRecord | null): readonly LockRecord[] {
  const now = Date.now();
  return record?.locks.filter(({ expires }) => expires > now) ?? [];
}

/** What is around the name of a file. */
export interface Surroundings {
  locks: readonly LockRecord[];
  /** Returns whether the folder exists that the name is in. A drive counts as one that does: see `Place.needsDrive`. */
  hasParent: () => Promise<boolean>;
  /** Returns whether there is a folder with this name. */
  isFolder: () => Promise<boolean>;
}

/**
 * Returns what `FileStore.put` reads beside the record of a file, so that locks and folders decide on a write as they are
 * right before it is committed. If a lock changes until then, the write is decided on again.
 *
 * @param require Throws what refuses the write.
 */
export function surroundings(
  { reader, locks: store }: { reader: KvReader; locks: LockStore },
  place: Place,
  require: (current: FileRecord | undefined, around: Surroundings) => Promise<void>,
): Beside {
  const { name } = place;
  const parent = { ...place, name: name.slice(0, name.lastIndexOf("/") + 1) };
  const folder = { ...place, name: `${name}/` };
  const isInDrive = parent.name === "";
  let attempts = 0;
  return {
    begin: async () => {
      if (attempts++ > 0) await store.betweenChanges(place);
    },
    keys: [keys.locks(place), ...(isInDrive ? [] : [keys.folder(parent)])],
    ranges: rangesBelow(folder),
    require: async (current, [locked, marker], isAny) => {
      const hasMarker = isInDrive || marker !== undefined && marker.versionstamp !== null;
      const { locks, unchanged } = driveLocks(locked as Deno.KvEntryMaybe<LocksRecord>);
      await require(current, {
        locks,
        hasParent: async () => hasMarker || await folderExists(reader, parent),
        isFolder: async () => isAny && await folderExists(reader, folder),
      });
      return unchanged;
    },
  };
}
