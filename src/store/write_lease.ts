import { WRITE_LEASE } from "../drive/limits.ts";
import type { Database } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import { throwAway } from "./garbage.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";
import type { Garbage, PendingWrite, Place } from "./records.ts";

/**
 * The journal entry of bytes that are being written, and beside it until when the claim on them holds. While it does, the
 * sweeper leaves them alone. Every commit of the writer demands that the entry still stands, so bytes that the sweeper
 * took away can't be published. The time is an entry of its own, so that renewing it is in no commit's way.
 */
export class WriteLease {
  readonly #db: Database;
  readonly #entry: PendingWrite;
  readonly #versionstamp: string;
  #until: number;

  private constructor(db: Database, entry: PendingWrite, versionstamp: string, until: number) {
    this.#db = db;
    this.#entry = entry;
    this.#versionstamp = versionstamp;
    this.#until = until;
  }

  /** Journals that up to `chunks` chunks will be written under a version. */
  static async begin(
    db: Database,
    place: Place,
    version: string,
    chunks: number,
  ): Promise<WriteLease> {
    const entry: PendingWrite = { ...place, version, chunks };
    const until = Date.now() + WRITE_LEASE;
    const operation = new Operation()
      .check(keys.pending(version), null)
      .set(keys.pending(version), entry)
      .set(keys.lease(version), until);
    const outcome = await db.commit(operation);
    if (!outcome.ok) throw leaseLost();
    return new WriteLease(db, entry, outcome.versionstamp, until);
  }

  /** Claims the time once more where half of it is over. */
  async keep(): Promise<void> {
    if (Date.now() < this.#until - WRITE_LEASE / 2) return;
    const until = Date.now() + WRITE_LEASE;
    const operation = this.demand(new Operation()).set(keys.lease(this.#entry.version), until);
    if (!(await this.#db.commit(operation)).ok) throw leaseLost();
    this.#until = until;
  }

  /** Makes an operation fail unless the lease still holds. */
  demand(operation: Operation): Operation {
    return operation.check(this.#key, this.#versionstamp);
  }

  /** Adds to the operation that publishes the bytes: from then on they belong to a file or a part. */
  settle(operation: Operation): Operation {
    return this.demand(operation)
      .delete(this.#key)
      .delete(keys.lease(this.#entry.version));
  }

  /** Gives the bytes to the sweeper, at once. Nothing is to do where it has taken them already. */
  async abandon(): Promise<void> {
    const operation = this.settle(new Operation());
    throwAway(operation, chunksOf(this.#entry), Date.now());
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
