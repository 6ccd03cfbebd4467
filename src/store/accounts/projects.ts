import { randomBytes } from "node:crypto";
import { hashSecret, keyPrefix, newProjectKey, type ProjectKey } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { AlreadyExists, BeingDeleted } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { DeletionMarker, ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { isPresent } from "../files/file_record.ts";
import { emptyInBackground } from "../files/trash.ts";
import type { ProjectUsage } from "../quotas/usage.ts";
import type { KvReader } from "../reads/read_queue.ts";
import type { Deletions } from "./deletions.ts";
import { type Actor, COMMAND_LINE, type EventLog, type NewEvent } from "./events.ts";
import { addKey, deleteKey, opens } from "./key_entries.ts";
import { freePrefix, PROJECT_KEYS } from "./project_keys.ts";
import type { Revocations } from "./revocations.ts";

/**
 * Drives of one project that may be in deletion at a time. Their names are part of the project's record, which every
 * request needs.
 */
export const MAX_DELETING_DRIVES = 100;

/** Bytes of the secret of a project's feeds, from which the key of their cursors is derived. */
const FEED_SECRET_BYTES = 16;

export type ProjectInfo =
  & { project: string }
  & Omit<ProjectRecord, "removing" | "feed" | "webhooks">;

export type UsedProject = ProjectInfo & ProjectUsage;

/** Settings of a project that can be changed. `null` removes a setting. */
export interface ProjectChanges {
  name?: string | null | undefined;
  maxBytes?: number | null | undefined;
  maxFiles?: number | null | undefined;
  hostSuffix?: string | null | undefined;
  /** 0 turns the trash off and empties it in the background. */
  trashDays?: number | undefined;
  /** 0 turns the feeds of changes off, and what they have is deleted in the background. */
  changeDays?: number | undefined;
}

export type ProjectSettings = Pick<
  ProjectChanges,
  "name" | "maxBytes" | "maxFiles" | "trashDays"
>;

/** The outcome of deleting a drive that must be empty. */
export type EmptyDriveDeletion = "deleted" | "absent" | "not empty";

export class ProjectStore {
  /** @param wake Wakes the sweeper, which finishes deletions and empties the trash. */
  constructor(
    private readonly db: Database,
    private readonly cache: ProjectCache,
    private readonly revocations: Revocations,
    private readonly deletions: Deletions,
    private readonly events: EventLog,
    private readonly wake: () => void,
  ) {}

  /** Returns whether there is no project. */
  async isEmpty(): Promise<boolean> {
    for await (const _ of this.db.reader.list({ prefix: prefixes.all("project") }, { limit: 1 })) {
      return false;
    }
    return true;
  }

  /**
   * Creates a project and a key that opens it, unless they exist. An expired key is replaced by one without limits. A
   * deletion of the project is finished first.
   *
   * @param settings Those of a project that is created.
   */
  async ensure(project: string, key: ProjectKey, settings: ProjectSettings = {}): Promise<void> {
    const hash = hashSecret(key.text);
    await transact(this.db, async () => {
      const [owner, deletion, stored] = await this.db.reader.getMany<
        [ProjectRecord, DeletionMarker, ProjectKeyRecord]
      >([keys.project(project), keys.projectDeletion(project), keys.projectKey(hash)]);
      if (deletion.value !== null) {
        await this.deletions.run(deletion.key);
        return undefined;
      }
      if (stored.value !== null && !opens(stored.value, project)) {
        const expiry = new Operation().unchanged(stored);
        deleteKey(expiry, PROJECT_KEYS, hash, stored.value);
        await this.db.commit(expiry);
        return undefined;
      }
      if (owner.value !== null && stored.value !== null) return { result: undefined };
      const created = Date.now();
      const operation = new Operation().unchanged(owner)
        .check(deletion.key, null)
        .unchanged(stored);
      if (owner.value === null) {
        operation.set(owner.key, changed({ created }, settings));
        this.events.record(operation, COMMAND_LINE, { event: "project.created", project });
      }
      if (stored.value === null) {
        const prefix = await freePrefix(this.db, project, hash, keyPrefix(key));
        addKey(operation, PROJECT_KEYS, hash, { project, created, prefix });
        const event = { event: "key.created", project, target: prefix } as const;
        this.events.record(operation, COMMAND_LINE, event);
      }
      return { operation, result: undefined };
    });
    this.cache.forget(project);
  }

  /**
   * Creates a project and its first key, which cannot be read again.
   *
   * @param project Its id; a random one unless given.
   * @param settings Its limits and its trash; none unless given.
   * @throws {AlreadyExists} if there is a project with this id.
   * @throws {BeingDeleted} while a project with this id is being deleted.
   */
  async create(
    project: string | undefined,
    name: string | undefined,
    settings: ProjectSettings = {},
    actor: Actor = COMMAND_LINE,
  ): Promise<{ info: ProjectInfo; key: ProjectKey }> {
    const made = await transact(this.db, async () => {
      const key = newProjectKey(project);
      const id = key.project;
      const [owner, deletion] = await this.db.reader.getMany<[ProjectRecord, DeletionMarker]>([
        keys.project(id),
        keys.projectDeletion(id),
      ]);
      if (project === undefined && (owner.value ?? deletion.value) !== null) return undefined;
      if (owner.value !== null) throw new AlreadyExists("project", id);
      if (deletion.value !== null) throw new BeingDeleted("project", id);
      const created = Date.now();
      const record = changed({ created }, { ...settings, name });
      const operation = new Operation().check(owner.key, null)
        .check(deletion.key, null)
        .set(owner.key, record);
      const prefix = keyPrefix(key);
      addKey(operation, PROJECT_KEYS, hashSecret(key.text), { project: id, created, prefix });
      this.events.record(operation, actor, { event: "project.created", project: id });
      this.events.record(operation, actor, { event: "key.created", project: id, target: prefix });
      return { operation, result: { info: infoOf(id, record), key } };
    });
    this.cache.forget(made.info.project);
    return made;
  }

  /** Returns all projects in the order of their ids. */
  async list(): Promise<ProjectInfo[]> {
    const entries = this.db.reader.list<ProjectRecord>({ prefix: prefixes.all("project") });
    return await Array.fromAsync(entries, ({ key, value }) => infoOf(String(key.at(-1)), value));
  }

  /** Returns a project, or `undefined` if there is none with this id. */
  async get(project: string): Promise<ProjectInfo | undefined> {
    const { value } = await this.db.reader.get<ProjectRecord>(keys.project(project));
    return value === null ? undefined : infoOf(project, value);
  }

  /**
   * Changes the given settings. Returns the project, or `undefined` if there is none with this id.
   *
   * A limit below the present use keeps the files and refuses growth. A host that the owner chose below the earlier
   * suffix no longer counts: see `AppStore`.
   */
  async update(
    project: string,
    changes: ProjectChanges,
    actor: Actor = COMMAND_LINE,
  ): Promise<ProjectInfo | undefined> {
    const info = await transact(this.db, async () => {
      const owner = await this.db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const record = changed(owner.value, changes);
      const operation = new Operation().unchanged(owner);
      operation.set(owner.key, record);
      if (owner.value.trashDays !== undefined && record.trashDays === undefined) {
        emptyInBackground(operation, project);
      }
      for (const event of changeEvents(owner.value, record)) {
        this.events.record(operation, actor, { ...event, project });
      }
      return { operation, result: infoOf(project, record) };
    });
    this.cache.forget(project);
    if (info !== undefined && changes.hostSuffix !== undefined) this.revocations.notify();
    if (changes.trashDays === 0) this.wake();
    return info;
  }

  /**
   * Deletes a project: every caller is refused from now on, and all that belongs to it is deleted in the background.
   * Returns whether there was one with this id.
   */
  async delete(project: string, actor: Actor = COMMAND_LINE): Promise<boolean> {
    const isDeleted = await transact(this.db, async () => {
      const owner = await this.db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: false };
      const marker: DeletionMarker = { kind: "project", since: Date.now() };
      const operation = new Operation().unchanged(owner)
        .delete(owner.key)
        .set(keys.projectDeletion(project), marker);
      this.events.record(operation, actor, { event: "project.deleted", project });
      return { operation, result: true };
    });
    if (isDeleted) this.#notifyDeletion(project);
    return isDeleted;
  }

  /**
   * Deletes a drive in the same way. Returns whether there was one; a drive that is being deleted counts.
   *
   * @throws {BeingDeleted} if `MAX_DELETING_DRIVES` other drives are being deleted.
   */
  async deleteDrive(
    project: string,
    drive: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<boolean> {
    const outcome = await this.#hideDrive(project, drive, actor);
    if (outcome === "absent") return false;
    this.#notifyDeletion(project);
    // From now on it counts nowhere, also if there is much to delete.
    await this.deletions.discount(project, drive);
    return true;
  }

  /** Returns whether there is a drive with this name. It is one read. */
  async hasDrive(project: string, drive: string): Promise<boolean> {
    if (await this.cache.isHidden({ project, drive })) return false;
    return await this.cache.hasDrive({ project, drive });
  }

  /**
   * Creates an empty drive unless there is one with this name.
   *
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async createDrive(project: string, drive: string): Promise<"created" | "exists"> {
    const counter = keys.usage(project, drive, "files");
    let tries = 0;
    return await transact<"created" | "exists">(this.db, async () => {
      if (tries++ > 0) this.cache.forget(project);
      const { unchanged } = await this.cache.requireWritable({ project, drive });
      const [files] = await this.db.reads.get<[Deno.KvU64]>([counter]);
      if (files.versionstamp !== null) return { result: "exists" };
      const operation = new Operation().share(unchanged).check(counter, null).sum(counter, 0);
      return { operation, result: "created" };
    });
  }

  /**
   * Deletes a drive unless it has a file, a folder, or a file in the trash. Its open uploads end, and its name is free
   * afterwards. Every new file, folder or upload changes the counter of the drive's files, which the operation checks: a
   * write of another process is committed before and prevents the deletion, or it is refused.
   *
   * @throws {BeingDeleted} if `MAX_DELETING_DRIVES` other drives are being deleted.
   */
  async deleteEmptyDrive(
    project: string,
    drive: string,
    actor: Actor = COMMAND_LINE,
  ): Promise<EmptyDriveDeletion> {
    const isEmpty = () => isEmptyDrive(this.db.reader, project, drive);
    const outcome = await this.#hideDrive(project, drive, actor, isEmpty);
    if (outcome === "being deleted") return "absent";
    if (outcome === "deleted") {
      this.#notifyDeletion(project);
      // There is little to delete. If it fails, the sweeper continues.
      await this.deletions.run(keys.driveDeletion(project, drive)).catch(() => {});
    }
    return outcome;
  }

  /**
   * Hides a drive and adds the marker of its deletion, in one operation.
   *
   * @param isEmpty If given, decides whether the drive is deleted. The operation fails if a file or folder is added
   *   after that, as each one changes the counter of files.
   */
  async #hideDrive(
    project: string,
    drive: string,
    actor: Actor,
    isEmpty?: () => Promise<boolean>,
  ): Promise<EmptyDriveDeletion | "being deleted"> {
    return await transact<EmptyDriveDeletion | "being deleted">(this.db, async () => {
      const [owner, files] = await this.db.reader.getMany<[ProjectRecord, Deno.KvU64]>([
        keys.project(project),
        keys.usage(project, drive, "files"),
      ]);
      if (owner.value === null) return { result: "absent" };
      const { removing = [] } = owner.value;
      if (removing.includes(drive)) return { result: "being deleted" };
      if (files.value === null) return { result: "absent" };
      if (isEmpty !== undefined && !await isEmpty()) return { result: "not empty" };
      const [first = drive] = removing;
      if (removing.length >= MAX_DELETING_DRIVES) throw new BeingDeleted("drive", first);
      const record: ProjectRecord = { ...owner.value, removing: [...removing, drive] };
      const marker: DeletionMarker = { kind: "drive", since: Date.now() };
      const operation = new Operation().unchanged(owner)
        .set(keys.driveDeletion(project, drive), marker);
      if (isEmpty !== undefined) operation.unchanged(files);
      operation.set(owner.key, record);
      this.events.record(operation, actor, { event: "drive.deleted", project, target: drive });
      return { operation, result: "deleted" };
    });
  }

  #notifyDeletion(project: string): void {
    this.cache.forget(project);
    this.revocations.notify();
    this.wake();
  }
}

