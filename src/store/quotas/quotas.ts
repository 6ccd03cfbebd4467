/**
 * The limits of a project: its bytes and files, which the administrator sets, and its open uploads, which the server
 * limits.
 *
 * Operations change the sums of their project without a check (`usage.ts`), so writers never wait for each other. An
 * operation that adds something is admitted first: the sums, and what this process has admitted and not yet committed,
 * must leave room for it. One process therefore never exceeds a limit. Several processes on one store may exceed it by
 * what they are writing at the same time.
 *
 * @module
 */
import type { Outcome } from "../engine/commits.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded, TooManyOpenUploads } from "../engine/errors.ts";
import { findUnmet } from "../engine/group_commit.ts";
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { CachedProject } from "../engine/project_cache.ts";
import {
  CHUNK_SIZE,
  type FileRecord,
  type PartRecord,
  type Place,
  type ProjectRecord,
} from "../engine/records.ts";
import { changeOf, countedBytes, type ProjectUsage, readUsage } from "./usage.ts";

/**
 * Open uploads of one project, unless configured. A client has a handful open at a time; those that it leaves behind in a
 * crash stay open for a day. Each takes about 1 KB of the store, without its parts.
 */
export const DEFAULT_MAX_OPEN_UPLOADS = 1000;

const RESOURCES = ["bytes", "files", "uploads"] as const;

/**
 * Amounts of what is limited. Bytes are those of files, of the trash and of the parts of open uploads; files include
 * those in the trash.
 */
type Amounts = Readonly<Record<(typeof RESOURCES)[number], number>>;

const NOTHING: Amounts = { bytes: 0, files: 0, uploads: 0 };

type Settings = Pick<CachedProject, "maxBytes" | "maxFiles">;

/** A project as it is in the store. */
interface Account {
  used: Amounts;
  limits: Amounts;
  /** What a body replaces, and therefore makes free. */
  replaced: Amounts;
}

/** What a reservation holds, and the limits by which it was admitted. */
interface Held {
  amounts: Amounts;
  limits?: Amounts;
}

/** Keeps projects within their limits. */
export class Quotas {
  /** Of the projects with reservations. */
  readonly #ledgers = new Map<string, Ledger>();

  /** @param maxOpenUploads Open uploads of one project. */
  constructor(
    private readonly db: Database,
    private readonly maxOpenUploads = DEFAULT_MAX_OPEN_UPLOADS,
  ) {}

  /**
   * Commits an operation that checks the project's record.
   *
   * @param reservation What is reserved for the body that the operation stores. A successful commit releases it.
   * @throws {QuotaExceeded} or {TooManyOpenUploads} if a limit has no room and all checks of the operation hold.
   */
  async commit(
    settings: Settings,
    { project }: Pick<Place, "project">,
    operation: Operation,
    reservation?: Reservation,
  ): Promise<Outcome> {
    const isLimited = settings.maxBytes !== undefined || settings.maxFiles !== undefined ||
      operation.summed(keys.projectUsage(project, "open_uploads")) > 0;
    const more = isLimited ? amountsOf(changeOf(operation, project)) : NOTHING;
    // What is over a limit may always shrink.
    if (RESOURCES.every((resource) => more[resource] <= 0)) return await this.db.commit(operation);
    using own = this.#reservationOf(project);
    const room = reservation ?? own;
    try {
      await room.require(more, settings);
    } catch (error) {
      // A failed check comes first: the operation may rest on an earlier version of its file.
      if ((await findUnmet(this.db.reader, [operation])).size > 0) return { ok: false };
      throw error;
    }
    return await room.settle(this.db.commit(operation));
  }

  /**
   * Reserves room for the bytes of a file or a part before they are read, so that a process never fills the disk with
   * bytes that it cannot commit. Returns `undefined` if the project has no limits.
   *
   * @param replaced The key of the file or part that is replaced.
   * @param announced The size of the body in bytes, if known.
   * @throws {QuotaExceeded} if there is no room for it.
   */
  async reserve(
    { maxBytes, maxFiles }: Settings,
    { project }: Pick<Place, "project">,
    replaced: Deno.KvKey,
    announced = 0,
  ): Promise<Reservation | undefined> {
    if (maxBytes === undefined && maxFiles === undefined) return undefined;
    const reservation = this.#reservationOf(project, replaced);
    try {
      await reservation.growTo(announced);
    } catch (error) {
      reservation[Symbol.dispose]();
      throw error;
    }
    return reservation;
  }

