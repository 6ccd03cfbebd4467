import { DAY, MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Garbage, PendingWrite, Place } from "../engine/records.ts";
import { addGarbage } from "./garbage.ts";

/** How long bytes stay reserved for a writer whose process has died. A live process renews its leases. */
export const WRITE_LEASE_TIME = 2 * MINUTE;

/** Time between two renewals: several may fail before the lease expires. */
export const LEASE_RENEWAL = WRITE_LEASE_TIME / 4;

/**
 * How long after its last renewal a writer begins commits, in milliseconds: a commit ends within the rest of the lease
 * (`LOCKED_RETRY_TIME`).
 */
const WRITING_TIME = WRITE_LEASE_TIME - LEASE_RENEWAL;

/** When bytes that were taken away are deleted for the second time, in milliseconds. */
export const LATE_WRITE_TIME = DAY;

/**
 * A journal entry for bytes that are being written, and a lease on it.
 *
 * The writing process renews the lease by a timer until `end`, however slowly the bytes arrive, so only a dead process
 * leaves a lease that is not renewed. Other processes detect that by their own monotonic clocks (`SilentLeases`); the
 * time in the entry serves processes that never run for long. Changing the system clock of any process does not end a
 * live lease.
 *
 * The commit that publishes the bytes checks the journal entry, so bytes that another process has taken away cannot be
 * published. The lease is a separate entry, so that renewals do not conflict with that commit.
 *
 * Bytes that are written after they were taken away would stay for ever. In a store in one database each commit of
 * chunks checks the journal entry, too. In a store in two files it cannot, and two rules replace the check. The writer
 * begins no commit when its lease has not been renewed for some time, well before another process may take the bytes
 * away: so only a commit that was running in a process that was stopped for that long comes too late. And the process
 * that takes the bytes away deletes them twice: at once, and after `LATE_WRITE_TIME`, when the other process has gone on
 * or has ended.
 */
export class WriteLease {
  /** When the last renewal began that succeeded, by the monotonic clock, in milliseconds. */
  #renewed: number;
  readonly #timer: ReturnType<typeof setInterval>;

  private constructor(
    private readonly db: Database,
    private readonly entry: PendingWrite,
    private readonly versionstamp: string,
    begun: number,
  ) {
    this.#renewed = begun;
    // A failed renewal is followed by the next one: the store may be unreachable for a while.
    this.#timer = setInterval(() => void this.renew().catch(() => {}), LEASE_RENEWAL);
  }

  /**
   * Journals that up to `chunks` chunks will be written under a version. Call `end` after they are published or
   * abandoned.
   *
   * @throws {StoreUnavailable} if the version has an entry already.
   */
  static async begin(
    db: Database,
    place: Place,
    version: string,
    chunks: number,
  ): Promise<WriteLease> {
    const entry: PendingWrite = { ...place, version, chunks };
    const operation = new Operation()
      .check(keys.pending(version), null)
      .set(keys.pending(version), entry)
      .set(keys.lease(version), Date.now() + WRITE_LEASE_TIME);
    const begun = performance.now();
    const outcome = await db.commit(operation);
    if (!outcome.ok) throw leaseLost();
    db.writing.add(version);
    return new WriteLease(db, entry, outcome.versionstamp, begun);
  }

  /** Extends the lease to its full time. */
  async renew(): Promise<void> {
    const { version } = this.entry;
    const operation = this.addCheck(new Operation())
      .set(keys.lease(version), Date.now() + WRITE_LEASE_TIME);
    const begun = performance.now();
    if ((await this.db.commit(operation)).ok) this.#renewed = begun;
    else clearInterval(this.#timer);
  }

  /**
   * Begins an operation that sets chunks.
   *
   * @throws {StoreUnavailable} if another process might take the bytes away before it is committed.
   */
  beginChunks(): Operation {
    if (!this.db.bytes.isSeparate) return this.addCheck(new Operation());
    if (performance.now() - this.#renewed > WRITING_TIME) throw leaseLost();
    return new Operation();
  }

  /** Stops the renewals. Bytes that are neither published nor abandoned are deleted when the lease has expired. */
  end(): void {
    clearInterval(this.#timer);
    this.db.writing.delete(this.entry.version);
  }

  /** Makes an operation fail if the bytes were taken away. */
  addCheck(operation: Operation): Operation {
    return operation.check(this.#key, this.versionstamp);
  }

  /** Makes an operation take over the bytes: with its commit they belong to a file or a part. */
  settle(operation: Operation): Operation {
    return this.addCheck(operation)
      .delete(this.#key)
      .delete(keys.lease(this.entry.version));
  }

  /** Ends the lease and turns the bytes into garbage. Has no effect if the sweeper has taken them already. */
  async abandon(): Promise<void> {
    this.end();
    const operation = this.settle(new Operation());
    addGarbage(operation, chunksOf(this.entry), Date.now());
    await this.db.commit(operation);
  }

  /** Returns whether the bytes have not been taken away. */
  async holds(): Promise<boolean> {
    return (await this.db.reader.get(this.#key)).versionstamp === this.versionstamp;
  }

  get #key(): Deno.KvKey {
    return keys.pending(this.entry.version);
  }
}

/** Returns the garbage that a writer leaves when it abandons its bytes. */
export function chunksOf(entry: PendingWrite): Garbage {
  return { kind: "chunks", ...entry };
}

export function leaseLost(): StoreUnavailable {
  return new StoreUnavailable("The lease on the bytes written so far has expired");
}
