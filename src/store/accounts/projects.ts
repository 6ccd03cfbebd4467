import { timingSafeEqual } from "node:crypto";
import { hashSecret, keyPrefix, newProjectKey, type ProjectKey } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { AlreadyExists, BeingDeleted } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type ProjectCache, setProjectRecord } from "../engine/project_cache.ts";
import type { DeletionMarker, ProjectKeyRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import type { Deletions } from "./deletions.ts";
import { freePrefix, setKey } from "./project_keys.ts";
import type { Revocations } from "./revocations.ts";

/** Drives of one project that are being removed at once: their names are in its record, which every request needs. */
export const MAX_DELETING_DRIVES = 100;

export interface ProjectInfo {
  project: string;
  name?: string;
  /** Milliseconds since 1970. */
  created: number;
  /** How many bytes its files may have together, if that is limited. */
  maxBytes?: number;
  /** The domain below which its owner may choose host names for applications, if there is one. */
  hostSuffix?: string;
}

/** What of a project can be changed. `null` takes away. */
export interface ProjectChanges {
  maxBytes?: number | null | undefined;
  hostSuffix?: string | null | undefined;
}

/** The projects and the administrator's token, of which it knows only the SHA-256. */
export class ProjectStore {
  readonly #db: Database;
  readonly #known: ProjectCache;
  readonly #revocations: Revocations;
  readonly #remover: Deletions;
  readonly #wake: () => void;
  readonly #adminToken: TtlCache<string>;

  /** @param wake Called when there is something to be removed in the background. */
  constructor(
    db: Database,
    known: ProjectCache,
    revocations: Revocations,
    remover: Deletions,
    wake: () => void,
  ) {
    this.#db = db;
    this.#known = known;
    this.#revocations = revocations;
    this.#remover = remover;
    this.#wake = wake;
    this.#adminToken = new TtlCache(() => this.#readAdminToken());
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.#db.reader.list({ prefix: prefixes.projects() }, { limit: 1 })) {
      return false;
    }
    return true;
  }

  /** Makes sure that a project exists and that the key opens it. Where it is being removed, that is finished before. */
  async ensure(project: string, key: ProjectKey): Promise<void> {
    const hash = hashSecret(key.text);
    await transact(this.#db, async () => {
      const [owner, removal, stored] = await this.#db.reader.getMany<
        [ProjectRecord, DeletionMarker, ProjectKeyRecord]
      >([keys.project(project), keys.projectDeletion(project), keys.projectKey(hash)]);
      if (removal.value !== null) {
        await this.#remover.run(removal.key);
        return undefined;
      }
      const created = Date.now();
      const isListed = stored.value?.prefix !== undefined;
      if (owner.value !== null && isListed) return { result: undefined };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(removal.key, null)
        .check(stored.key, stored.versionstamp);
      if (owner.value === null) operation.set(owner.key, { created } satisfies ProjectRecord);
      if (!isListed) {
        const prefix = await freePrefix(this.#db, project, hash, keyPrefix(key));
        setKey(operation, hash, { project, created, ...stored.value, prefix });
      }
      return { operation, result: undefined };
    });
    this.#known.forget(project);
  }

  /**
   * Makes a project, with an id of its own unless one is given, and its first key, which nobody can read again.
   *
   * @param maxBytes How many bytes its files may have together; as many as there is room for, unless given.
   * @throws {AlreadyExists} if there is one of that id.
   * @throws {BeingDeleted} while one of that id is being removed.
   */
  async create(
    project: string | undefined,
    name: string | undefined,
    maxBytes?: number,
  ): Promise<{ info: ProjectInfo; key: ProjectKey }> {
    const made = await transact(this.#db, async () => {
      const key = newProjectKey(project);
      const id = key.project;
      const [owner, removal] = await this.#db.reader.getMany<[ProjectRecord, DeletionMarker]>([
        keys.project(id),
        keys.projectDeletion(id),
      ]);
      if (project === undefined && (owner.value ?? removal.value) !== null) return undefined;
      if (owner.value !== null) throw new AlreadyExists("project", id);
      if (removal.value !== null) throw new BeingDeleted("project", id);
      const created = Date.now();
      const record: ProjectRecord = {
        created,
        ...(name === undefined ? {} : { name }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      };
      const operation = new Operation().check(owner.key, null)
        .check(removal.key, null)
        .set(owner.key, record);
      setKey(operation, hashSecret(key.text), { project: id, created, prefix: keyPrefix(key) });
      return { operation, result: { info: infoOf(id, record), key } };
    });
    this.#known.forget(made.info.project);
    return made;
  }

  /** All projects in the order of their ids. */
  async list(): Promise<ProjectInfo[]> {
    const entries = this.#db.reader.list<ProjectRecord>({ prefix: prefixes.projects() });
    return await Array.fromAsync(entries, ({ key, value }) => infoOf(String(key.at(-1)), value));
  }

  /** Which drives of each project are being removed. */
  async listDeletingDrives(): Promise<Map<string, readonly string[]>> {
    const entries = this.#db.reader.list<ProjectRecord>({ prefix: prefixes.projects() });
    const removing = new Map<string, readonly string[]>();
    for await (const { key, value } of entries) {
      removing.set(String(key.at(-1)), value.removing ?? []);
    }
    return removing;
  }

  async get(project: string): Promise<ProjectInfo | undefined> {
    const { value } = await this.#db.reader.get<ProjectRecord>(keys.project(project));
    return value === null ? undefined : infoOf(project, value);
  }

  /**
   * Limits how many bytes the files of a project may have together, or lifts the limit with `null`. Files that are there
   * stay, also where they are too many. Gives the project; `undefined` where there is none.
   */
  async setMaxBytes(project: string, maxBytes: number | null): Promise<ProjectInfo | undefined> {
    return await this.update(project, { maxBytes });
  }

  /**
   * Changes what is given; `undefined` where there is no such project. Hosts that the owner chose below an earlier suffix
   * count no more from then on: see `AppStore`.
   */
  async update(project: string, changes: ProjectChanges): Promise<ProjectInfo | undefined> {
    const info = await transact(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const record = changed(owner.value, changes);
      const operation = new Operation().check(owner.key, owner.versionstamp);
      setProjectRecord(operation, project, record);
      return { operation, result: infoOf(project, record) };
    });
    this.#known.forget(project);
    if (info !== undefined && changes.hostSuffix !== undefined) this.#revocations.notify();
    return info;
  }

  /**
   * Removes a project for good: it is gone for every caller at once, and all that it has is removed in the background.
   * Gives whether there was one.
   */
  async delete(project: string): Promise<boolean> {
    const removed = await transact(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: false };
      const marker: DeletionMarker = { kind: "project", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .delete(owner.key)
        .delete(keys.quota(project))
        .set(keys.projectDeletion(project), marker);
      return { operation, result: true };
    });
    if (removed) this.#began(project);
    return removed;
  }

  /**
   * Removes a drive in the same way; gives whether there was one. While it is being removed, there is.
   *
   * @throws {BeingDeleted} if that is another one, of too many at once.
   */
  async deleteDrive(project: string, drive: string): Promise<boolean> {
    const found = await transact(this.#db, async () => {
      const [owner, files] = await this.#db.reader.getMany<[ProjectRecord, Deno.KvU64]>([
        keys.project(project),
        keys.usage(project, drive, "files"),
      ]);
      if (owner.value === null) return { result: false };
      const { removing = [] } = owner.value;
      if (removing.includes(drive)) return { result: true };
      if (files.value === null) return { result: false };
      // One of the others has to be gone before.
      const [first = drive] = removing;
      if (removing.length >= MAX_DELETING_DRIVES) throw new BeingDeleted("drive", first);
      const record: ProjectRecord = { ...owner.value, removing: [...removing, drive] };
      const marker: DeletionMarker = { kind: "drive", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .set(keys.driveDeletion(project, drive), marker);
      setProjectRecord(operation, project, record);
      return { operation, result: true };
    });
    if (found) this.#began(project);
    return found;
  }

  async hasAdminToken(): Promise<boolean> {
    return await this.#readAdminToken() !== undefined;
  }

  /** Makes the token with this hash the only one. */
  async setAdminToken(hash: string): Promise<void> {
    await this.#changeAdminToken(hash, () => true);
  }

  /** The same where there is none yet; gives whether it did. */
  async setFirstAdminToken(hash: string): Promise<boolean> {
    return await this.#changeAdminToken(hash, (present) => present === null);
  }

  /** Demands the token that was there, so that a commit that comes late never brings an older one back. */
  async #changeAdminToken(
    hash: string,
    mayReplace: (present: string | null) => boolean,
  ): Promise<boolean> {
    const changed = await transact(this.#db, async () => {
      const { key, value, versionstamp } = await this.#db.reader.get<string>(keys.adminToken());
      if (!mayReplace(value)) return { result: false };
      const operation = new Operation().check(key, versionstamp).set(key, hash);
      return { operation, result: true };
    });
    if (!changed) return false;
    this.#adminToken.clear();
    this.#revocations.notify();
    return true;
  }

  /** Whether this is the hash of the administrator's token, which is believed for a few seconds. */
  async isAdminToken(hash: string): Promise<boolean> {
    const token = await this.#adminToken.get("");
    if (token === undefined) return false;
    const [given, wanted] = [hash, token].map((text) => new TextEncoder().encode(text));
    return given !== undefined && wanted !== undefined &&
      given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted);
  }

  async #readAdminToken(): Promise<string | undefined> {
    return (await this.#db.reader.get<string>(keys.adminToken())).value ?? undefined;
  }

  #began(project: string): void {
    this.#known.forget(project);
    this.#revocations.notify();
    this.#wake();
  }
}

function changed(record: ProjectRecord, { maxBytes, hostSuffix }: ProjectChanges): ProjectRecord {
  const after = { ...record };
  if (maxBytes === null) delete after.maxBytes;
  else if (maxBytes !== undefined) after.maxBytes = maxBytes;
  if (hostSuffix === null) delete after.hostSuffix;
  else if (hostSuffix !== undefined) after.hostSuffix = hostSuffix;
  return after;
}

function infoOf(
  project: string,
  { name, created, maxBytes, hostSuffix }: ProjectRecord,
): ProjectInfo {
  return {
    project,
    ...(name === undefined ? {} : { name }),
    created,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(hostSuffix === undefined ? {} : { hostSuffix }),
  };
}
