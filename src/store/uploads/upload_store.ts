import { boundaryAfter } from "../../rules/names.ts";
import { type PartSize, partsProblem } from "../../rules/payloads.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded, StoreUnavailable, UploadRefused } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import type { MemoryPart } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import type { PartRecord, Place, UploadSession } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";

import type { FileStore, WriteCondition } from "../files/file_store.ts";
import { isDigested } from "../files/garbage.ts";
import { setManifest } from "../files/manifest.ts";
import {
  abandon,
  cleanUpAfter,
  type DiscardedBytes,
  receive,
  type Received,
  release,
  reserveUpload,
} from "../files/receive.ts";
import { newVersion } from "../files/versions.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { type OpenUploadLimit, takeSlot } from "./open_upload_limit.ts";
import { draftOf, type NumberedPart, replacePart, setOnlyChunk } from "./parts.ts";
import {
  absent,
  completeSession,
  endExpired,
  type EndUpload,
  expire,
  findOpenSession,
  findSession,
  isOver,
  type PartsRevision,
  receivedBytes,
  type StoredSession,
} from "./session.ts";

export interface ListedUpload {
  id: string;
  session: UploadSession;
}

/** Uploads in parts: their sessions, their parts, and how a file comes of them. */
export class UploadStore {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #quotas: Quotas;
  readonly #files: FileStore;
  readonly #memory: MemoryPart;
  readonly #open: OpenUploadLimit;
  readonly #end: EndUpload;
  readonly #discarded: DiscardedBytes;
  readonly #ttl: number;
  readonly #onUndigested: () => void;

  /**
   * @param memory For bodies that come in.
   * @param ttl How long a session lives, in milliseconds.
   * @param onUndigested Called when a file was made whose digest has to be computed.
   */
  constructor(
    db: Database,
    projects: ProjectCache,
    quotas: Quotas,
    files: FileStore,
    { open, end, discarded, memory, ttl, onUndigested = () => {} }: {
      open: OpenUploadLimit;
      end: EndUpload;
      discarded: DiscardedBytes;
      memory: MemoryPart;
      ttl: number;
      onUndigested?: () => void;
    },
  ) {
    this.#onUndigested = onUndigested;
    this.#db = db;
    this.#projects = projects;
    this.#quotas = quotas;
    this.#files = files;
    this.#memory = memory;
    this.#open = open;
    this.#end = end;
    this.#discarded = discarded;
    this.#ttl = ttl;
  }

  /**
   * Opens a session, which makes the drive exist; gives its id.
   *
   * @throws {NoSuchProject}
   * @throws {BeingRemoved} if the drive is.
   * @throws {TooManyOpenUploads} if the project has as many as it may.
   */
  async start(place: Place, type: string | undefined): Promise<string> {
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const { unchanged } = await this.#projects.requireWritable(place);
      const id = newVersion();
      const number = await this.#open.findSlot(place.project);
      const operation = this.#newSession(place, id, { type, number }).share(unchanged);
      takeSlot(operation, place, id, number);
      if ((await this.#db.commit(operation)).ok) return id;
      this.#open.forget(place.project);
      this.#projects.forget(place.project);
    }
    throw new StoreUnavailable("The upload could not be started: its project kept changing");
  }

  /** The session entry has no expiry of its own: what ends it has to know what it counts for. */
  #newSession(
    { project, drive, name }: Place,
    id: string,
    { type, number }: { type: string | undefined; number: number },
  ): Operation {
    const created = Date.now();
    const session: UploadSession = {
      name,
      ...(type === undefined ? {} : { type }),
      created,
      expires: created + this.#ttl,
      number,
    };
    return new Operation()
      .set(keys.upload(project, drive, id), session)
      .set(keys.garbage(session.expires, id), { kind: "upload", project, drive, name, id })
      .sum(keys.usage(project, drive, "files"), 0);
  }

