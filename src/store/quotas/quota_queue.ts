import { setImmediate } from "node:timers";
import { StoreFull } from "../disk/disk_space.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import type { Outcome } from "../engine/commits.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded, StoreUnavailable } from "../engine/errors.ts";
import { findUnmet, MAX_GROUP_BYTES } from "../engine/group_commit.ts";
import { keys } from "../engine/keys.ts";
import { Operation, type SharedCheck } from "../engine/operation.ts";
import { readMany } from "../engine/read_queue.ts";
import type { QuotaRecord } from "../engine/records.ts";
import { fitsQuota, type QuotaAccount, readQuotaAccount } from "./quota_account.ts";

/** An operation that changes how many bytes a project has. */
export interface QuotaChange {
  operation: Operation;
  /** By how many; negative where they become fewer. */
  more: number;
  /** Demands the project's record as the writer knows it; the operation does so too. */
  unchanged: SharedCheck;
}

interface Waiting extends QuotaChange {
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** Changes that are committed as one, and the bytes that the project has then. */
interface Group {
  together: Operation;
  members: readonly Waiting[];
  used: number;
}

/**
 * Commits the changes of one project with a quota. All of them meet on the entry with the sum, so those that wait at the
 * same time become one operation, and one such is on its way at a time. Other processes are met on that entry as well:
 * whoever was slower reads the sum again.
 */
export class QuotaQueue {
  readonly #db: Database;
  readonly #project: string;
  readonly #onIdle: () => void;
  #waiting: Waiting[] = [];
  /** As it was last seen; `undefined` where it is to be read. */
  #account: QuotaAccount | undefined;
  #isRunning = false;
  /** How many of the next changes are committed alone, as one of them cannot be committed at all. */
  #alone = 0;
  /** When others began to be quicker each time, by the monotonic clock. */
  #slowerSince: number | undefined;

  /** @param onIdle Called when nobody waits any more. */
  constructor(db: Database, project: string, onIdle: () => void) {
    this.#db = db;
    this.#project = project;
    this.#onIdle = onIdle;
  }

  /** The project's bytes as they were last seen; `undefined` while that is not known. */
  get used(): number | undefined {
    return this.#account?.used;
  }

  /**
   * Commits a change, alone or with others. Where something that it demands is not so, the outcome is not `ok`.
   *
   * @throws {QuotaExceeded} if all that it demands is so, and the project would have too many bytes.
   */
  commit(change: QuotaChange): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#waiting.push({ ...change, resolve, reject });
    if (!this.#isRunning) this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      // Others that ask within this turn of the event loop come along.
      await new Promise((resolve) => setImmediate(resolve));
      try {
        await this.#step([...this.#waiting]);
      } catch (error) {
        // The store could not be asked.
        this.#account = undefined;
        for (const { reject } of this.#settle(this.#waiting)) reject(error);
      }
    }
    this.#isRunning = false;
    this.#onIdle();
  }

  /** Gives some of those who asked their answer, or reads the account again. */
  async #step(asked: readonly Waiting[]): Promise<void> {
    const isNew = this.#account === undefined;
    const account = this.#account ??= await readQuotaAccount(this.#db, this.#project);
    const isKnownTo = ({ unchanged }: Waiting) =>
      unchanged.versionstamp === account?.unchanged.versionstamp;
    if (account === undefined || !asked.every(isKnownTo)) {
      this.#account = isNew ? account : undefined;
      if (isNew) this.#refuse(asked.filter((waiting) => !isKnownTo(waiting)));
      return;
    }
    const { fits = [], tooLarge = [] } = Object.groupBy(
      asked,
      ({ more }) => fitsQuota(account, more) ? "fits" : "tooLarge",
    );
    await Promise.all(tooLarge.map((waiting) => this.#judge(waiting, account)));
    const isSoStill = this.#account === account;
    if (isSoStill && fits.length > 0) {
      await this.#commitGroup(this.#groupOf(fits, account), account);
    }
  }

  /** Ends the waiting of some. */
  #settle(members: readonly Waiting[]): readonly Waiting[] {
    const settled = new Set(members);
    this.#waiting = this.#waiting.filter((waiting) => !settled.has(waiting));
    return members;
  }