function changed(
  record: ProjectRecord,
  { name, maxBytes, maxFiles, hostSuffix, trashDays, changeDays }: ProjectChanges,
): ProjectRecord {
  const after = { ...record };
  if (name === null) delete after.name;
  else if (name !== undefined) after.name = name;
  if (maxBytes === null) delete after.maxBytes;
  else if (maxBytes !== undefined) after.maxBytes = maxBytes;
  if (maxFiles === null) delete after.maxFiles;
  else if (maxFiles !== undefined) after.maxFiles = maxFiles;
  if (hostSuffix === null) delete after.hostSuffix;
  else if (hostSuffix !== undefined) after.hostSuffix = hostSuffix;
  if (trashDays === 0) delete after.trashDays;
  else if (trashDays !== undefined) after.trashDays = trashDays;
  if (changeDays === 0) {
    delete after.changeDays;
    delete after.feed;
  } else if (changeDays !== undefined) {
    after.changeDays = changeDays;
    after.feed ??= randomBytes(FEED_SECRET_BYTES).toString("base64url");
  }
  return after;
}

/** Yields an event for each setting that differs, with its name and new value as the API writes them. */
function* changeEvents(before: ProjectRecord, after: ProjectRecord): Generator<NewEvent> {
  for (const { field, event, name, unset } of SETTINGS) {
    const value = after[field];
    if (value !== before[field]) yield { event, target: `${name}=${value ?? unset}` };
  }
}

