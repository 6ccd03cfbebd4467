import { setImmediate } from "node:timers";
import { StoreFull } from "../disk/disk_space.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import type { Outcome } from "../engine/commits.ts";
import type { Database } from "../engine/database.ts";
import { QuotaExceeded, StoreUnavailable } from "../engine/errors.ts";
import { findUnmet, MAX_GROUP_BYTES } from "../engine/group_commit.ts";
import { keys } from "../engine/keys.ts";
import { Operation, type SharedCheck } from "../engine/operation.ts";
import { readMany } from "../reads/read_queue.ts";
import type { QuotaRecord } from "../engine/records.ts";
import { fitsQuota, type QuotaAccount, readQuotaAccount } from "./quota_account.ts";

/** An operation that changes how many bytes a project has. */
export interface QuotaChange {
  operation: Operation;
  /** By how many bytes; negative if they become fewer. */
  more: number;
  /** The check of the project's record as the writer knows it. The operation contains it, too. */
  unchanged: SharedCheck;
}

interface WaitingChange extends QuotaChange {
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** Changes that are committed together, and the bytes that the project then has. */
interface Group {
  together: Operation;
  members: readonly WaitingChange[];
  used: number;
}

/**
 * Commits the changes of one project with a quota. All of them write the entry with the sum, so those that wait at the
 * same time become one operation, and one operation runs at a time. Other processes write that entry as well: the
 * process that loses the race reads the sum again.
 */
export class QuotaQueue {
  readonly #db: Database;
  readonly #project: string;
  readonly #onIdle: (account: QuotaAccount | undefined) => void;
  #waiting: WaitingChange[] = [];
  /** The account when it was last read; `undefined` if it must be read. */
  #account: QuotaAccount | undefined;
  #isRunning = false;
  /** How many of the next changes are committed one at a time, because one of them makes every group fail. */
  #alone = 0;
  /** Start of the current losing streak against other processes, by the monotonic clock. */
  #losingSince: number | undefined;

  /**
   * @param account The account when it was last read, which may be out of date; `undefined` if it must be read.
   * @param onIdle Called with the same when the last waiting change is settled.
   */
  constructor(
    db: Database,
    project: string,
    account: QuotaAccount | undefined,
    onIdle: (account: QuotaAccount | undefined) => void,
  ) {
    this.#db = db;
    this.#project = project;
    this.#account = account;
    this.#onIdle = onIdle;
  }

  /** The project's bytes when they were last read; `undefined` while that is not known. */
  get used(): number | undefined {
    return this.#account?.used;
  }

  /**
   * Commits a change, alone or with others. The outcome is not `ok` if one of its checks fails.
   *
   * @throws {QuotaExceeded} if the project would have too many bytes, and all checks of the change hold.
   */
  commit(change: QuotaChange): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#waiting.push({ ...change, resolve, reject });
    if (!this.#isRunning) this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Changes that arrive in this turn of the event loop join.
    await nextTurn();
    while (this.#waiting.length > 0) {
      try {
        await this.#step([...this.#waiting]);
      } catch (error) {
        // The store could not be read.
        this.#account = undefined;
        for (const { reject } of this.#settle(this.#waiting)) reject(error);
      }
    }
    this.#isRunning = false;
    this.#onIdle(this.#account);
  }

  /** Settles some of the waiting changes, or drops an account that is out of date. */
  async #step(waiting: readonly WaitingChange[]): Promise<void> {
    const isNew = this.#account === undefined;
    const account = this.#account ??= await readQuotaAccount(this.#db, this.#project);
    const knowsProject = ({ unchanged }: WaitingChange) =>
      unchanged.versionstamp === account?.unchanged.versionstamp;
    if (account === undefined || !waiting.every(knowsProject)) {
      this.#account = isNew ? account : undefined;
      if (isNew) this.#refuse(waiting.filter((change) => !knowsProject(change)));
      return;
    }
    const { fits = [], tooLarge = [] } = Object.groupBy(
      waiting,
      ({ more }) => fitsQuota(account, more) ? "fits" : "tooLarge",
    );
    await Promise.all(tooLarge.map((change) => this.#rejectTooLarge(change, account)));
    if (this.#account === account && fits.length > 0) {
      await this.#commitGroup(this.#groupOf(fits, account), account);
    }
  }

  /** Takes changes off the queue. */
  #settle(changes: readonly WaitingChange[]): readonly WaitingChange[] {
    const settled = new Set(changes);
    this.#waiting = this.#waiting.filter((change) => !settled.has(change));
    return changes;
  }

  /** Settles changes with a failed check. */
  #refuse(changes: readonly WaitingChange[]): void {
    for (const { resolve } of this.#settle(changes)) resolve({ ok: false });
  }

  /**
   * Rejects a change that is too large. The sum and the checks of the change are read at one moment: a failed check comes
   * before the quota, and a sum that has changed may have room for the change.
   */
  async #rejectTooLarge(
    change: WaitingChange,
    { used, limit, versionstamp }: QuotaAccount,
  ): Promise<void> {
    const checks = change.operation.checks();
    const [entry, ...found] = await readMany<QuotaRecord>(this.#db.reader, [
      keys.quota(this.#project),
      ...checks.map(({ key }) => key),
    ]);
    const isMet = checks.every((check, i) => check.versionstamp === found[i]?.versionstamp);
    if (!isMet) return this.#refuse([change]);
    const isSame = entry?.versionstamp === versionstamp;
    if (!isSame) this.#account = undefined;
    // The checks hold, so the project has the same limit.
    const bytes = isSame ? used : entry?.value?.bytes;
    if (bytes === undefined || fitsQuota({ used: bytes, limit }, change.more)) return;
    this.#settle([change]);
    change.reject(new QuotaExceeded({ used: bytes, limit, more: change.more }));
  }