  /** Tells some that what they demand is not so. */
  #refuse(members: readonly Waiting[]): void {
    for (const { resolve } of this.#settle(members)) resolve({ ok: false });
  }

  /** Refuses what is too large, if the account and all that it demands are so at one moment. */
  async #judge(waiting: Waiting, { used, limit, versionstamp }: QuotaAccount): Promise<void> {
    const demanded = waiting.operation.checks();
    const [entry, ...found] = await readMany(this.#db.reader, [
      keys.quota(this.#project),
      ...demanded.map(({ key }) => key),
    ]);
    const isMet = demanded.every((check, i) => check.versionstamp === found[i]?.versionstamp);
    if (!isMet) return this.#refuse([waiting]);
    if (entry?.versionstamp === versionstamp) {
      this.#settle([waiting]);
      waiting.reject(new QuotaExceeded({ used, limit, more: waiting.more }));
    } else this.#account = undefined;
  }

  /** Of those who fit, in their order, all that fit together. The others wait for what comes of these. */
  #groupOf(fits: readonly Waiting[], account: QuotaAccount): Group {
    const key = keys.quota(this.#project);
    const sum: QuotaRecord = { bytes: account.used };
    // The sum goes on changing below: it takes its place in the operation before others take all that there is.
    const together = new Operation().share(account.unchanged)
      .check(key, account.versionstamp)
      .set(key, sum);
    const members: Waiting[] = [];
    for (const waiting of fits) {
      const { operation, more } = waiting;
      if (!fitsQuota({ ...account, used: sum.bytes }, more)) continue;
      if (
        members.length > 0 &&
        !together.hasRoomFor(operation, MAX_GROUP_BYTES, this.#db.commits.checks)
      ) continue;
      together.add(operation);
      sum.bytes += more;
      members.push(waiting);
      if (this.#alone > 0) break;
    }
    return { together, members, used: sum.bytes };
  }

  async #commitGroup({ together, members, used }: Group, account: QuotaAccount): Promise<void> {
    this.#account = undefined;
    this.#alone = Math.max(0, this.#alone - 1);
    try {
      const outcome = await this.#db.commit(together);
      if (!outcome.ok) return await this.#learn(account, members);
      this.#slowerSince = undefined;
      this.#account = { ...account, used, versionstamp: outcome.versionstamp };
      for (const { resolve } of this.#settle(members)) resolve(outcome);
    } catch (error) {
      const concernsAll = error instanceof StoreUnavailable || error instanceof StoreFull;
      const storing = members.filter(({ operation }) => operation.hasFileBytes);
      if (error instanceof StoreFull && storing.length > 0) {
        // The others may still find room.
        for (const { reject } of this.#settle(storing)) reject(error);
      } else if (members.length > 1 && !concernsAll) this.#alone = members.length;
      else for (const { reject } of this.#settle(members)) reject(error);
    }
  }

  /** Finds out why a group was refused: another process was quicker, or what some demand is not so. */
  async #learn(before: QuotaAccount, members: readonly Waiting[]): Promise<void> {
    const now = await readQuotaAccount(this.#db, this.#project);
    this.#account = now;
    const isSame = now?.versionstamp === before.versionstamp &&
      now.unchanged.versionstamp === before.unchanged.versionstamp;
    const unmet = isSame
      ? await findUnmet(this.#db.reader, members.map(({ operation }) => operation))
      : new Set();
    if (unmet.size > 0) return this.#refuse(members.filter((one) => unmet.has(one.operation)));
    const since = this.#slowerSince ??= performance.now();
    if (performance.now() - since > LOCKED_RETRY_TIME) {
      throw new StoreUnavailable("Too many other processes write to the project");
    }
  }
}
