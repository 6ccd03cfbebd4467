/**
 * Files: the commit path of a write. `FileReader` has the read path of a download.
 *
 * `put`: reserve quota and memory, receive the body (small ones in memory, large ones in chunks under a
 * fresh version), let the caller accept its digest, then `publish`. `publish` reads the current record, evaluates the
 * caller's condition, and commits one operation that checks the record and the project, sets the new record, adjusts
 * the counters and turns the previous bytes into garbage. If a concurrent commit wins, it starts over from the read.
 * Completing an upload ends in the same `publish`.
 *
 * @module
 */
import { KeyedMutex } from "../../rules/concurrency.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import {
  type FileRecord,
  type ObjectMetadata,
  type Place,
  placeId,
  type ProjectRecord,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas, Reservation } from "../quotas/quotas.ts";
import { Copies } from "./copies.ts";
import { setExpiry } from "./expiry.ts";
import {
  type Draft,
  type FileTags,
  newRecord,
  present,
  unguarded,
  validators,
  type WriteCondition,
  type WriteGuard,
} from "./file_record.ts";
import { abandon, type Accept, type BodyReceiver, type Received } from "../bytes/receive.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import type { Beside, FileReader } from "./file_reader.ts";
import { Thumbnails } from "./thumbnails.ts";
import { removeFile, setFile } from "./names.ts";
import { retire } from "./trash.ts";

/** `refused`: the condition is not met. `stale`: the commit failed although file and project have not changed. */
export type Published = FileRecord | "refused" | "stale";

/** How a body becomes a file: see `put`. */
export interface PutOptions {
  type: string;
  mtime?: number | undefined;
  lifetime?: number | undefined;
  object?: ObjectMetadata | undefined;
  keepsProperties?: boolean | undefined;
  announced?: number | undefined;
  maxSize?: number | undefined;
  condition: WriteCondition;
  beside?: Beside | undefined;
  accept: Accept<FileTags>;
}

type Current = Deno.KvEntryMaybe<FileRecord>;

/** What writing files needs. */
interface WriterDeps {
  reader: FileReader;
  projects: ProjectCache;
  quotas: Quotas;
  bodies: BodyReceiver;
}

/** Writes and deletes files of all drives. */
export class FileStore {
  /** Reads them. */
  readonly reader: FileReader;
  readonly copies: Copies;
  readonly thumbnails: Thumbnails;
  private readonly locks = new KeyedMutex();

  constructor(private readonly db: Database, private readonly deps: WriterDeps) {
    this.reader = deps.reader;
    this.copies = new Copies(db, deps);
    this.thumbnails = new Thumbnails(db, deps);
  }

  /**
   * Stores a file from one body. The name shows the previous version until all of the new one is on disk.
   *
   * @param body At most `maxSize` bytes. If it throws, nothing has changed and its error is thrown.
   * @param options.mtime When the caller's own copy was last modified, in milliseconds since 1970.
   * @param options.lifetime How long the file exists, in milliseconds; for ever unless given.
   * @param options.object What S3 callers keep with the file.
   * @param options.keepsProperties Whether the file keeps the properties of the one that it replaces.
   * @param options.announced Size of the body, if known.
   * @param options.maxSize Bytes that the body has at most: `MAX_PAYLOAD` unless given.
   * @param options.beside What else the file requires, right before it is published.
   * @param options.accept Called with the digest before the file is visible. If it throws, nothing has changed. It may
   *   return what S3 callers compare the file with.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted, before or after the body is read.
   * @throws {QuotaExceeded} before or after the body is read.
   * @throws {MemoryExhausted} before the body is read.
   */
  async put(
    place: Place,
    body: AsyncIterable<Uint8Array>,
    { announced, maxSize, accept, ...options }: PutOptions,
  ): Promise<FileRecord | "refused"> {
    const begun = await this.deps.projects.requireWritable(place);
    const replaced = keys.file(place);
    const write = { begun, replaced, announced, maxSize, inlines: true, accept };
    return await this.deps.bodies.receive(place, write, body, async (received, tags, room) => {
      const how = { ...options, tags, begun, room };
      const record = await this.#publishReceived(place, received, how);
      if (record === "refused") await abandon(received);
      return record;
    });
  }

