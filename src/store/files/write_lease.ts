import { MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Garbage, PendingWrite, Place } from "../engine/records.ts";
import { addGarbage } from "./garbage.ts";

/** How long bytes being written stay claimed when their writer's process has died; a live one renews its claims. */
export const WRITE_LEASE_TIME = 2 * MINUTE;

/** Milliseconds between two renewals: several may fail before the lease is over. */
export const LEASE_RENEWAL = WRITE_LEASE_TIME / 4;

/**
 * The journal entry of bytes that are being written, and beside it the lease. The process that writes renews the lease by
 * itself, however slowly the bytes come, until `end`; so only a process that has died leaves a lease that is not renewed.
 * Other processes notice that by their own monotonic clocks (`SilentLeases`); the time in the entry serves those that never
 * run for long. A clock that jumps, in this process or another one, ends no lease of a live process.
 *
 * Every commit of the writer demands that the journal entry still stands, so bytes that another process took away cannot be
 * published. The lease is an entry of its own, so that a renewal is in no commit's way.
 */
export class WriteLease {
  readonly #db: Database;
  readonly #entry: PendingWrite;
  readonly #versionstamp: string;
  readonly #timer: ReturnType<typeof setInterval>;

  private constructor(db: Database, entry: PendingWrite, versionstamp: string) {
    this.#db = db;
    this.#entry = entry;
    this.#versionstamp = versionstamp;
    // A renewal that fails, as the store may be away for a while, is followed by the next one.
    this.#timer = setInterval(() => void this.renew().catch(() => {}), LEASE_RENEWAL);
  }

  /** Journals that up to `chunks` chunks will be written under a version. Call `end` when they are published or given up. */
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
    const outcome = await db.commit(operation);
    if (!outcome.ok) throw leaseLost();
    db.writing.add(version);
    return new WriteLease(db, entry, outcome.versionstamp);
  }

  /** Claims the whole time once more. */
  async renew(): Promise<void> {
    const { version } = this.#entry;
    const operation = this.addCheck(new Operation())
      .set(keys.lease(version), Date.now() + WRITE_LEASE_TIME);
    if (!(await this.#db.commit(operation)).ok) clearInterval(this.#timer);
  }

  /** Ends the renewals. What was not published or given up by then is removed when the time is over. */
  end(): void {
    clearInterval(this.#timer);
    this.#db.writing.delete(this.#entry.version);
  }

  /** Makes an operation fail unless the lease still holds. */
  addCheck(operation: Operation): Operation {
    return operation.check(this.#key, this.#versionstamp);
  }

  /** Adds to the operation that publishes the bytes: from then on they belong to a file or a part. */
  settle(operation: Operation): Operation {
    return this.addCheck(operation)
      .delete(this.#key)
      .delete(keys.lease(this.#entry.version));
  }

  /** Gives the bytes to the sweeper, at once. Nothing is to do where it has taken them already. */
  async abandon(): Promise<void> {
    this.end();
    const operation = this.settle(new Operation());
    addGarbage(operation, chunksOf(this.#entry), Date.now());
    await this.#db.commit(operation);
  }

  /** Whether the sweeper has not taken the bytes away. */
  async holds(): Promise<boolean> {
    return (await this.#db.reader.get(this.#key)).versionstamp === this.#versionstamp;
  }

  get #key(): Deno.KvKey {
    return keys.pending(this.#entry.version);
  }
}

/** What is to be removed where a writer's bytes are given up. */
export function chunksOf(entry: PendingWrite): Garbage {
  return { kind: "chunks", ...entry, file: entry.version };
}

export function leaseLost(): StoreUnavailable {
  return new StoreUnavailable(
    "The bytes written so far were given up because their writer was silent for too long",
  );
}
