/**
 * What webhooks have to deliver, in the store.
 *
 * Every commit on a name of a project with webhooks also counts the drive as due, so that a process which was not there
 * finds it. The versionstamp of that counter is the one of the newest change. A webhook is done with a drive once its
 * cursor is not before it; once all webhooks are, the counter is deleted. So what is due costs nothing to keep, and is
 * found without a search, after a restart as well.
 *
 * The cursor moves with the commit that records an accepted delivery, and only from where the delivery began. A process
 * that dies in between delivers again.
 *
 * @module
 */
import { DAY, HOUR, KIB, SECOND } from "../../rules/units.ts";
import { type EventLog, SERVER } from "../accounts/events.ts";
import type { Change, ChangeFeed } from "../changes/change_feed.ts";
import { comparePositions, LAST_INDEX, type Position } from "../changes/cursor.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type {
  DeliveryRecord,
  FailingDelivery,
  ProjectRecord,
  WebhookEnd,
  WebhookRecord,
  WebhookState,
} from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { NO_DELIVERIES, readWebhook, startOf, tellsOf, type Webhook } from "./webhook_store.ts";

/** "1 to 100 changes of one drive", and the bytes after which there are fewer. */
export const MAX_CHANGES = 100;
const MAX_BYTES = 128 * KIB;

/** "retried after 5 s, doubling to an hour, for three days" */
const FIRST_PAUSE = 5 * SECOND;
const MAX_PAUSE = HOUR;
const RETRY_TIME = 3 * DAY;

/** The attempts that the state of a webhook keeps. */
const KEPT_DELIVERIES = 10;

/** Drives of a project that are looked at in one go. */
const MAX_DUE = 5000;

/** Drives that one operation notes as due. */
const BATCH = 100;

/** A drive with changes that some webhook may have to tell of. */
export interface DueDrive {
  drive: string;
  /** Of its newest change. */
  stamp: string;
}

/** The next changes that a webhook has to tell of in a drive; they may be none. */
export interface Batch {
  webhook: Webhook;
  drive: string;
  changes: Change[];
  /** Where it ends. */
  position: Position;
  more: boolean;
  /** Whether changes before it have expired. */
  hasGap: boolean;
  /** The versionstamps of the cursor and of the note that the drive is due, when it was read. */
  cursor: string | null;
  due: string | null;
}

/** Returns how long to wait after so many attempts that failed, in milliseconds. */
export function pauseAfter(attempts: number): number {
  return Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1));
}

/** Whether a delivery that failed is tried now. A clock that was set back delays it by no more than the longest pause. */
export function isDueNow(failing: FailingDelivery | undefined, now = Date.now()): boolean {
  return failing === undefined || failing.next <= now || failing.next > now + MAX_PAUSE;
}

export class DeliveryQueue {
  constructor(
    private readonly db: Database,
    private readonly changes: ChangeFeed,
    private readonly events: EventLog,
  ) {}

  /** Yields the enabled webhooks of all projects. */
  async *enabled(): AsyncGenerator<Omit<Webhook, "state">> {
    const range = { prefix: prefixes.all("webhook") };
    for await (const { key, value, versionstamp } of this.db.reader.list<WebhookRecord>(range)) {
      const [, project = "", id = ""] = key.map(String);
      if (value.disabled === undefined) yield { project, id, versionstamp, record: value };
    }
  }

  /** Yields the projects with drives that are due. Each costs a read. */
  async *dueProjects(): AsyncGenerator<string> {
    let project: string | undefined;
    do {
      const range = ranges.webhookDueAfter(project);
      project = undefined;
      const entries = this.db.reader.list(range, { limit: 1, batchSize: 1 });
      for await (const { key } of entries) project = String(key[1]);
      if (project !== undefined) yield project;
    } while (project !== undefined);
  }

  /** Returns drives of a project that are due, from one on, and whether there are more. */
  async dueDrives(project: string, from: string): Promise<{ drives: DueDrive[]; more: boolean }> {
    const range = ranges.webhookDue(project, from);
    const entries = this.db.reader.list(range, { limit: MAX_DUE });
    const drives = await Array.fromAsync(
      entries,
      ({ key, versionstamp: stamp }) => ({ drive: String(key[2]), stamp }),
    );
    return { drives, more: drives.length === MAX_DUE };
  }

  /** Returns the enabled webhooks of a project. */
  async webhooksOf(project: string): Promise<Omit<Webhook, "state">[]> {
    const range = { prefix: prefixes.all("webhook", project) };
    const entries = await Array.fromAsync(this.db.reader.list<WebhookRecord>(range));
    return entries.filter(({ value }) => value.disabled === undefined)
      .map(({ key, value: record, versionstamp }) => ({
        project,
        id: String(key[2]),
        versionstamp,
        record,
      }));
  }

  async read(project: string, id: string): Promise<Webhook | undefined> {
    return await readWebhook(this.db, project, id);
  }