/** The settings that can be changed: the event of a change, the name in the API, and the value there of one that is unset. */
const SETTINGS = [
  { field: "name", event: "project.renamed", name: "name", unset: null },
  { field: "maxBytes", event: "quota.changed", name: "max_bytes", unset: null },
  { field: "maxFiles", event: "quota.changed", name: "max_files", unset: null },
  { field: "trashDays", event: "trash.changed", name: "trash_days", unset: 0 },
  { field: "changeDays", event: "changes.changed", name: "change_days", unset: 0 },
  { field: "hostSuffix", event: "host_suffix.changed", name: "host_suffix", unset: null },
] as const;

/** Returns whether a drive has nothing that callers can see or restore. Open uploads do not count. */
async function isEmptyDrive(reader: KvReader, project: string, drive: string): Promise<boolean> {
  const now = Date.now();
  for (const kind of ["file", "trash", "folder"] as const) {
    const entries = reader.list<{ expires?: number }>({
      prefix: prefixes.all(kind, project, drive),
    }, { batchSize: 10 });
    // Expired items are only waiting for the sweeper.
    for await (const { value } of entries) if (isPresent(value, now)) return false;
  }
  return true;
}

function infoOf(
  project: string,
  { removing: _, feed: _feed, webhooks: _webhooks, ...record }: ProjectRecord,
): ProjectInfo {
  return { project, ...record };
}