  #reservationOf(project: string, replaced?: Deno.KvKey): Reservation {
    const ledger = this.#ledgers.get(project) ?? new Ledger(() => this.#ledgers.delete(project));
    this.#ledgers.set(project, ledger);
    const files = replaced?.[0] === "file" ? 1 : 0;
    return new Reservation(ledger, { files, read: () => this.#read(project, replaced) });
  }

  async #read(project: string, replaced: Deno.KvKey | undefined): Promise<Account> {
    const { reads } = this.db;
    const [[owner], [earlier], usage] = await Promise.all([
      reads.get<[ProjectRecord]>([keys.project(project)]),
      replaced === undefined ? [] : reads.get<[FileRecord | PartRecord]>([replaced]),
      readUsage(reads, project),
    ]);
    const { maxBytes = Infinity, maxFiles = Infinity, trashDays } = owner.value ?? {};
    // A file that goes to the trash makes no room.
    const isKept = replaced?.[0] === "file" && trashDays !== undefined;
    return {
      used: amountsOf(usage),
      limits: { bytes: maxBytes, files: maxFiles, uploads: this.maxOpenUploads },
      replaced: earlier === undefined || earlier.value === null || isKept
        ? NOTHING
        : { bytes: countedBytes(earlier.value), files: 1, uploads: 0 },
    };
  }
}

function amountsOf(
  { bytes, openBytes, trashBytes, files, trashFiles, openUploads }: ProjectUsage,
): Amounts {
  return {
    bytes: bytes + openBytes + trashBytes,
    files: files + trashFiles,
    uploads: openUploads,
  };
}

/** Returns the amounts that `combine` makes of those of `a` and `b`. */
function combined(a: Amounts, b: Amounts, combine: (a: number, b: number) => number): Amounts {
  return {
    bytes: combine(a.bytes, b.bytes),
    files: combine(a.files, b.files),
    uploads: combine(a.uploads, b.uploads),
  };
}

const sum = (a: number, b: number) => a + b;
const difference = (a: number, b: number) => a - b;

/** What this process has admitted to one project and not yet committed. */
class Ledger {
  #reservations = 0;
  #held = NOTHING;
  /** All that was ever admitted. During a read it tells what others have admitted, even if that is committed by then. */
  #admitted = NOTHING;
  readonly #commits = new Set<Promise<unknown>>();
  /** How many commits were begun. */
  #begun = 0;
  /** The last of the reservations that near a limit are decided one after the other. */
  #last: Promise<void> | undefined;

  /** @param onUnused Called when the last reservation has ended. */
  constructor(private readonly onUnused: () => void) {}

  begin(): void {
    this.#reservations++;
  }