  /** Makes one operation of the first changes that fit together. The others wait for its outcome. */
  #groupOf(fits: readonly WaitingChange[], account: QuotaAccount): Group {
    const key = keys.quota(this.#project);
    // The operation refers to this object, whose sum grows below.
    const sum: QuotaRecord = { bytes: account.used };
    const together = new Operation().share(account.unchanged)
      .check(key, account.versionstamp)
      .set(key, sum);
    const members: WaitingChange[] = [];
    for (const change of fits) {
      const { operation, more } = change;
      if (!fitsQuota({ ...account, used: sum.bytes }, more)) continue;
      if (
        members.length > 0 &&
        !together.hasRoomFor(operation, MAX_GROUP_BYTES, this.#db.commits.checks)
      ) continue;
      together.add(operation);
      sum.bytes += more;
      members.push(change);
      if (this.#alone > 0) break;
    }
    return { together, members, used: sum.bytes };
  }

  async #commitGroup({ together, members, used }: Group, account: QuotaAccount): Promise<void> {
    this.#account = undefined;
    this.#alone = Math.max(0, this.#alone - 1);
    try {
      const outcome = await this.#db.commit(together);
      if (!outcome.ok) return await this.#handleRefusal(members);
      this.#losingSince = undefined;
      this.#account = { ...account, used, versionstamp: outcome.versionstamp };
      this.#answerSoon(this.#settle(members), outcome);
    } catch (error) {
      const concernsAll = error instanceof StoreUnavailable || error instanceof StoreFull;
      const storing = members.filter(({ operation }) => operation.hasFileBytes);
      if (error instanceof StoreFull && storing.length > 0) {
        // The members that store no bytes may still succeed.
        for (const { reject } of this.#settle(storing)) reject(error);
      } else if (members.length > 1 && !concernsAll) this.#alone = members.length;
      else for (const { reject } of this.#settle(members)) reject(error);
    }
  }

  /**
   * Answers once the next group is on its way, which starts after this turn of the event loop. So the store commits
   * that group while this process handles what follows the answers.
   */
  async #answerSoon(members: readonly WaitingChange[], outcome: Outcome): Promise<void> {
    await nextTurn();
    await nextTurn();
    for (const { resolve } of members) resolve(outcome);
  }

  /** Finds out why a group was refused: another process was first, or checks of some members failed. */
  async #handleRefusal(members: readonly WaitingChange[]): Promise<void> {
    this.#account = await readQuotaAccount(this.#db, this.#project);
    // Also if another process was first: while it writes without a pause, a failed check would make every group fail.
    const unmet = await findUnmet(this.#db.reader, members.map(({ operation }) => operation));
    if (unmet.size > 0) return this.#refuse(members.filter((one) => unmet.has(one.operation)));
    const since = this.#losingSince ??= performance.now();
    if (performance.now() - since > LOCKED_RETRY_TIME) {
      throw new StoreUnavailable("Too many other processes write to the project");
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