  /** Notes all drives of a project as due, for a webhook that was enabled or got other drives. */
  async search({ project, id }: Pick<Webhook, "project" | "id">): Promise<void> {
    let noted = new Operation();
    let size = 0;
    for await (const drive of this.changes.drivesOf(project)) {
      noted.sum(keys.webhookDue(project, drive), 1);
      if (++size < BATCH) continue;
      await this.db.commitBulk(noted);
      [noted, size] = [new Operation(), 0];
    }
    if (size > 0) await this.db.commitBulk(noted);
    await transact(this.db, async () => {
      const { key, value, versionstamp } = await this.db.reader.get<WebhookRecord>(
        keys.webhook(project, id),
      );
      if (value?.searching === undefined) return { result: undefined };
      const { searching: _, ...record } = value;
      const operation = new Operation().check(key, versionstamp);
      return {
        operation: operation.set(key, { ...record, since: record.since ?? versionstamp }),
        result: undefined,
      };
    });
  }

  /** Reads the next changes of a drive. A delivery that failed has the same ones again. */
  async next(webhook: Webhook, drive: string): Promise<Batch> {
    const { project, id, record: { namePrefix: prefix = "", types }, state: { failing } } = webhook;
    // What is due first: a change that is not seen below changes it.
    const [due, cursor] = await this.db.reader.getMany<[Deno.KvU64, Position]>([
      keys.webhookDue(project, drive),
      keys.webhookCursor(project, id, drive),
    ]);
    const after = cursor.value ?? startOf(webhook);
    const isRetry = failing?.pending?.drive === drive &&
      comparePositions(failing.pending.to, after) > 0;
    const until = isRetry ? failing.pending?.to : undefined;
    const query = { project, drive, prefix, types, after, until };
    const found = await this.changes.after({ ...query, limit: MAX_CHANGES, maxBytes: MAX_BYTES });
    return {
      webhook,
      drive,
      ...found,
      more: found.more || isRetry,
      cursor: cursor.versionstamp,
      due: due.versionstamp,
    };
  }

  /**
   * Moves the cursor to the end of a batch, which was accepted or has no changes. The drive is no longer due if no webhook
   * has more to tell of it.
   *
   * @param delivery Absent if there were no changes.
   */
  async finish(batch: Batch, delivery?: DeliveryRecord): Promise<void> {
    const { webhook: { project, id, versionstamp }, drive } = batch;
    await transact(this.db, async () => {
      const [entry, stored, cursor, due] = await this.db.reader.getMany<
        [WebhookRecord, WebhookState, Position, Deno.KvU64]
      >([
        keys.webhook(project, id),
        keys.webhookState(project, id),
        keys.webhookCursor(project, id, drive),
        keys.webhookDue(project, drive),
      ]);
      // It was deleted, or another process has delivered meanwhile.
      if (entry.value === null || cursor.versionstamp !== batch.cursor) {
        return { result: undefined };
      }
      const operation = new Operation().unchanged(entry, cursor)
        .set(cursor.key, endOf(batch));
      const state = stored.value ?? NO_DELIVERIES;
      const after = stateAfter(state, batch, delivery);
      if (after !== state) operation.unchanged(stored).set(stored.key, after);
      const isSettled = !batch.more && due.versionstamp !== null &&
        due.versionstamp === batch.due &&
        versionstamp === entry.versionstamp &&
        await this.#areDone(project, drive, due.versionstamp, id);
      if (isSettled) operation.unchanged(due).delete(due.key);
      return { operation, result: undefined };
    });
  }