  end(): void {
    if (--this.#reservations === 0) this.onUnused();
  }

  /**
   * Replaces what a reservation holds.
   *
   * @param wanted Returns what it is to hold.
   * @throws {QuotaExceeded} or {TooManyOpenUploads} if there is no room. It then holds nothing.
   */
  async admit(
    held: Amounts,
    read: () => Promise<Account>,
    wanted: (account: Account) => Amounts,
  ): Promise<Held> {
    while (this.#last !== undefined) await this.#last;
    const admitted = await this.#tryToAdmit(held, read, wanted);
    if (!(admitted instanceof Error)) return admitted;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      // What is committed during the read may be counted twice, as sums and as held. Without that the numbers are exact.
      while (true) {
        while (this.#commits.size > 0) await Promise.allSettled(this.#commits);
        const begun = this.#begun;
        const again = await this.#tryToAdmit(held, read, wanted);
        if (!(again instanceof Error)) return again;
        if (this.#begun !== begun) continue;
        // Released at once, so that of many bodies that grow at the same time as many as possible fit.
        this.change(combined(NOTHING, held, difference));
        throw again;
      }
    } finally {
      if (this.#last === promise) this.#last = undefined;
      resolve();
    }
  }

  async #tryToAdmit(
    held: Amounts,
    read: () => Promise<Account>,
    wanted: (account: Account) => Amounts,
  ): Promise<Held | QuotaExceeded | TooManyOpenUploads> {
    const others = combined(this.#held, held, difference);
    const admitted = this.#admitted;
    const account = await read();
    // From here on nothing is awaited, so no one else is admitted to the same room.
    const meanwhile = combined(this.#admitted, admitted, difference);
    const used = combined(combined(account.used, others, sum), meanwhile, sum);
    const amounts = wanted(account);
    const { limits } = account;
    for (const resource of RESOURCES) {
      const numbers = { used: used[resource], limit: limits[resource], more: amounts[resource] };
      if (numbers.more <= 0 || numbers.used + numbers.more <= numbers.limit) continue;
      return resource === "uploads"
        ? new TooManyOpenUploads(numbers.limit)
        : new QuotaExceeded({ resource, ...numbers });
    }
    const next = combined(amounts, NOTHING, Math.max);
    const more = combined(next, held, difference);
    this.change(more);
    this.#admitted = combined(this.#admitted, combined(more, NOTHING, Math.max), sum);
    return { amounts: next, limits };
  }

  change(more: Amounts): void {
    this.#held = combined(this.#held, more, sum);
  }

  /** Waits for a commit, which may change the sums. */
  async waitFor<T>(commit: Promise<T>): Promise<T> {
    this.#commits.add(commit);
    this.#begun++;
    try {
      return await commit;
    } finally {
      this.#commits.delete(commit);
    }
  }
}

/** Room in the limits of a project, for an operation or for a body that is being received. Disposing of it releases it. */
export class Reservation implements Disposable {
  readonly #files: number;
  readonly #read: () => Promise<Account>;
  #held: Held = { amounts: NOTHING };
  /** The size of the body for which there is room. */
  #size = -1;
  #hasEnded = false;

  /** @param body.files How many files its body makes. */
  constructor(
    private readonly ledger: Ledger,
    body: { files: number; read: () => Promise<Account> },
  ) {
    this.#files = body.files;
    this.#read = body.read;
    ledger.begin();
  }

  /** Makes room for a body of this size in all. @throws {QuotaExceeded} */
  async growTo(size: number): Promise<void> {
    if (size <= this.#size) return;
    const body = { bytes: size, files: this.#files, uploads: 0 };
    await this.#admit(({ replaced }) => combined(body, replaced, difference));
    this.#size = size;
  }

  /**
   * Returns the bytes of a body as they come, and makes room for those that were not announced. Up to one chunk stays in
   * memory until it is committed, and needs no room before.
   *
   * @throws {QuotaExceeded} while it is read.
   */
  async *track(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of body) {
      size += piece.byteLength;
      if (size > CHUNK_SIZE) await this.growTo(size);
      yield piece;
    }
  }

  /** Makes room for an operation. @throws {QuotaExceeded} or {TooManyOpenUploads} */
  async require(
    more: Amounts,
    { maxBytes = Infinity, maxFiles = Infinity }: Settings,
  ): Promise<void> {
    const { amounts, limits } = this.#held;
    const isHeld = RESOURCES.every((resource) => more[resource] <= amounts[resource]);
    const isSame = limits?.bytes === maxBytes && limits.files === maxFiles;
    if (!isHeld || !isSame) await this.#admit(() => more);
  }

  /** Waits for the commit of what it was reserved for, and releases it with a success. */
  async settle(commit: Promise<Outcome>): Promise<Outcome> {
    return await this.ledger.waitFor(commit.then((outcome) => {
      if (outcome.ok) this.#release();
      return outcome;
    }));
  }

  [Symbol.dispose](): void {
    this.#release();
    if (!this.#hasEnded) this.ledger.end();
    this.#hasEnded = true;
  }

  async #admit(wanted: (account: Account) => Amounts): Promise<void> {
    const { amounts } = this.#held;
    this.#held = { amounts: NOTHING };
    this.#held = await this.ledger.admit(amounts, this.#read, wanted);
  }

  #release(): void {
    this.ledger.change(combined(NOTHING, this.#held.amounts, difference));
    this.#held = { amounts: NOTHING };
  }
}
