import type { Outcome } from "../engine/commits.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { CachedProject } from "../engine/project_cache.ts";
import { CHUNK_SIZE, type Place, type ProjectRecord, type QuotaRecord } from "../engine/records.ts";
import { fitsQuota, quotaAccountOf } from "./quota_account.ts";
import { QuotaQueue } from "./quota_queue.ts";

/** Room for the bytes of one upload while they are received. Disposing of it gives the room back. */
interface QuotaReservation extends Disposable {
  /** The same bytes; those that were not announced need room as they come. @throws {QuotaExceeded} while they come. */
  track(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Gives the room back, right before the bytes are committed: from then on the commit counts them. */
  release(): void;
}

/** Room in a project without a quota. */
const NO_RESERVATION: QuotaReservation = {
  track: (body) => body,
  release: () => {},
  [Symbol.dispose]: () => {},
};

/** The account that an upload needs room in. All numbers are bytes. */
export interface ReservationAccount {
  limit: number;
  /** The project's bytes as they were last seen, which costs no read; `undefined` where they were not. */
  seen(): number | undefined;
  /** Reads what the project has, and the size of what the upload replaces; `undefined` where there is no quota any more. */
  read(): Promise<{ used: number; limit: number; replaced: number } | undefined>;
  /** What all running uploads of this process were promised together. */
  reserved(): number;
  /** Changes that sum. */
  addReserved(by: number): void;
}

/** Room in a project with a quota. Up to one chunk lies in memory until it is committed, so it is promised nothing. */
class GrowingReservation implements QuotaReservation {
  readonly #account: ReservationAccount;
  /** What the upload was promised. */
  #own = 0;
  /** The size of what it replaces, once that was read. */
  #replaced: number | undefined;

  constructor(account: ReservationAccount) {
    this.#account = account;
  }

  /** @throws {QuotaExceeded} where so many bytes don't fit. */
  async announce(size: number): Promise<void> {
    await this.#raise(size);
  }

  async *track(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of body) {
      size += piece.byteLength;
      if (size > CHUNK_SIZE) await this.#raise(size);
      yield piece;
    }
  }

  release(): void {
    this.#promise(0);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async #raise(size: number): Promise<void> {
    if (!this.#surelyFits(size)) {
      const account = await this.#account.read();
      if (account === undefined) return;
      // No other upload gets in between from here to the promise.
      const { limit, replaced } = account;
      const used = account.used + this.#others();
      const more = size - replaced;
      if (!fitsQuota({ used, limit }, more)) {
        // At once, so that of many that grow at the same time as many end well as can.
        this.release();
        throw new QuotaExceeded({ used, limit, more });
      }
      this.#replaced = replaced;
    }
    if (size > CHUNK_SIZE) this.#promise(Math.max(this.#own, size - (this.#replaced ?? 0)));
  }

  #surelyFits(size: number): boolean {
    const seen = this.#account.seen();
    const isKnown = seen !== undefined && (size <= CHUNK_SIZE || this.#replaced !== undefined);
    return isKnown && seen + this.#others() + size - (this.#replaced ?? 0) <= this.#account.limit;
  }

  #others(): number {
    return this.#account.reserved() - this.#own;
  }

  #promise(bytes: number): void {
    this.#account.addReserved(bytes - this.#own);
    this.#own = bytes;
  }
}

/** Projects whose last known sums are remembered: some 200 KB. */
const REMEMBERED_SUMS = 1000;

/** A change of what counts against a quota. */
export interface Growth {
  /** By how many bytes the project grows; negative where it becomes smaller. */
  more: number;
  /** Whether counters of bytes change although their sum stays: bytes of parts become those of a file. */
  moves?: boolean;
}

/**
 * Keeps projects within their quotas: exactly, with every operation that changes how many bytes a project has. Projects
 * without a quota don't notice.
 */
export class Quotas {
  readonly #db: Database;
  readonly #queues = new Map<string, QuotaQueue>();
  /** Bytes of projects as they were last seen. Other processes may have added to them. */
  readonly #seen = new Map<string, number>();
  /** Bytes that running uploads of this process will add. */
  readonly #promised = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Commits an operation that changes the bytes of a project, which it demands to be `unchanged`.
   *
   * @throws {QuotaExceeded} if the project would have too many bytes then. All that the operation demands was so.
   */
  async commit(
    { maxBytes, unchanged }: CachedProject,
    { project }: Pick<Place, "project">,
    operation: Operation,
    { more, moves = false }: Growth,
  ): Promise<Outcome> {
    // Counting the bytes anew relies on it that every change of a counter meets the entry with the sum.
    const counts = more !== 0 || moves;
    if (maxBytes === undefined || !counts) return await this.#db.commit(operation);
    return await this.#queueOf(project).commit({ operation, more, unchanged });
  }

  /**
   * Promises room for the bytes of a file or a part, before they are read. What it lets pass may still be refused at the
   * commit, as other processes write too; but the uploads of this process never fill the disk with bytes that cannot be
   * committed.
   *
   * @param replaced The key of the file or the part that gets replaced, whose size is free again then.
   * @param announced Bytes, where they are known before.
   * @throws {QuotaExceeded} where an announced size does not fit.
   */
  async reserve(
    { maxBytes }: CachedProject,
    { project }: Pick<Place, "project">,
    replaced: Deno.KvKey,
    announced: number | undefined,
  ): Promise<QuotaReservation> {
    if (maxBytes === undefined) return NO_RESERVATION;
    const room = new GrowingReservation({
      limit: maxBytes,
      seen: () => this.#queues.get(project)?.used ?? this.#seen.get(project),
      read: async () => await this.#read(project, replaced),
      reserved: () => this.#promised.get(project) ?? 0,
      addReserved: (by) => this.#promise(project, by),
    });
    if (announced !== undefined) await room.announce(announced);
    return room;
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
    this.#remember(project, used);
    return { used, limit, replaced: before.value?.size ?? 0 };
  }

  #promise(project: string, by: number): void {
    const sum = (this.#promised.get(project) ?? 0) + by;
    if (sum === 0) this.#promised.delete(project);
    else this.#promised.set(project, sum);
  }

  #remember(project: string, used: number): void {
    this.#seen.delete(project);
    const [oldest] = this.#seen.size >= REMEMBERED_SUMS ? this.#seen.keys() : [];
    if (oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(project, used);
  }

  #queueOf(project: string): QuotaQueue {
    const known = this.#queues.get(project);
    if (known !== undefined) return known;
    const queue = new QuotaQueue(this.#db, project, () => {
      this.#queues.delete(project);
      if (queue.used !== undefined) this.#remember(project, queue.used);
    });
    this.#queues.set(project, queue);
    return queue;
  }
}
