/**
 * The webhooks of projects, as their owners see them: what they are, and what became of their deliveries.
 *
 * A webhook is a record, and a state that every delivery changes. For each drive that it has told of, a cursor has the
 * position of the last change; a drive without one begins with the commit that created the webhook. `DeliveryQueue` has
 * what is to be delivered.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { ulid } from "@std/ulid";
import { type Actor, COMMAND_LINE, type EventLog } from "../accounts/events.ts";
import type { ChangeFeed } from "../changes/change_feed.ts";
import { LAST_INDEX, type Position } from "../changes/cursor.ts";
import type { Database } from "../engine/database.ts";
import { ChangesOff, NoSuchProject, TooManyWebhooks } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type {
  ProjectRecord,
  WebhookFilters,
  WebhookRecord,
  WebhookState,
} from "../engine/records.ts";
import { deleteAll, transact } from "../engine/transact.ts";

/** Webhooks of a project: each is looked at for every change. */
export const MAX_WEBHOOKS = 20;

/** The changes that are counted as pending, at most. */
export const MAX_PENDING = 1000;

/** Random bytes of a secret: "between 24 bytes and 64 bytes" (Standard Webhooks). */
const SECRET_BYTES = 32;

const ID = /^[0-9A-Z]{26}$/;

export const NO_DELIVERIES: WebhookState = { deliveries: [] };

export interface Webhook {
  project: string;
  id: string;
  /** Of the record. */
  versionstamp: string;
  record: WebhookRecord;
  state: WebhookState;
}

export interface NewWebhook extends WebhookFilters {
  name: string;
  url: string;
}

/** What can be changed. `null` removes a filter. */
export interface WebhookChanges {
  name?: string | undefined;
  url?: string | undefined;
  drives?: readonly string[] | null | undefined;
  namePrefix?: string | null | undefined;
  types?: WebhookFilters["types"] | null;
  enabled?: boolean | undefined;
}

/** The webhooks of all projects together. */
export interface WebhookSummary {
  enabled: number;
  /** Those of the enabled ones whose receivers fail. */
  failing: number;
  /** Those that the server disabled. */
  ended: { project: string; name: string }[];
}

export interface WebhookDeps {
  projects: ProjectCache;
  events: EventLog;
  changes: ChangeFeed;
}

export class WebhookStore {
  /** Called after a webhook of this process was created, changed or deleted. */
  onChanged: () => void = () => {};

  constructor(private readonly db: Database, private readonly deps: WebhookDeps) {}

  /**
   * Creates a webhook.
   *
   * @throws {NoSuchProject}
   * @throws {ChangesOff} if the project keeps no changes.
   * @throws {TooManyWebhooks}
   */
  async create(
    project: string,
    wanted: NewWebhook,
    actor: Actor = COMMAND_LINE,
  ): Promise<Webhook> {
    const id = ulid();
    const secret = randomBytes(SECRET_BYTES).toString("base64");
    const record: WebhookRecord = { ...wanted, secret, created: Date.now() };
    await transact(this.db, async () => {
      const owner = await this.#owner(project);
      const { webhooks = 0 } = owner.value;
      if (webhooks >= MAX_WEBHOOKS) throw new TooManyWebhooks(MAX_WEBHOOKS);
      const operation = new Operation().unchanged(owner)
        .set(owner.key, { ...owner.value, webhooks: webhooks + 1 })
        .set(keys.webhook(project, id), record);
      const event = { event: "webhook.created", project, target: wanted.name } as const;
      this.deps.events.record(operation, actor, event);
      return { operation, result: undefined };
    });
    this.deps.projects.forget(project);
    this.onChanged();
    return { project, id, versionstamp: "", record, state: NO_DELIVERIES };
  }

  /** Returns the webhooks of a project, the oldest first. */
  async list(project: string): Promise<Webhook[]> {
    const { reader } = this.db;
    const entries = await Array.fromAsync(
      reader.list<WebhookRecord>({ prefix: prefixes.all("webhook", project) }),
    );
    return await Promise.all(entries.map(async ({ key, value, versionstamp }) => {
      const id = String(key[2]);
      const { value: state } = await reader.get<WebhookState>(keys.webhookState(project, id));
      return { project, id, versionstamp, record: value, state: state ?? NO_DELIVERIES };
    }));
  }

