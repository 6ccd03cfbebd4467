import { timingSafeEqual } from "node:crypto";
import { MAX_REMOVED_DRIVES } from "../drive/limits.ts";
import { hashSecret, newProjectKey, prefixOf, type ProjectKey } from "../drive/secrets.ts";
import { Believed } from "./believed.ts";
import type { Database } from "./database.ts";
import { decide } from "./decide.ts";
import { AlreadyExists, BeingRemoved } from "./errors.ts";
import { freePrefix, setKey } from "./key_index.ts";
import { keys, prefixes } from "./keys.ts";
import type { KnownProjects } from "./known_projects.ts";
import { Operation } from "./operation.ts";
import { setProject } from "./quota_account.ts";
import type { ProjectKeyRecord, ProjectRecord, RemovalMarker } from "./records.ts";
import type { Remover } from "./remover.ts";
import type { Revocations } from "./revocations.ts";

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
  readonly #known: KnownProjects;
  readonly #revocations: Revocations;
  readonly #remover: Remover;
  readonly #wake: () => void;
  readonly #adminToken: Believed<string>;

  /** @param wake Called when there is something to be removed in the background. */
  constructor(
    db: Database,
    known: KnownProjects,
    revocations: Revocations,
    remover: Remover,
    wake: () => void,
  ) {
    this.#db = db;
    this.#known = known;
    this.#revocations = revocations;
    this.#remover = remover;
    this.#wake = wake;
    this.#adminToken = new Believed(() => this.#readAdminToken());
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
    await decide(this.#db, async () => {
      const [owner, removal, stored] = await this.#db.reader.getMany<
        [ProjectRecord, RemovalMarker, ProjectKeyRecord]
      >([keys.project(project), keys.projectRemoval(project), keys.projectKey(hash)]);
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
        const prefix = await freePrefix(this.#db, project, hash, prefixOf(key));
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
   * @throws {BeingRemoved} while one of that id is being removed.
   */
  async create(
    project: string | undefined,
    name: string | undefined,
    maxBytes?: number,
  ): Promise<{ info: ProjectInfo; key: ProjectKey }> {
    const made = await decide(this.#db, async () => {
      const key = newProjectKey(project);
      const id = key.project;
      const [owner, removal] = await this.#db.reader.getMany<[ProjectRecord, RemovalMarker]>([
        keys.project(id),
        keys.projectRemoval(id),
      ]);
      if (project === undefined && (owner.value ?? removal.value) !== null) return undefined;
      if (owner.value !== null) throw new AlreadyExists("project", id);
      if (removal.value !== null) throw new BeingRemoved("project", id);
      const created = Date.now();
      const record: ProjectRecord = {
        created,
        ...(name === undefined ? {} : { name }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
      };
      const operation = new Operation().check(owner.key, null)
        .check(removal.key, null)
        .set(owner.key, record);
      setKey(operation, hashSecret(key.text), { project: id, created, prefix: prefixOf(key) });
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
  async listRemoving(): Promise<Map<string, readonly string[]>> {
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
  async limit(project: string, maxBytes: number | null): Promise<ProjectInfo | undefined> {
    return await this.change(project, { maxBytes });
  }

  /**
   * Changes what is given; `undefined` where there is no such project. Hosts that the owner chose below an earlier suffix
   * count no more from then on: see `AppStore`.
   */
  async change(project: string, changes: ProjectChanges): Promise<ProjectInfo | undefined> {
    const info = await decide(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: undefined };
      const record = changed(owner.value, changes);
      const operation = new Operation().check(owner.key, owner.versionstamp);
      setProject(operation, project, record);
      return { operation, result: infoOf(project, record) };
    });
    this.#known.forget(project);
    if (info !== undefined && changes.hostSuffix !== undefined) this.#revocations.changed();
    return info;
  }

  /**
   * Removes a project for good: it is gone for every caller at once, and all that it has is removed in the background.
   * Gives whether there was one.
   */
  async remove(project: string): Promise<boolean> {
    const removed = await decide(this.#db, async () => {
      const owner = await this.#db.reader.get<ProjectRecord>(keys.project(project));
      if (owner.value === null) return { result: false };
      const marker: RemovalMarker = { kind: "project", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .delete(owner.key)
        .delete(keys.quota(project))
        .set(keys.projectRemoval(project), marker);
      return { operation, result: true };
    });
    if (removed) this.#began(project);
    return removed;
  }

  /**
   * Removes a drive in the same way; gives whether there was one. While it is being removed, there is.
   *
   * @throws {BeingRemoved} if that is another one, of too many at once.
   */
  async removeDrive(project: string, drive: string): Promise<boolean> {
    const found = await decide(this.#db, async () => {
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
      if (removing.length >= MAX_REMOVED_DRIVES) throw new BeingRemoved("drive", first);
      const record: ProjectRecord = { ...owner.value, removing: [...removing, drive] };
      const marker: RemovalMarker = { kind: "drive", since: Date.now() };
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .set(keys.driveRemoval(project, drive), marker);
      setProject(operation, project, record);
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
    const changed = await decide(this.#db, async () => {
      const { key, value, versionstamp } = await this.#db.reader.get<string>(keys.adminToken());
      if (!mayReplace(value)) return { result: false };
      const operation = new Operation().check(key, versionstamp).set(key, hash);
      return { operation, result: true };
    });
    if (!changed) return false;
    this.#adminToken.clear();
    this.#revocations.changed();
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
    this.#revocations.changed();
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