  /** Forgets that a drive is due, if that is so for no webhook. */
  async settle(project: string, { drive, stamp }: DueDrive): Promise<void> {
    if (!await this.#areDone(project, drive, stamp)) return;
    const due = keys.webhookDue(project, drive);
    // A change that was made meanwhile keeps it.
    await this.db.commit(new Operation().check(due, stamp).delete(due));
  }

  /**
   * Records that a delivery failed: it is tried again later, unless the receiver is gone or has failed for too long. Returns
   * why the webhook was disabled, if it was.
   */
  async fail(
    { webhook: { project, id, versionstamp }, drive, position: to }: Batch,
    delivery: DeliveryRecord,
    isGone: boolean,
  ): Promise<WebhookEnd["reason"]> {
    return await transact(this.db, async () => {
      const [owner, entry, stored] = await this.db.reader.getMany<
        [ProjectRecord, WebhookRecord, WebhookState]
      >([keys.project(project), keys.webhook(project, id), keys.webhookState(project, id)]);
      if (owner.value === null || entry.value === null) return { result: undefined };
      const { at: now } = delivery;
      const before = stored.value ?? NO_DELIVERIES;
      const operation = new Operation().unchanged(entry, stored);
      // It was changed meanwhile: the failure is one of what it was.
      if (entry.versionstamp !== versionstamp) {
        operation.set(stored.key, withDelivery(before, delivery));
        return { operation, result: undefined };
      }
      const { since = now, attempts: earlier = 0 } = before.failing ?? {};
      const attempts = earlier + 1;
      const next = Date.now() + pauseAfter(attempts);
      const failing = { since, attempts, next, pending: { drive, to } };
      operation.set(stored.key, { ...withDelivery(before, delivery), failing });
      const reason = isGone ? "gone" : now - since >= RETRY_TIME ? "failing" : undefined;
      if (reason === undefined) return { operation, result: undefined };
      const record = entry.value;
      operation.unchanged(owner).set(entry.key, {
        ...record,
        since: record.since ?? entry.versionstamp,
        disabled: { at: now, reason },
      });
      const event = { event: "webhook.disabled", project, target: record.name } as const;
      this.events.record(operation, SERVER, event);
      return { operation, result: reason };
    });
  }

  /** Whether all webhooks of a project, but one, have told of everything up to a change. */
  async #areDone(project: string, drive: string, stamp: string, except = ""): Promise<boolean> {
    const all = await this.webhooksOf(project);
    const others = all.filter(({ id, record }) => id !== except && tellsOf(record, drive));
    // A drive that may be new to a webhook stays due until that was looked for.
    if (all.some(({ record }) => record.searching)) return false;
    for (const { id } of others) {
      const cursor = await this.db.reader.get<Position>(keys.webhookCursor(project, id, drive));
      if (cursor.value === null || cursor.value.stamp < stamp) return false;
    }
    return true;
  }
}

/** Where the cursor stands after a batch. Without more changes, that is the newest one, whatever the webhook leaves out. */
function endOf({ position, more, due }: Batch): Position {
  const newest = { stamp: due ?? "", index: LAST_INDEX };
  return !more && comparePositions(position, newest) < 0 ? newest : position;
}

function stateAfter(
  state: WebhookState,
  { drive, hasGap }: Batch,
  delivery: DeliveryRecord | undefined,
): WebhookState {
  const { failing, ...rest } = delivery === undefined ? state : withDelivery(state, delivery);
  const after = hasGap ? { ...rest, missed: Date.now() } : rest;
  if (delivery !== undefined || failing === undefined) {
    return delivery === undefined && !hasGap ? state : after;
  }
  const { pending, ...others } = failing;
  if (pending?.drive !== drive) return hasGap ? { ...after, failing } : state;
  // There is nothing left of what failed.
  return { ...after, failing: others };
}

function withDelivery(state: WebhookState, delivery: DeliveryRecord): WebhookState {
  return { ...state, deliveries: [delivery, ...state.deliveries].slice(0, KEPT_DELIVERIES) };
}

/** How often the lease is renewed, or looked at, in milliseconds. */
export const LEASE_INTERVAL = 4 * SECOND;

/**
 * How long the lease of another process must not have changed before it is taken over, in milliseconds: "another takes over
 * within 30 s when the one that delivers dies".
 */
const LEASE_TIME = 12 * SECOND;

/**
 * Makes one of the processes on a store deliver. Its entry changes with each renewal, and others watch that on their own
 * monotonic clocks, so no two clocks are compared. A process that was stopped for longer than the lease may deliver once
 * more what another one delivers; the cursors then tell which of the two counts.
 */
export class WebhookLease {
  /** The versionstamp that this process has given to the entry; `undefined` while another one holds it. */
  #own: string | undefined;
  #renewed = -Infinity;
  /** What was seen last, and since when. */
  #seen: { versionstamp: string | null; since: number } = { versionstamp: null, since: -Infinity };

  constructor(private readonly db: Database, private readonly clock = () => performance.now()) {}

  /** Whether this process holds the lease. */
  get isHeld(): boolean {
    return this.#own !== undefined && this.clock() - this.#renewed < LEASE_TIME;
  }

  /** Renews the lease, or takes it if it is free. Returns whether this process holds it. */
  async hold(): Promise<boolean> {
    const now = this.clock();
    const { key, versionstamp } = await this.db.reader.get(keys.webhookLease());
    if (versionstamp !== this.#seen.versionstamp) this.#seen = { versionstamp, since: now };
    const isOwn = versionstamp !== null && versionstamp === this.#own;
    const isFree = versionstamp === null || now - this.#seen.since >= LEASE_TIME;
    if (!isOwn && !isFree) {
      this.#own = undefined;
      return false;
    }
    const outcome = await this.db.commit(new Operation().check(key, versionstamp).set(key, true));
    this.#own = outcome.ok ? outcome.versionstamp : undefined;
    if (outcome.ok) this.#renewed = now;
    return this.isHeld;
  }

  /** Lets another process take over at once. */
  async release(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    const key = keys.webhookLease();
    await this.db.commit(new Operation().check(key, own).delete(key));
  }
}