  async #publishReceived(
    place: Place,
    { size, sha256, bytes }: Received,
    { type, mtime, object, tags, ...options }:
      & Pick<
        PutOptions,
        "type" | "mtime" | "lifetime" | "object" | "keepsProperties" | "condition" | "beside"
      >
      & { tags: FileTags | undefined; begun: CachedProject; room: Reservation | undefined },
  ): Promise<FileRecord | "refused"> {
    const isInline = bytes.kind === "inline";
    const draft: Draft = {
      size,
      sha256,
      type,
      ...(mtime === undefined ? {} : { mtime }),
      layout: { kind: bytes.kind },
      ...(isInline ? {} : { bytes: bytes.version }),
      ...tags,
      ...(object === undefined ? {} : { object }),
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
   * @param options.room What is reserved for the draft's bytes.
   * @param alongside Adds further changes to the operation.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {QuotaExceeded}
   */
  async publish(
    place: Place,
    draft: Draft,
    { condition, beside, keepsProperties, begun, lifetime, room }: {
      condition: WriteCondition;
      beside?: Beside | undefined;
      keepsProperties?: boolean | undefined;
      begun: CachedProject;
      lifetime?: number | undefined;
      room?: Reservation | undefined;
    },
    alongside: (operation: Operation, version: string, expires: number | undefined) => void,
  ): Promise<Published> {
    return await this.locks.run(placeId(place), async () => {
      let project = begun;
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        if (tries > 0) project = await this.deps.projects.requireWritable(place, begun);
        const { current, unchanged } = await this.reader.readForWrite(place, beside);
        const replaced = present(current.value);
        if (!condition(replaced && validators(replaced))) return "refused";
        const properties = keepsProperties ? replaced?.properties : undefined;
        const described = properties === undefined ? draft : { ...draft, properties };
        const record = newRecord(described, replaced ?? null, lifetime);
        const operation = new Operation().share(project.unchanged, ...unchanged)
          .unchanged(current);
        setFile(operation, project, place, current, record);
        if (current.value !== null) {
          retire(operation, project, place, current.value, "replaced");
        }
        setExpiry(operation, place, record);
        alongside(operation, record.version, record.expires);
        const { ok } = await this.deps.quotas.commit(project, place, operation, room);
        if (ok) return record;
        if (await this.#isUnchanged(current, project)) return "stale";
      }
      throw new StoreUnavailable("Too many concurrent writes of the same file");
    });
  }

  /**
   * Returns whether the file and its project are unchanged since they were read. Forgets a cached project that is not.
   */
  async #isUnchanged(file: Current, { unchanged }: CachedProject): Promise<boolean> {
    const [now, owner] = await this.db.reads.get<[FileRecord, ProjectRecord]>([
      file.key,
      unchanged.key,
    ]);
    const hasProject = owner.versionstamp === unchanged.versionstamp;
    if (!hasProject) this.deps.projects.forget(String(unchanged.key.at(-1)));
    return hasProject && now.versionstamp === file.versionstamp;
  }

  /** Deletes a file. Returns whether it existed, or "refused" if its version does not meet the condition. */
  async delete(
    place: Place,
    condition: WriteCondition = () => true,
    guard: WriteGuard = unguarded,
  ): Promise<boolean | "refused"> {
    return await this.locks.run(placeId(place), async () => {
      for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
        const project = await this.deps.projects.find(place.project);
        if (project === undefined || project.deleting.includes(place.drive)) return false;
        const current = await this.reader.readRecord(place);
        const record = present(current.value);
        if (record === undefined && !isUnreadable(current)) return false;
        if (!condition(record && validators(record))) return "refused";
        const operation = new Operation().share(project.unchanged, ...await guard())
          .unchanged(current);
        removeFile(operation, project, place, current);
        if (record !== undefined) retire(operation, project, place, record, "deleted");
        if ((await this.db.commit(operation)).ok) return true;
        await this.#isUnchanged(current, project);
      }
      throw new StoreUnavailable("Too many concurrent writes of the same file");
    });
  }
}