  /**
   * Stores a part, in place of an earlier one of that number.
   *
   * @param body At most `MAX_PAYLOAD` bytes. What it throws is thrown, and nothing has changed then.
   * @param announced The size of the body, where that is known before.
   * @param accept Called with the digest before the part counts; what it throws is thrown.
   * @throws {QuotaExceeded} if the project has no room for it, before the body is read or after: parts count as they arrive.
   * @throws {UploadRefused} if there is no such upload to add to, before the body is read or after.
   * @throws {MemoryExhausted} before the body is read.
   * @throws {NoSuchProject} if the project, or {BeingRemoved} if the drive is removed, before or after as well.
   */
  async putPart(
    place: Place,
    { id, part, type, announced }: {
      id: string;
      part: number;
      type: string | undefined;
      announced?: number | undefined;
    },
    body: AsyncIterable<Uint8Array>,
    accept: (received: Received) => void | Promise<void>,
  ): Promise<void> {
    const begun = await this.#projects.requireWritable(place);
    await findOpenSession(this.#db, place, id);
    const key = keys.part(place.project, place.drive, id, part);
    using room = await this.#quotas.reserve(begun, place, key, announced);
    using memory = await reserveUpload(this.#memory, place, announced);
    let received: Received | undefined;
    try {
      received = await receive(this.#db, place, room.track(body), { announced, memory });
      await accept(received);
      room.release();
      await this.#addPart(place, { id, part, type, begun }, received);
    } catch (error) {
      this.#discarded.add(announced ?? 0);
      await cleanUpAfter(error, async () => received && await abandon(received));
      throw error;
    } finally {
      if (received !== undefined) release(received);
    }
  }

  async #addPart(
    place: Place,
    { id, part, type, begun }: {
      id: string;
      part: number;
      type: string | undefined;
      begun: CachedProject;
    },
    { size, sha256, bytes }: Received,
  ): Promise<void> {
    const key = keys.part(place.project, place.drive, id, part);
    const revision = keys.partsRevision(place.project, place.drive, id);
    const version = bytes.kind === "inline" ? newVersion() : bytes.version;
    const record: PartRecord = {
      version,
      size,
      sha256,
      checksums: true,
      ...(type === undefined ? {} : { type }),
    };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      // Asked first: where the project is gone, that is told, and not that the session is.
      const known = await this.#projects.requireWritable(place, begun);
      const open = await findOpenSession(this.#db, place, id);
      const [earlier] = await this.#db.reads.get<[PartRecord]>([key]);
      const more = size - (earlier.value?.size ?? 0);
      const operation = new Operation().share(known.unchanged)
        .check(open.key, open.versionstamp)
        .check(key, earlier.versionstamp)
        .set(key, record)
        .sum(revision, more);
      if (more !== 0) operation.sum(keys.usage(place.project, place.drive, "open_bytes"), more);
      if (earlier.value !== null) replacePart(operation, place, earlier.value);
      if (bytes.kind === "chunks") bytes.lease.settle(operation);
      else if (size > 0) setOnlyChunk(operation, place, version, bytes.content, sha256);
      if ((await this.#quotas.commit(known, place, operation, { more })).ok) {
        return this.#discarded.add(earlier.value?.size ?? 0);
      }
      this.#projects.forget(place.project);
      if (bytes.kind === "chunks" && !await bytes.lease.holds()) break;
    }
    throw new StoreUnavailable("The part could not be added: too many others, or too slow");
  }

  async #revisionOf({ project, drive }: Place, id: string): Promise<PartsRevision> {
    return await this.#db.reader.get<Deno.KvU64>(keys.partsRevision(project, drive, id));
  }

  /**
   * Makes the parts a file. It costs as much as there are parts, whatever their size. Done again after it succeeded, it
   * changes nothing.
   *
   * @param accept Called right before the file gets visible; what it throws is thrown, and the upload stays open.
   * @throws {UploadRefused} if there is no such upload, or its parts don't make a file; it stays open then.
   * @throws {QuotaExceeded} if the project would have too many bytes; it stays open then as well.
   * @throws {NoSuchProject}
   * @throws {BeingRemoved} if the drive is.
   */
  async complete(
    place: Place,
    id: string,
    condition: WriteCondition,
    accept: () => Promise<void> = async () => {},
  ): Promise<"done" | "refused"> {
    const begun = await this.#projects.requireWritable(place);
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      if (tries > 0) await this.#projects.requireWritable(place, begun);
      const open = await findSession(this.#db, place, id);
      if (open.completed) return "done";
      // Every part that arrives changes it, so the parts that are read next are all there are, or the check fails.
      const revision = await this.#revisionOf(place, id);
      const parts = await this.#parts(place, id);
      const problem = partsProblem(parts);
      if (problem !== undefined) throw new UploadRefused("parts", problem);
      await accept();
      const draft = draftOf(place, open.session, parts);
      const judged = { condition, begun, charged: receivedBytes(revision) };
      const published = await this.#files.publish(place, draft, judged, (operation, version) => {
        completeSession(operation, place, id, open, revision);
        if (draft.layout.kind === "manifest") setManifest(operation, place, version, parts);
        if (draft.layout.kind === "inline") operation.set(keys.content(place), new Uint8Array());
        if (!isDigested(draft)) operation.set(keys.undigested(place), version);
      }).catch(explainUploadStaysOpen);
      if (published === "stale") continue;
      if (published !== "refused") {
        if (!isDigested(published)) this.#onUndigested();
        return "done";
      }
      // The file that is in the way may be that of the same upload, completed by another call at the same time.
      return (await findSession(this.#db, place, id)).completed ? "done" : "refused";
    }
    throw new StoreUnavailable("The upload could not be completed: its parts kept changing");
  }

  /** Ends an upload without a file. Its bytes are removed in the background. */
  async abort(place: Place, id: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      // Its time is over from now on. So no part gets in the way of giving back what it counts for.
      const { operation, deadline, value } = expire(await this.#findShown(place, id));
      const outcome = await this.#db.commit(operation);
      if (!outcome.ok) continue;
      const bytes = receivedBytes(await this.#revisionOf(place, id));
      await this.#end({ key: deadline, value, versionstamp: outcome.versionstamp });
      return this.#discarded.add(bytes);
    }
    throw new StoreUnavailable("The upload could not be aborted: others kept changing it");
  }

  /** An open upload with the parts that it has, in ascending order. */
  async get(place: Place, id: string): Promise<{ session: UploadSession; parts: PartSize[] }> {
    const { session } = await this.#findShown(place, id);
    return { session, parts: await this.#parts(place, id) };
  }

  async #findShown(place: Place, id: string): Promise<StoredSession> {
    if (await this.#projects.isHidden(place)) throw absent(id);
    return await findOpenSession(this.#db, place, id);
  }

  /** The open uploads of a drive behind an id, the oldest first. */
  async list(
    project: string,
    drive: string,
    { limit, last }: { limit: number; last: string },
  ): Promise<{ uploads: ListedUpload[]; more: boolean }> {
    if (await this.#projects.isHidden({ project, drive })) return { uploads: [], more: false };
    const uploads: ListedUpload[] = [];
    const range = ranges.uploads(project, drive, boundaryAfter(last));
    for await (const { key, value, versionstamp } of this.#db.reader.list<UploadSession>(range)) {
      if (isOver(value)) {
        await endExpired(this.#db, { key, versionstamp, session: value, completed: false });
        continue;
      }
      if (uploads.length === limit) return { uploads, more: true };
      uploads.push({ id: String(key.at(-1)), session: value });
    }
    return { uploads, more: false };
  }

  async #parts({ project, drive }: Place, id: string): Promise<NumberedPart[]> {
    const parts: NumberedPart[] = [];
    const selector = { prefix: prefixes.parts(project, drive, id) };
    const entries = this.#db.reader.list<PartRecord>(selector, { batchSize: 1000 });
    for await (const { key, value } of entries) parts.push({ ...value, part: Number(key.at(-1)) });
    return parts;
  }
}

function explainUploadStaysOpen(error: unknown): never {
  if (!(error instanceof QuotaExceeded)) throw error;
  throw new QuotaExceeded(error.numbers, "the upload stays open, so complete it again then");
}
