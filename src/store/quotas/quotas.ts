import type { Outcome } from "../engine/commits.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { CachedProject } from "../engine/project_cache.ts";
import { CHUNK_SIZE, type Place, type ProjectRecord, type QuotaRecord } from "../engine/records.ts";
import { setBounded } from "../engine/ttl_cache.ts";
import { fitsQuota, type QuotaAccount, quotaAccountOf } from "./quota_account.ts";
import { QuotaQueue } from "./quota_queue.ts";

/** Projects whose last known accounts are remembered: about 500 KB. */
const REMEMBERED_ACCOUNTS = 1000;

/** A change of the bytes that count against a quota. */
export interface Growth {
  /** By how many bytes the project grows; negative if it shrinks. */
  more: number;
  /** Whether counters of bytes change although their sum does not: the bytes of parts become those of a file. */
  moves?: boolean;
}

/** Room in a quota for the bytes of one upload while they are received. Disposing of it releases the room. */
export interface QuotaReservation extends Disposable {
  /**
   * Returns the bytes of a body as they come, and reserves room for those that were not announced.
   *
   * @throws {QuotaExceeded} while it is read, when there is no room.
   */
  track(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Releases the room. To be called right before the bytes are committed, as the commit counts them. */
  release(): void;
}

/** The reservation of an upload that needs no room: in a project without a quota, or of at most one chunk. */
const NO_RESERVATION: QuotaReservation = {
  track: (body) => body,
  release: () => {},
  [Symbol.dispose]: () => {},
};

/**
 * Keeps projects within their quotas. The check is part of every operation that changes how many bytes a project has, so
 * it is exact across processes. Projects without a quota pay nothing.
 */
export class Quotas {
  readonly #db: Database;
  readonly #queues = new Map<string, QuotaQueue>();
  /** Accounts of projects without a queue when they were last read. Other processes may have changed them. */
  readonly #seen = new Map<string, QuotaAccount>();
  /** Bytes that running uploads of this process will add. */
  readonly #reserved = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Commits an operation that changes the bytes of a project and checks `unchanged`.
   *
   * @throws {QuotaExceeded} if the project would have too many bytes, and all checks of the operation hold.
   */
  async commit(
    { maxBytes, unchanged }: CachedProject,
    { project }: Pick<Place, "project">,
    operation: Operation,
    { more, moves = false }: Growth,
  ): Promise<Outcome> {
    // A change of any counter must write the entry with the sum: counting the bytes relies on that.
    const counts = more !== 0 || moves;
    if (maxBytes === undefined || !counts) return await this.#db.commit(operation);
    return await this.#queueOf(project).commit({ operation, more, unchanged });
  }

  /**
   * Reserves room for the bytes of a file or a part before they are read. The commit may still be refused, as other
   * processes write, too. But the uploads of this process never fill the disk with bytes that cannot be committed.
   *
   * @param replaced The key of the file or part that is replaced, whose size becomes free.
   * @param announced The size in bytes, if known.
   * @throws {QuotaExceeded} if an announced size does not fit.
   */
  async reserve(
    { maxBytes }: CachedProject,
    { project }: Pick<Place, "project">,
    replaced: Deno.KvKey,
    announced: number | undefined,
  ): Promise<QuotaReservation> {
    if (maxBytes === undefined) return NO_RESERVATION;
    const reservation = new GrowingReservation({
      limit: maxBytes,
      seen: () => this.#queues.get(project)?.used ?? this.#seen.get(project)?.used,
      read: async () => await this.#read(project, replaced),
      reserved: () => this.#reserved.get(project) ?? 0,
      addReserved: (bytes) => this.#addReserved(project, bytes),
    });
    if (announced !== undefined) await reservation.growTo(announced);
    return announced !== undefined && announced <= CHUNK_SIZE ? NO_RESERVATION : reservation;
  }

