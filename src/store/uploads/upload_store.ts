import { boundaryAfter } from "../../rules/names.ts";
import { MAX_PARTS } from "../../rules/payloads.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded, StoreUnavailable } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import type { MemoryPart } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import type { FileRecord, PartRecord, Place, UploadSession } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { WriteCondition } from "../files/file_record.ts";
import type { FileStore } from "../files/file_store.ts";
import { setManifest, totalSize } from "../bytes/manifest.ts";
import type { Accept, BodyReceiver, DiscardedBytes, Received } from "../bytes/receive.ts";
import { newVersion } from "../bytes/versions.ts";
import type { Quotas, Reservation } from "../quotas/quotas.ts";
import { addUsage } from "../quotas/usage.ts";
import {
  chooseAll,
  type ChooseParts,
  discardPart,
  draftOf,
  holdParts,
  listParts,
  type PartTags,
  splitParts,
  type StoredPart,
} from "./parts.ts";
import {
  completeSession,
  type EndUpload,
  expire,
  findOpenSession,
  findSession,
  isExpired,
  keepExpired,
  newSession,
  noSuchUpload,
  type PartsRevision,
  receivedBytes,
  startOf,
  type StoredSession,
} from "./session.ts";

export interface ListedUpload {
  id: string;
  /** Without what the file's senders keep with it, which can have kilobytes. */
  session: Omit<UploadSession, "object">;
}

/** What the call that starts an upload says about its file. */
export type FileAttributes = Pick<UploadSession, "mtime" | "lifetime" | "object" | "checksum">;

export interface CompletedUpload {
  /** The deadline that its file got, in milliseconds since 1970. */
  expires?: number;
  /** The file's record; absent if the upload was completed before and the file has another version by now. */
  record?: FileRecord;
}

export interface CompleteOptions {
  /** Called right before the file becomes visible. If it throws, the upload stays open. */
  accept?: () => Promise<void>;
  /** Chooses the parts: all of them, without a gap, unless given. The bytes of the others are deleted. */
  choose?: ChooseParts;
}

/** The part that a call sends. */
interface SentPart {
  id: string;
  part: number;
  /** The content type that the part came with. */
  type: string | undefined;
}

