/**
 * Files: the commit path of a write and the read path of a download.
 *
 * **Write** (`put`): reserve quota and memory, receive the body (small ones in memory, large ones in chunks under a
 * fresh version), let the caller accept its digest, then `publish`. `publish` reads the current record, evaluates the
 * caller's condition, and commits one operation that checks the record and the project, sets the new record, adjusts
 * the counters and turns the previous bytes into garbage. If a concurrent commit wins, it starts over from the read.
 * Completing an upload ends in the same `publish`.
 *
 * **Read** (`open`): record and content come from `SmallFileCache` or one merged read. A file in chunks is streamed by
 * `readRange`; `OpenVersions` keeps its bytes until the download ends, even if the file is overwritten or deleted. No
 * lock is needed, because the bytes of a version never change.
 *
 * @module
 */
import { crc32 } from "node:zlib";
import type { ByteRange } from "../../rules/byte_range.ts";
import { KeyedMutex } from "../../rules/concurrency.ts";
import type { Database } from "../engine/database.ts";
import { StoreDamaged, StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { MemoryBudget } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type Place,
  placeId,
  type ProjectRecord,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { countUsage } from "../quotas/usage.ts";
import { contentProblem } from "../bytes/checksums.ts";
import { crcOfChunks } from "../bytes/crc32.ts";
import { Copies } from "./copies.ts";
import { type OnExpired, setExpiry } from "./expiry.ts";
import {
  type Draft,
  isPresent,
  NewNames,
  newRecord,
  RecentDeletions,
  validators,
  type WriteCondition,
} from "./file_record.ts";
import { type ReadAhead, ReadAheads } from "../bytes/read_ahead.ts";
import { readRange } from "../bytes/read_range.ts";
import { abandon, type BodyReceiver, type Received } from "../bytes/receive.ts";
import type { OpenFile } from "./open_file.ts";
import { retire } from "./trash.ts";
import { type FoundFile, SmallFileCache } from "./small_file_cache.ts";
import type { OpenVersions } from "../bytes/versions.ts";

/** `refused`: the condition is not met. `stale`: the commit failed although file and project have not changed. */
export type Published = FileRecord | "refused" | "stale";

/** Called when a reader meets bytes that are missing or wrong. */
export type OnDamage = (place: Place, version: string, error: StoreDamaged) => void;

/** The entry of a file's record. */
type Current = Deno.KvEntryMaybe<FileRecord>;

/** Writes, reads and deletes files of all drives. */
export class FileStore {
  readonly copies: Copies;
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #quotas: Quotas;
  readonly #openVersions: OpenVersions;
  readonly #bodies: BodyReceiver;
  readonly #locks = new KeyedMutex();
  readonly #recentDeletions = new RecentDeletions();
  readonly #newNames = new NewNames();
  readonly #smallFiles: SmallFileCache;
  readonly #readAheads: ReadAheads;
  readonly #onDamage: OnDamage;
  readonly #onExpired: OnExpired;

  constructor(
    db: Database,
    parts: {
      projects: ProjectCache;
      quotas: Quotas;
      openVersions: OpenVersions;
      memory: MemoryBudget;
      bodies: BodyReceiver;
      onDamage?: OnDamage;
      onExpired?: OnExpired;
    },
  ) {
    const { projects, quotas, openVersions, memory, bodies } = parts;
    const { onDamage = () => {}, onExpired = async () => {} } = parts;
    this.#db = db;
    this.#onDamage = onDamage;
    this.#onExpired = onExpired;
    this.#projects = projects;
    this.#quotas = quotas;
    this.#openVersions = openVersions;
    this.#bodies = bodies;
    this.#smallFiles = new SmallFileCache(db.changes, memory.caches);
    this.#readAheads = new ReadAheads(memory.downloads);
    this.copies = new Copies(db, { ...parts, recentDeletions: this.#recentDeletions, onExpired });
  }

  /**
   * Stores a file from one body. The name shows the previous version until all of the new one is on disk.
   *
   * @param body At most `MAX_PAYLOAD` bytes. If it throws, nothing has changed and its error is thrown.
   * @param options.mtime When the caller's own copy was last modified, in milliseconds since 1970.
   * @param options.lifetime How long the file exists, in milliseconds; for ever unless given.
   * @param options.announced Size of the body, if known.
   * @param options.accept Called with the digest before the file is visible. If it throws, nothing has changed.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted, before or after the body is read.
   * @throws {QuotaExceeded} before or after the body is read.
   * @throws {MemoryExhausted} before the body is read.
   */
  async put(
    place: Place,
    body: AsyncIterable<Uint8Array>,
    { announced, accept, ...options }: {
      type: string;
      mtime?: number | undefined;
      lifetime?: number | undefined;
      announced?: number | undefined;
      condition: WriteCondition;
      accept: (received: Received) => void | Promise<void>;
    },
  ): Promise<FileRecord | "refused"> {
    const begun = await this.#projects.requireWritable(place);
    const write = { begun, replaced: keys.file(place), announced, accept };
    return await this.#bodies.receive(place, write, body, async (received) => {
      const record = await this.#publishReceived(place, received, { ...options, begun });
      if (record === "refused") await abandon(received);
      return record;
    });
  }

  async #publishReceived(
    place: Place,
    { size, sha256, bytes }: Received,
    { type, mtime, ...options }: {
      type: string;
      mtime?: number | undefined;
      lifetime?: number | undefined;
      condition: WriteCondition;
      begun: CachedProject;
    },
  ): Promise<FileRecord | "refused"> {
    const isInline = bytes.kind === "inline";
    const draft: Draft = {
      size,
      sha256,
      type,
      ...(mtime === undefined ? {} : { mtime }),
      layout: { kind: bytes.kind },
      ...(isInline ? {} : { bytes: bytes.version }),
    };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const published = await this.publish(place, draft, options, (op, version) => {
        if (isInline) op.set(keys.content(version), bytes.content);
        else bytes.lease.settle(op);
      });
      if (published !== "stale") return published;
      // `stale` may also mean that a file was created and deleted in between: try again unless the bytes are lost.
      if (!isInline && !await bytes.lease.holds()) break;
    }
    throw new StoreUnavailable(
      "The received bytes were taken away, or there are too many concurrent writes of the file",
    );
  }

  /**
   * Makes a draft the current version of a file. The record, the usage counters and the garbage list change in one
   * atomic operation.
   *
   * @param options.begun The project as it was when the write began.
   * @param options.charged Bytes of the draft that count against the quota already, as parts of an open upload.
   * @param alongside Adds further changes to the operation.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {QuotaExceeded}
   */
  async publish(
    place: Place,
    draft: Draft,
    { condition, begun, lifetime, charged = 0 }: {
      condition: WriteCondition;
      begun: CachedProject;
      lifetime?: number | undefined;
      charged?: number;
    },
    alongside: (operation: Operation, version: string, expires: number | undefined) => void,
  ): Promise<Published> {
    return await this.#locks.run(placeId(place), async () => {
      let project = begun;
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        if (tries > 0) project = await this.#projects.requireWritable(place, begun);
        const assumesNew = tries === 0 && this.#newNames.areLikely && condition(undefined);
        const current = assumesNew ? absent(place) : await this.#read(place);
        const replaced = await this.#present(place, current.value);
        if (!condition(replaced && validators(replaced))) return "refused";
        const isRecreated = this.#recentDeletions.has(place);
        const record = newRecord(draft, replaced ?? null, isRecreated, lifetime);
        const operation = new Operation().share(project.unchanged)
          .check(current.key, current.versionstamp)
          .set(current.key, record);
        const more = countUsage(operation, place, current.value, record);
        const kept = current.value === null
          ? 0
          : retire(operation, project, place, current.value, "replaced");
        setExpiry(operation, place, record);
        alongside(operation, record.version, record.expires);
        const growth = { more: more + kept - charged, moves: charged + kept !== 0 };
        const { ok } = await this.#quotas.commit(project, place, operation, growth);
        this.#newNames.note(!ok || current.value !== null);
        if (ok) return record;
        if (!assumesNew && await this.#isUnchanged(current, project)) return "stale";
      }
      throw new StoreUnavailable("Too many concurrent writes of the same file");
    });
  }

  async #read(place: Place): Promise<Current> {
    const [current] = await this.#db.reads.get<[FileRecord]>([keys.file(place)]);
    return current;
  }

  /**
   * Returns whether the file and its project are unchanged since they were read. Forgets a cached project that is not.
   */
  async #isUnchanged(file: Current, { unchanged }: CachedProject): Promise<boolean> {
    const [now, owner] = await this.#db.reads.get<[FileRecord, ProjectRecord]>([
      file.key,
      unchanged.key,
    ]);
    const hasProject = owner.versionstamp === unchanged.versionstamp;
    if (!hasProject) this.#projects.forget(String(unchanged.key.at(-1)));
    return hasProject && now.versionstamp === file.versionstamp;
  }

  /** Deletes a file. Returns whether it existed. */
  async delete(place: Place): Promise<boolean> {
    return await this.#locks.run(placeId(place), async () => {
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        const project = await this.#projects.find(place.project);
        if (project === undefined || project.deleting.includes(place.drive)) return false;
        const current = await this.#read(place);
        const record = await this.#present(place, current.value);
        if (record === undefined) return false;
        // Also checks the project: it may have got a quota, which must count the freed bytes.
        const operation = new Operation().share(project.unchanged)
          .check(current.key, current.versionstamp)
          .delete(current.key);
        const more = countUsage(operation, place, record, null) +
          retire(operation, project, place, record, "deleted");
        const growth = { more, moves: record.size !== 0 };
        if ((await this.#quotas.commit(project, place, operation, growth)).ok) {
          this.#recentDeletions.add(place);
          return true;
        }
        await this.#isUnchanged(current, project);
      }
      throw new StoreUnavailable("Too many concurrent writes of the same file");
    });
  }

  /** Returns the record of a file; `undefined` if it does not exist. */
  async stat(place: Place): Promise<FileRecord | undefined> {
    if (await this.#projects.isHidden(place)) return undefined;
    const { value } = await this.#db.reader.get<FileRecord>(keys.file(place));
    return await this.#present(place, value);
  }

  /** Returns a record unless its deadline has passed. */
  async #present(place: Place, record: FileRecord | null): Promise<FileRecord | undefined> {
    if (record === null || isPresent(record, Date.now())) return record ?? undefined;
    await this.#onExpired(place, record);
    return undefined;
  }

  /**
   * Opens the current version of a file; `undefined` if it does not exist. Record and content are one read.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async open(place: Place): Promise<OpenFile | undefined> {
    if (await this.#projects.isHidden(place)) return undefined;
    const found = await this.#smallFiles.get(placeId(place), () => this.#find(place));
    return this.#openFound(place, found);
  }

  /**
   * Opens the current version like `open`, without keeping it in the cache: for callers that read many files once each.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async openUncached(place: Place): Promise<OpenFile | undefined> {
    if (await this.#projects.isHidden(place)) return undefined;
    return this.#openFound(place, await this.#find(place));
  }

  /** Takes no turn of the event loop unless the file, which may come from the cache, has expired. */
  #openFound(place: Place, found?: FoundFile): OpenFile | Promise<undefined> | undefined {
    if (found === undefined) return undefined;
    if (isPresent(found.record, Date.now())) return this.#opened(place, found);
    return this.#onExpired(place, found.record).then(() => undefined);
  }

  /** Keeps the chunks of a version until the returned function is called, for `openVersion`. */
  hold(record: FileRecord): () => void {
    return this.#openVersions.hold(bytesVersion(record));
  }

  /**
   * Opens the version of a record. If it is in chunks, it must be held since it was read. If it is in one value, the
   * result is `undefined` once the file was deleted or overwritten.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async openVersion(place: Place, record: FileRecord): Promise<OpenFile | undefined> {
    const found = await this.#findVersion(place, record);
    return found === undefined ? undefined : this.#opened(place, found);
  }

  /**
   * Reserves memory for reading several files of a project one after another.
   *
   * @param more Bytes that the caller needs besides.
   * @throws {MemoryExhausted} if no memory for another reader becomes free in time.
   */
  async readAhead(project: string, more: number): Promise<ReadAhead> {
    return await this.#readAheads.open(project, more);
  }

  async #find(place: Place): Promise<FoundFile | undefined> {
    const { value: record } = await this.#read(place);
    if (record === null) return undefined;
    return await this.#findVersion(place, record) ?? await this.#find(place);
  }

  /** Reads the version of a record that was read before; `undefined` if the file is gone or has other bytes now. */
  async #findVersion(place: Place, record: FileRecord): Promise<FoundFile | undefined> {
    if (record.layout.kind !== "inline") return { record };
    const [{ value: content }] = await this.#db.reads.get<[Uint8Array<ArrayBuffer>]>([
      keys.content(bytesVersion(record)),
    ]);
    const problem = contentProblem(record, content);
    if (problem === undefined && content !== null) return { record, content };
    // A content is deleted with its record, which may have happened between the two reads.
    const now = (await this.#read(place)).value;
    if (now === null || bytesVersion(now) !== bytesVersion(record)) return undefined;
    const error = new StoreDamaged(fileText(place), problem ?? "");
    this.#noteDamage(place, record.version, error);
    throw error;
  }

  #opened(place: Place, { record, content }: FoundFile): OpenFile {
    const releaseVersion = this.#openVersions.hold(bytesVersion(record));
    let ahead: ReadAhead | undefined;
    let isClosed = false;
    const close = () => {
      isClosed = true;
      releaseVersion();
      ahead?.[Symbol.dispose]();
    };
    const { reader, chunks } = this.#db;
    const onDamage = (error: StoreDamaged) => this.#noteDamage(place, record.version, error);
    const read = async (range: ByteRange, shared?: ReadAhead) => {
      const used = shared ?? await this.#readAheads.open(place.project);
      if (shared === undefined) ahead = used;
      // The file may have been closed during the wait for memory.
      if (isClosed) close();
      const source = { reader, chunks, ahead: used, onDamage };
      return readRange(source, place, record, content, range);
    };
    const crc = async () => {
      if (content !== undefined) return crc32(content);
      try {
        return await crcOfChunks(reader, place, record);
      } catch (error) {
        if (error instanceof StoreDamaged) onDamage(error);
        throw error;
      }
    };
    return { record, content, read, crc32: crc, close, [Symbol.dispose]: close };
  }

  #noteDamage(place: Place, version: string, error: StoreDamaged): void {
    this.#db.meter.damageRead();
    this.#onDamage(place, version, error);
  }
}

function absent(place: Place): Current {
  return { key: keys.file(place), value: null, versionstamp: null };
}