  async #read(
    project: string,
    replaced: Deno.KvKey,
  ): Promise<{ used: number; limit: number; replaced: number } | undefined> {
    const [owner, entry, before] = await this.#db.reads.get<
      [ProjectRecord, QuotaRecord, { size: number }]
    >([keys.project(project), keys.quota(project), replaced]);
    const account = await quotaAccountOf(this.#db, owner, entry);
    if (account === undefined) return undefined;
    const { used, limit } = account;
    setBounded(this.#seen, REMEMBERED_ACCOUNTS, project, account);
    // A file that goes to the trash frees nothing.
    const isKept = replaced[0] === "file" && owner.value?.trashDays !== undefined;
    return { used, limit, replaced: isKept ? 0 : before.value?.size ?? 0 };
  }

  #addReserved(project: string, bytes: number): void {
    const sum = (this.#reserved.get(project) ?? 0) + bytes;
    if (sum === 0) this.#reserved.delete(project);
    else this.#reserved.set(project, sum);
  }

  #queueOf(project: string): QuotaQueue {
    const running = this.#queues.get(project);
    if (running !== undefined) return running;
    const queue = new QuotaQueue(this.#db, project, this.#seen.get(project), (account) => {
      this.#queues.delete(project);
      if (account !== undefined) setBounded(this.#seen, REMEMBERED_ACCOUNTS, project, account);
    });
    this.#queues.set(project, queue);
    return queue;
  }
}

/** The account in which an upload reserves room. All numbers are bytes. */
interface ReservationAccount {
  limit: number;
  /** Returns the project's bytes when they were last read; `undefined` if that is not known. It costs no read. */
  seen(): number | undefined;
  /** Reads the project's bytes and the size of what the upload replaces. Returns `undefined` if there is no quota now. */
  read(): Promise<{ used: number; limit: number; replaced: number } | undefined>;
  /** Returns what all running uploads of this process have reserved together. */
  reserved(): number;
  /** Changes that sum. */
  addReserved(bytes: number): void;
}

/** The reservation of one upload. Up to one chunk stays in memory until it is committed, and needs no room. */
class GrowingReservation implements QuotaReservation {
  readonly #account: ReservationAccount;
  /** What this upload has reserved. */
  #own = 0;
  /** The size of what it replaces, once that was read. */
  #replaced: number | undefined;

  constructor(account: ReservationAccount) {
    this.#account = account;
  }

  /** Makes room for an upload of this size in all. @throws {QuotaExceeded} if it does not fit. */
  async growTo(size: number): Promise<void> {
    if (!this.#isSureToFit(size)) {
      const account = await this.#account.read();
      if (account === undefined) return;
      // From here to `#setOwn` nothing is awaited, so no other upload can reserve the same room.
      const { limit, replaced } = account;
      const used = account.used + this.#others();
      const more = size - replaced;
      if (!fitsQuota({ used, limit }, more)) {
        // Released at once, so that of many uploads that grow at the same time as many as possible succeed.
        this.release();
        throw new QuotaExceeded({ used, limit, more });
      }
      this.#replaced = replaced;
    }
    if (size > CHUNK_SIZE) this.#setOwn(Math.max(this.#own, size - (this.#replaced ?? 0)));
  }

  async *track(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of body) {
      size += piece.byteLength;
      if (size > CHUNK_SIZE) await this.growTo(size);
      yield piece;
    }
  }

  release(): void {
    this.#setOwn(0);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Returns whether the size fits by what is known without a read. */
  #isSureToFit(size: number): boolean {
    const seen = this.#account.seen();
    const isKnown = seen !== undefined && (size <= CHUNK_SIZE || this.#replaced !== undefined);
    return isKnown && seen + this.#others() + size - (this.#replaced ?? 0) <= this.#account.limit;
  }

  #others(): number {
    return this.#account.reserved() - this.#own;
  }

  #setOwn(bytes: number): void {
    this.#account.addReserved(bytes - this.#own);
    this.#own = bytes;
  }
}
