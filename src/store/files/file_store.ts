import type { ByteRange } from "../../rules/byte_range.ts";
import { KeyedMutex } from "../../rules/concurrency.ts";
import type { Validators } from "../../rules/preconditions.ts";
import type { Database } from "../engine/database.ts";
import { StoreDamaged, StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { MemoryBudget } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import {
  type FileRecord,
  fileText,
  type Layout,
  type Place,
  type ProjectRecord,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { countUsage } from "../quotas/usage.ts";
import { contentProblem } from "./checksums.ts";
import { type Draft, NewNames, newRecord, RecentDeletions, validators } from "./file_record.ts";
import { discardContent } from "./garbage.ts";
import { type ReadAhead, ReadAheads } from "./read_ahead.ts";
import { readRange } from "./read_range.ts";
import {
  abandon,
  cleanUpAfter,
  type DiscardedBytes,
  receive,
  type Received,
  release,
  reserveUpload,
} from "./receive.ts";
import { type FoundFile, SmallFileCache } from "./small_file_cache.ts";
import type { OpenVersions } from "./versions.ts";

/** Judges a write by what is there; `undefined` where there is no file. */
export type WriteCondition = (current: Validators | undefined) => boolean;

/** `refused`: the condition does not hold. `stale`: something else than the file itself has changed. */
export type Published = FileRecord | "refused" | "stale";

/** A version of a file to be read. Its bytes stay as they are until `close` is called or a stream of it has ended. */
export interface OpenFile extends Disposable {
  record: FileRecord;
  /**
   * The bytes, in pieces. To be called once.
   *
   * @throws {MemoryExhausted} where there is no memory for another reader for too long.
   */
  read(range: ByteRange): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>>;
  /** All bytes, where they lie in one value. */
  content: Uint8Array<ArrayBuffer> | undefined;
  close(): void;
}

/** Told of damage of a version of a file. */
export type OnDamage = (place: Place, version: string, error: StoreDamaged) => void;

/** What is there under a name. */
type Current = Deno.KvEntryMaybe<FileRecord>;

/** The files of all drives: writing, reading and deleting one. */
export class FileStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #quotas: Quotas;
  readonly #readers: OpenVersions;
  readonly #discarded: DiscardedBytes;
  readonly #locks = new KeyedMutex();
  readonly #goneNow = new RecentDeletions();
  readonly #newNames = new NewNames();
  readonly #hot: SmallFileCache;
  readonly #memory: MemoryBudget;
  readonly #aheads: ReadAheads;

  readonly #onDamage: OnDamage;

  /** @param onDamage Told when a reader meets bytes that are missing or wrong. */
  constructor(
    db: Database,
    { projects, quotas, readers, memory, discarded, onDamage = () => {} }: {
      projects: ProjectCache;
      quotas: Quotas;
      readers: OpenVersions;
      memory: MemoryBudget;
      discarded: DiscardedBytes;
      onDamage?: OnDamage;
    },
  ) {
    this.#db = db;
    this.#onDamage = onDamage;
    this.#projects = projects;
    this.#quotas = quotas;
    this.#readers = readers;
    this.#discarded = discarded;
    this.#hot = new SmallFileCache(db.changes, memory.caches);
    this.#memory = memory;
    this.#aheads = new ReadAheads(memory.downloads);
  }

  /**
   * Stores a file that comes in one piece. The name shows the new version once all of it is on disk, and the earlier
   * one until then.
   *
   * @param body At most `MAX_PAYLOAD` bytes. What it throws is thrown, and nothing has changed then.
   * @param announced The size of the body, where that is known before.
   * @param accept Called with the digest before the file is visible; what it throws is thrown.
   * @throws {NoSuchProject}
   * @throws {BeingRemoved} if the drive is, before the body is read or after.
   * @throws {QuotaExceeded} if the project has no room for it, before the body is read or after.
   * @throws {MemoryExhausted} before the body is read.
   */
  async put(
    place: Place,
    body: AsyncIterable<Uint8Array>,
    { type, announced, condition, accept }: {
      type: string;
      announced?: number | undefined;
      condition: WriteCondition;
      accept: (received: Received) => void | Promise<void>;
    },
  ): Promise<FileRecord | "refused"> {
    const begun = await this.#projects.requireWritable(place);
    using room = await this.#quotas.reserve(begun, place, keys.file(place), announced);
    using memory = await reserveUpload(this.#memory.uploads, place, announced);
    let received: Received | undefined;
    try {
      received = await receive(this.#db, place, room.track(body), { announced, memory });
      await accept(received);
      room.release();
      const record = await this.#publishReceived(place, received, { type, condition, begun });
      if (record === "refused") await abandon(received);
      return record;
    } catch (error) {
      this.#discarded.add(announced ?? 0);
      await cleanUpAfter(error, async () => received && await abandon(received));
      throw error;
    } finally {
      if (received !== undefined) release(received);
    }
  }

  async #publishReceived(
    place: Place,
    { size, sha256, bytes }: Received,
    { type, condition, begun }: { type: string; condition: WriteCondition; begun: CachedProject },
  ): Promise<FileRecord | "refused"> {
    const inline = bytes.kind === "inline";
    const layout: Layout = inline
      ? { kind: bytes.kind }
      : { kind: bytes.kind, version: bytes.version, checksums: true };
    const draft = { size, sha256, type, layout };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const published = await this.publish(place, draft, { condition, begun }, (op) => {
        if (inline) op.set(keys.content(place), bytes.content);
        else bytes.lease.settle(op);
      });
      if (published !== "stale") return published;
      // A file that came and went again meanwhile looks as if nothing had changed.
      if (!inline && !await bytes.lease.holds()) break;
    }
    throw new StoreUnavailable(
      "The bytes were given up meanwhile, or too many others write the file",
    );
  }

  /**
   * Makes a draft the file of that name: its record, the usage counters and what becomes of the earlier bytes change in
   * one atomic operation.
   *
   * @param begun The project as it was when the write began.
   * @param charged Bytes of the draft that count against the quota already, as parts of an open upload.
   * @param alongside Adds what has to happen in the same operation.
   * @throws {NoSuchProject}
   * @throws {BeingRemoved} if the drive is.
   * @throws {QuotaExceeded} if the project would have too many bytes.
   */
  async publish(
    place: Place,
    draft: Draft,
    { condition, begun, charged = 0 }: {
      condition: WriteCondition;
      begun: CachedProject;
      charged?: number;
    },
    alongside: (operation: Operation, version: string) => void,
  ): Promise<Published> {
    return await this.#locks.run(lockOf(place), async () => {
      let project = begun;
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        if (tries > 0) project = await this.#projects.requireWritable(place, begun);
        const guesses = tries === 0 && this.#newNames.areLikely && condition(undefined);
        const current = guesses ? absent(place) : await this.#read(place);
        if (!condition(current.value === null ? undefined : validators(current.value))) {
          return "refused";
        }
        const record = newRecord(draft, current.value, this.#goneNow.has(lockOf(place)));
        const operation = new Operation().share(project.unchanged)
          .check(current.key, current.versionstamp)
          .set(current.key, record);
        const more = countUsage(operation, place, current.value, record);
        if (current.value !== null) discardContent(operation, place, current.value, record.layout);
        alongside(operation, record.version);
        const growth = { more: more - charged, moves: charged !== 0 };
        const { ok } = await this.#quotas.commit(project, place, operation, growth);
        this.#newNames.note(!ok || current.value !== null);
        if (ok) return record;
        if (!guesses && await this.#isAsRead(current, project)) return "stale";
      }
      throw new StoreUnavailable("Too many others write the same file");
    });
  }

  async #read(place: Place): Promise<Current> {
    const [current] = await this.#db.reads.get<[FileRecord]>([keys.file(place)]);
    return current;
  }

  /** Whether neither the file nor its project is why an operation failed. */
  async #isAsRead(file: Current, { unchanged }: CachedProject): Promise<boolean> {
    const [now, owner] = await this.#db.reads.get<[FileRecord, ProjectRecord]>([
      file.key,
      unchanged.key,
    ]);
    const hasProject = owner.versionstamp === unchanged.versionstamp;
    if (!hasProject) this.#projects.forget(String(unchanged.key.at(-1)));
    return hasProject && now.versionstamp === file.versionstamp;
  }

  /** Removes a file; gives whether there was one. */
  async delete(place: Place): Promise<boolean> {
    return await this.#locks.run(lockOf(place), async () => {
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        const project = await this.#projects.find(place.project);
        if (project === undefined || project.deleting.includes(place.drive)) return false;
        const current = await this.#read(place);
        if (current.value === null) return false;
        // As it is known here: it may have a quota by now, of which a part would be free again.
        const operation = new Operation().share(project.unchanged)
          .check(current.key, current.versionstamp)
          .delete(current.key);
        const more = countUsage(operation, place, current.value, null);
        discardContent(operation, place, current.value, undefined);
        if ((await this.#quotas.commit(project, place, operation, { more })).ok) {
          this.#goneNow.add(lockOf(place));
          return true;
        }
        await this.#isAsRead(current, project);
      }
      throw new StoreUnavailable("Too many others write the same file");
    });
  }

  /** The state of a file; `undefined` if there is none. */
  async stat(place: Place): Promise<FileRecord | undefined> {
    if (await this.#projects.isHidden(place)) return undefined;
    return (await this.#db.reader.get<FileRecord>(keys.file(place))).value ?? undefined;
  }

  /**
   * Opens the version that is there now; `undefined` if there is none. Record and content are one read.
   *
   * @throws {StoreDamaged} if the content is not what the record says.
   */
  async open(place: Place): Promise<OpenFile | undefined> {
    if (await this.#projects.isHidden(place)) return undefined;
    const found = await this.#hot.get(lockOf(place), () => this.#find(place));
    return found === undefined ? undefined : this.#opened(place, found);
  }

  async #find(place: Place): Promise<FoundFile | undefined> {
    const [file, content] = await this.#db.reads.get<[FileRecord, Uint8Array<ArrayBuffer>]>([
      keys.file(place),
      keys.content(place),
    ]);
    const record = file.value;
    if (record === null) return undefined;
    const inline = record.layout.kind === "inline";
    if (!inline) return { record, content: undefined };
    const problem = contentProblem(record, content.value);
    if (problem === undefined && content.value !== null) return { record, content: content.value };
    const error = new StoreDamaged(fileText(place), problem ?? "");
    this.#noteDamage(place, record.version, error);
    throw error;
  }

  #opened(place: Place, { record, content }: FoundFile): OpenFile {
    const letGo = this.#readers.hold(record.version);
    let ahead: ReadAhead | undefined;
    let isClosed = false;
    const close = () => {
      isClosed = true;
      letGo();
      ahead?.[Symbol.dispose]();
    };
    const read = async (range: ByteRange) => {
      ahead = await this.#aheads.open(place.project);
      // It may have been closed while memory was waited for.
      if (isClosed) close();
      const onDamage = (error: StoreDamaged) => this.#noteDamage(place, record.version, error);
      const source = { kv: this.#db.reader, ahead, onDamage };
      return readRange(source, place, record, content, range);
    };
    return { record, content, read, close, [Symbol.dispose]: close };
  }

  #noteDamage(place: Place, version: string, error: StoreDamaged): void {
    this.#db.meter.damageRead();
    this.#onDamage(place, version, error);
  }
}

function absent(place: Place): Current {
  return { key: keys.file(place), value: null, versionstamp: null };
}

function lockOf({ project, drive, name }: Place): string {
  return JSON.stringify([project, drive, name]);
}