  async get(project: string, id: string): Promise<Webhook | undefined> {
    if (!ID.test(id)) return undefined;
    return await readWebhook(this.db, project, id);
  }

  /**
   * Changes a webhook. Enabling it, or giving it another address, makes it forget earlier failures. Returns `undefined` if
   * there is none with this id.
   *
   * @throws {NoSuchProject}
   * @throws {ChangesOff} if the project keeps no changes.
   */
  async update(
    project: string,
    id: string,
    changes: WebhookChanges,
    actor: Actor = COMMAND_LINE,
  ): Promise<Webhook | undefined> {
    if (!ID.test(id)) return undefined;
    const isChanged = await transact(this.db, async () => {
      const owner = await this.#owner(project);
      const [entry, stored] = await this.db.reader.getMany<[WebhookRecord, WebhookState]>([
        keys.webhook(project, id),
        keys.webhookState(project, id),
      ]);
      if (entry.value === null) return { result: false };
      const before = entry.value;
      const record = changed({ ...before, since: before.since ?? entry.versionstamp }, changes);
      const operation = new Operation().unchanged(owner, entry, stored)
        .set(entry.key, record);
      const isReset = changes.enabled === true || record.url !== before.url;
      const { failing, missed, ...rest } = stored.value ?? NO_DELIVERIES;
      const isNoted = failing !== undefined || missed !== undefined;
      if (isReset && isNoted) operation.set(stored.key, rest);
      const isEnded = before.disabled === undefined && record.disabled !== undefined;
      const event = isEnded ? "webhook.disabled" as const : "webhook.changed" as const;
      this.deps.events.record(operation, actor, { event, project, target: record.name });
      return { operation, result: true };
    });
    if (!isChanged) return undefined;
    this.onChanged();
    return await this.get(project, id);
  }

  /** Deletes a webhook. Returns whether the project had one with this id. */
  async delete(project: string, id: string, actor: Actor = COMMAND_LINE): Promise<boolean> {
    if (!ID.test(id)) return false;
    const isDeleted = await transact(this.db, async () => {
      const [owner, entry] = await this.db.reader.getMany<[ProjectRecord, WebhookRecord]>([
        keys.project(project),
        keys.webhook(project, id),
      ]);
      if (owner.value === null || entry.value === null) return { result: false };
      const { webhooks = 0, ...others } = owner.value;
      const left = Math.max(0, webhooks - 1);
      const operation = new Operation().unchanged(owner, entry)
        .set(owner.key, left === 0 ? others : { ...others, webhooks: left })
        .delete(entry.key)
        .delete(keys.webhookState(project, id));
      const event = { event: "webhook.deleted", project, target: entry.value.name } as const;
      this.deps.events.record(operation, actor, event);
      return { operation, result: true };
    });
    if (!isDeleted) return false;
    this.deps.projects.forget(project);
    await this.#deleteCursors(project, id);
    this.onChanged();
    return true;
  }

  /** Deletes what webhooks that were deleted have left, if that was interrupted. */
  async sweep(): Promise<void> {
    const known = new Map<string, boolean>();
    const cursors = this.db.reader.list({ prefix: prefixes.all("webhook_cursor") });
    for await (const { key } of cursors) {
      const [, project = "", id = ""] = key.map(String);
      const path = `${project}/${id}`;
      if (known.has(path)) continue;
      known.clear();
      const { versionstamp } = await this.db.reader.get(keys.webhook(project, id));
      known.set(path, true);
      if (versionstamp === null) await this.#deleteCursors(project, id);
    }
  }

  /** Returns how many changes a webhook has not delivered, at most `MAX_PENDING`. */
  async countPending(webhook: Webhook): Promise<number> {
    const { project, id, record: { namePrefix: prefix = "", types } } = webhook;
    let count = 0;
    let drives = 0;
    for await (const drive of this.#drivesOf(webhook)) {
      if (count >= MAX_PENDING || ++drives > MAX_PENDING) break;
      const cursor = await this.db.reader.get<Position>(keys.webhookCursor(project, id, drive));
      const after = cursor.value ?? startOf(webhook);
      const limit = MAX_PENDING - count;
      const page = { project, drive, prefix, types, after, limit, maxBytes: Infinity };
      count += (await this.deps.changes.after(page)).changes.length;
    }
    return count;
  }