/** Uploads in parts: their sessions, their parts, and the files that they become. */
export class UploadStore {
  /**
   * @param memory For the parts of uploads that are completed.
   * @param ttl How long a session is open, in milliseconds.
   * @param onUndigested Called when a file was made whose digest must be computed.
   */
  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly quotas: Quotas,
    private readonly files: FileStore,
    private readonly deps: {
      end: EndUpload;
      bodies: BodyReceiver;
      memory: MemoryPart;
      discarded: DiscardedBytes;
      ttl: number;
      onUndigested: () => void;
    },
  ) {}

  /**
   * Starts an upload and creates the drive if there is none with this name. Returns the upload's id.
   *
   * @param type The content type of the file; `undefined` for that of its first part.
   * @param attributes Further properties that the file will have.
   * @param ttl How long the session is open, in milliseconds: as configured unless given.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {TooManyOpenUploads} if the project has as many open as it may.
   */
  async start(
    place: Place,
    type: string | undefined,
    { ttl = this.deps.ttl, ...attributes }: FileAttributes & { ttl?: number } = {},
  ): Promise<string> {
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const project = await this.projects.requireWritable(place);
      const id = newVersion();
      const session = newSession(place, ttl, { type, ...attributes });
      const operation = startOf(place, id, session).share(project.unchanged);
      if ((await this.quotas.commit(project, place, operation)).ok) return id;
      this.projects.forget(place.project);
    }
    throw new StoreUnavailable("The upload could not be started: its project kept changing");
  }

  /**
   * Stores a part, which replaces an earlier one with its number.
   *
   * @param body At most `maxSize` bytes. If it throws, nothing is changed.
   * @param announced The size of the body in bytes, if known.
   * @param maxSize Bytes that the body has at most: `MAX_PAYLOAD` unless given.
   * @param accept Called with the digest before the part counts. If it throws, nothing is changed. It may return what S3
   *   callers compare the part with.
   * @throws {QuotaExceeded} if the project has no room for it, before the body is read or after: parts count as they arrive.
   * @throws {UploadRefused} if there is no such open upload, before the body is read or after.
   * @throws {MemoryExhausted} before the body is read.
   * @throws {NoSuchProject} if the project, or {BeingDeleted} if the drive is deleted, before the body is read or after.
   */
  async putPart(
    place: Place,
    { announced, maxSize, ...sent }: SentPart & {
      announced?: number | undefined;
      maxSize?: number | undefined;
    },
    body: AsyncIterable<Uint8Array>,
    accept: Accept<PartTags>,
  ): Promise<void> {
    const begun = await this.projects.requireWritable(place);
    await findOpenSession(this.db, place, sent.id);
    const key = keys.part(place.project, place.drive, sent.id, sent.part);
    const write = { begun, replaced: key, announced, maxSize, inlines: false, accept };
    await this.deps.bodies.receive(
      place,
      write,
      body,
      (received, tags, room) => this.#addPart(place, { ...sent, tags }, { begun, room }, received),
    );
  }

  async #addPart(
    place: Place,
    { id, part, type, tags }: SentPart & { tags: PartTags | undefined },
    { begun, room }: { begun: CachedProject; room: Reservation | undefined },
    { size, sha256, bytes }: Received,
  ): Promise<void> {
    const key = keys.part(place.project, place.drive, id, part);
    const revision = keys.partsRevision(place.project, place.drive, id);
    if (bytes.kind === "inline") throw new TypeError("The bytes of parts are never inline");
    const { version, lease } = bytes;
    const record: PartRecord = {
      version,
      size,
      sha256,
      ...(type === undefined ? {} : { type }),
      ...tags,
      modified: Date.now(),
    };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      // The project is checked first: if it was deleted, the error must name the project and not the upload.
      const project = await this.projects.requireWritable(place, begun);
      const open = await findOpenSession(this.db, place, id);
      const [earlier] = await this.db.reads.get<[PartRecord]>([key]);
      const more = size - (earlier.value?.size ?? 0);
      const operation = new Operation().share(project.unchanged)
        .unchanged(open)
        .check(key, earlier.versionstamp)
        .set(key, record)
        .sum(revision, more);
      addUsage(operation, place, "open_bytes", more);
      if (earlier.value !== null) discardPart(operation, place, earlier.value);
      lease.settle(operation);
      if ((await this.quotas.commit(project, place, operation, room)).ok) {
        return this.deps.discarded.add(earlier.value?.size ?? 0);
      }
      this.projects.forget(place.project);
      if (!await lease.holds()) break;
    }
    throw new StoreUnavailable("The part could not be added: too many others, or too slow");
  }

  /**
   * Makes the parts a file, at a cost that depends on their number and not on their size. Completing an upload again
   * changes nothing.
   *
   * @returns `refused` if the condition does not hold.
   * @throws {UploadRefused} if there is no such upload, or its parts do not make a file; it stays open then.
   * @throws {QuotaExceeded} if the project would have too many files or bytes; the upload stays open.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async complete(
    place: Place,
    id: string,
    condition: WriteCondition,
    { accept = async () => {}, choose = chooseAll }: CompleteOptions = {},
  ): Promise<CompletedUpload | "refused"> {
    const begun = await this.projects.requireWritable(place);
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      if (tries > 0) await this.projects.requireWritable(place, begun);
      const open = await findSession(this.db, place, id);
      if (open.completed) return await this.#answerAgain(place, open.session);
      // A part that arrives later changes the revision, so the parts that are read next are complete or the check fails.
      const revision = await this.#revisionOf(place, id);
      using all = await holdParts(this.db, this.deps.memory, place, id);
      const { parts: chosen, ...tags } = choose(all.parts, open.session);
      const { used: parts, unused } = splitParts(all.parts, chosen);
      await accept();
      const draft = draftOf(place, open.session, parts, tags);
      const { lifetime } = open.session;
      const write = { condition, begun, lifetime };
      const published = await this.files.publish(
        place,
        draft,
        write,
        (operation, version, expires) => {
          completeSession(operation, place, id, {
            open,
            revision,
            file: { version, expires },
            unused: unused.map(({ part }) => part),
          });
          if (draft.layout.kind === "manifest") setManifest(operation, version, parts);
          if (draft.layout.kind === "inline") {
            operation.set(keys.content(version), new Uint8Array());
          }
          if (draft.sha256 === undefined) {
            operation.set(keys.undigested(place), version);
          }
        },
      ).catch(explainUploadStaysOpen);
      if (published === "stale") continue;
      if (published !== "refused") {
        if (published.sha256 === undefined) this.deps.onUndigested();
        this.deps.discarded.add(totalSize(unused));
        return { ...expiryOf(published.expires), record: published };
      }
      // The present file may come from this upload, completed by a concurrent call.
      const { completed, session } = await findSession(this.db, place, id);
      return completed ? await this.#answerAgain(place, session) : "refused";
    }
    throw new StoreUnavailable("The upload could not be completed: its parts kept changing");
  }

  async #answerAgain(
    place: Place,
    { fileVersion, fileExpires }: UploadSession,
  ): Promise<CompletedUpload> {
    const record = await this.files.reader.stat(place);
    const isSame = record !== undefined && record.version === fileVersion;
    return { ...expiryOf(fileExpires), ...(isSame ? { record } : {}) };
  }

  /** Ends an upload without a file. Its bytes are deleted in the background. */
  async abort(place: Place, id: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      // It expires first, so that no part can arrive while the counters change.
      const { operation, deadline, value } = expire(await this.#findVisible(place, id));
      const outcome = await this.db.commit(operation);
      if (!outcome.ok) continue;
      const bytes = receivedBytes(await this.#revisionOf(place, id));
      await this.deps.end({ key: deadline, value, versionstamp: outcome.versionstamp });
      return this.deps.discarded.add(bytes);
    }
    throw new StoreUnavailable("The upload could not be aborted: others kept changing it");
  }

  /** Returns an open upload. @throws {UploadRefused} if there is none. */
  async session(place: Place, id: string): Promise<UploadSession> {
    return (await this.#findVisible(place, id)).session;
  }

  /**
   * Returns an open upload and its parts in ascending order.
   *
   * @param page The number behind which they begin, and how many they are at most: all of them unless given.
   */
  async get(
    place: Place,
    id: string,
    page: { after: number; limit: number } = { after: 0, limit: MAX_PARTS },
  ): Promise<{ session: UploadSession; parts: StoredPart[] }> {
    const { session } = await this.#findVisible(place, id);
    return { session, parts: await listParts(this.db, place, id, page) };
  }

  /**
   * Returns the open uploads of a drive, the oldest first.
   *
   * @param last The id behind which the list begins; empty for all.
   */
  async list(
    project: string,
    drive: string,
    { limit, last, prefix = "" }: { limit: number; last: string; prefix?: string },
  ): Promise<{ uploads: ListedUpload[]; more: boolean }> {
    if (await this.projects.isHidden({ project, drive })) return { uploads: [], more: false };
    const uploads: ListedUpload[] = [];
    const range = ranges.uploads(project, drive, boundaryAfter(last));
    for await (const { key, value, versionstamp } of this.db.reader.list<UploadSession>(range)) {
      if (isExpired(value)) {
        await keepExpired(this.db, { key, versionstamp, session: value, completed: false });
        continue;
      }
      const { object: _, ...session } = value;
      if (!session.name.startsWith(prefix)) continue;
      if (uploads.length === limit) return { uploads, more: true };
      uploads.push({ id: String(key.at(-1)), session });
    }
    return { uploads, more: false };
  }

  async #findVisible(place: Place, id: string): Promise<StoredSession> {
    if (await this.projects.isHidden(place)) throw noSuchUpload(id);
    return await findOpenSession(this.db, place, id);
  }

  async #revisionOf({ project, drive }: Place, id: string): Promise<PartsRevision> {
    return await this.db.reader.get<Deno.KvU64>(keys.partsRevision(project, drive, id));
  }
}

function expiryOf(expires: number | undefined): Pick<CompletedUpload, "expires"> {
  return expires === undefined ? {} : { expires };
}

function explainUploadStaysOpen(error: unknown): never {
  if (!(error instanceof QuotaExceeded)) throw error;
  throw new QuotaExceeded(error.numbers, "the upload stays open, so complete it again then");
}