  async summary(): Promise<WebhookSummary> {
    const summary: WebhookSummary = { enabled: 0, failing: 0, ended: [] };
    const enabled = new Set<string>();
    const { reader } = this.db;
    const records = reader.list<WebhookRecord>({ prefix: prefixes.all("webhook") });
    for await (const { key, value: { disabled, name } } of records) {
      if (disabled === undefined) enabled.add(String(key[2]));
      else if (disabled.reason !== undefined) {
        summary.ended.push({ project: String(key[1]), name });
      }
    }
    summary.enabled = enabled.size;
    if (enabled.size === 0) return summary;
    const states = reader.list<WebhookState>({ prefix: prefixes.all("webhook_state") });
    for await (const { key, value: { failing } } of states) {
      if (failing !== undefined && enabled.has(String(key[2]))) summary.failing++;
    }
    return summary;
  }

  /** The drives that a webhook may have to tell of. A disabled one is not among those for which they are noted. */
  async *#drivesOf({ project, record }: Webhook): AsyncGenerator<string> {
    if (record.disabled !== undefined || record.searching) {
      for await (const drive of this.deps.changes.drivesOf(project)) {
        if (tellsOf(record, drive)) yield drive;
      }
      return;
    }
    for await (const { key } of this.db.reader.list(ranges.webhookDue(project, ""))) {
      const drive = String(key[2]);
      if (tellsOf(record, drive)) yield drive;
    }
  }

  async #deleteCursors(project: string, id: string): Promise<void> {
    const prefix = prefixes.all("webhook_cursor", project, id);
    await deleteAll(this.db, this.db.reader.list({ prefix }, { unreadable: true }));
  }

  /** @throws {NoSuchProject} @throws {ChangesOff} */
  async #owner(project: string): Promise<Deno.KvEntry<ProjectRecord>> {
    const owner = await this.db.reader.get<ProjectRecord>(keys.project(project));
    if (owner.value === null) throw new NoSuchProject(project);
    if (owner.value.feed === undefined) throw new ChangesOff();
    return owner;
  }
}

/** Returns a webhook with its state. */
export async function readWebhook(
  db: Database,
  project: string,
  id: string,
): Promise<Webhook | undefined> {
  const [entry, state] = await db.reader.getMany<[WebhookRecord, WebhookState]>([
    keys.webhook(project, id),
    keys.webhookState(project, id),
  ]);
  if (entry.value === null) return undefined;
  const { value: record, versionstamp } = entry;
  return { project, id, versionstamp, record, state: state.value ?? NO_DELIVERIES };
}

export function tellsOf({ drives }: WebhookFilters, drive: string): boolean {
  return drives === undefined || drives.includes(drive);
}

/** Where a webhook begins in a drive of which it has not told yet: after the commit that created it. */
export function startOf({ record, versionstamp }: Webhook): Position {
  return { stamp: record.since ?? versionstamp, index: LAST_INDEX };
}

function changed(
  record: WebhookRecord,
  { name, url, drives, namePrefix, types, enabled }: WebhookChanges,
): WebhookRecord {
  const after = { ...record };
  if (name !== undefined) after.name = name;
  if (url !== undefined) after.url = url;
  if (drives === null) delete after.drives;
  else if (drives !== undefined) after.drives = drives;
  if (namePrefix === null) delete after.namePrefix;
  else if (namePrefix !== undefined) after.namePrefix = namePrefix;
  if (types === null) delete after.types;
  else if (types !== undefined) after.types = types;
  if (enabled === false) after.disabled ??= { at: Date.now() };
  const isEnabled = enabled === true && record.disabled !== undefined;
  if (enabled === true) delete after.disabled;
  // Drives were noted only for what it was.
  if (isEnabled || drives !== undefined) after.searching = true;
  return after;
}
