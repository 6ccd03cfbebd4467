import { Rights } from "../../rules/rights.ts";
import { isAccessKeyId, newS3Key, type S3Key } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { S3KeysUnavailable } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { ProjectRecord, S3KeyIndexRecord, S3KeyRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "./events.ts";
import {
  basicInfo,
  type BasicKeyInfo,
  type CachedKey,
  deleteKey,
  isExpired,
  type KeyEntries,
  type KeyPlace,
  KeyUses,
  readKey,
  setKey,
} from "./key_entries.ts";
import { type NewKey, startCreation } from "./project_keys.ts";
import type { Revocations } from "./revocations.ts";
import type { S3SecretBox } from "./s3_secrets.ts";

/** An S3 key without its secret. */
export interface S3KeyInfo extends BasicKeyInfo {
  accessKeyId: string;
  /** Whether its secret can be decrypted. If it cannot, every request with the key is refused. */
  isUsable: boolean;
}

/** The project that an S3 key opens, what it may do there, and the secret that signs its requests. */
export interface FoundS3Key extends S3Key {
  project: string;
  rights: Rights;
  /** Drives of the project that are being deleted. */
  deleting: readonly string[];
}

/** A key as every request needs it. */
interface CachedS3Key extends CachedKey<S3KeyRecord> {
  secret: string;
}

/** What an `S3KeyStore` needs beside the database. */
export interface S3KeyParts {
  projects: ProjectCache;
  revocations: Revocations;
  events: EventLog;
  secrets: S3SecretBox;
  /** Receives errors of background work. */
  onError: (error: unknown) => void;
}

/** The S3 keys of projects. Their secrets are stored encrypted. */
export class S3KeyStore {
  readonly #cache: TtlCache<CachedS3Key>;
  readonly #uses: KeyUses;
  /** The problems with secrets that were reported. */
  readonly #reported = new Set<string>();

  constructor(private readonly db: Database, private readonly parts: S3KeyParts) {
    this.#cache = new TtlCache((id) => this.#read(id));
    this.#uses = new KeyUses(db, parts.onError);
  }

  /**
   * Returns what the key with this id opens, or `undefined` for one that is unknown or has a secret that cannot be
   * decrypted. The answer is cached for `KEY_CACHE_TTL`. An expired key is deleted here, so a system clock that is set
   * back does not revive it.
   */
  async find(accessKeyId: string): Promise<FoundS3Key | undefined> {
    // Anyone may send any text: only a valid id is looked up.
    if (!isAccessKeyId(accessKeyId)) return undefined;
    const found = await this.parts.projects.findOwned(this.#cache, accessKeyId);
    if (found === undefined) return undefined;
    const { thing: key, owner: { deleting } } = found;
    const now = Date.now();
    if (isExpired(key.record, now)) {
      await this.#expire(accessKeyId, key);
      return undefined;
    }
    this.#uses.note(key, now);
    const { project, rights, secret } = key;
    return { project, accessKeyId, secret, rights, deleting };
  }

  /**
   * Returns whether a key that opened a project some time ago still does.
   *
   * @param age How long ago, in milliseconds. Beyond `KEY_CACHE_TTL` the store is read, as another process may have
   *   revoked the key.
   */
  async isStillValid(accessKeyId: string, project: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TTL) this.#cache.forget(accessKeyId);
    return (await this.find(accessKeyId))?.project === project;
  }

  /**
   * Creates an S3 key of a project. Its secret cannot be read again. Returns `undefined` if there is no such project.
   *
   * @throws {NoSuchProject} if the key that creates it no longer opens the project.
   * @throws {S3KeysUnavailable} if there is nothing to encrypt its secret with.
   */
  async create(
    project: string,
    { name, created = Date.now(), limits = {}, by, actor = COMMAND_LINE }: NewKey = {},
  ): Promise<S3KeyInfo & S3Key | undefined> {
    return await transact(this.db, async () => {
      const operation = await startCreation(this.db, project, by);
      if (operation === undefined) return { result: undefined };
      const key = newS3Key();
      const { accessKeyId } = key;
      const record: S3KeyRecord = {
        ...limits,
        project,
        ...(name === undefined ? {} : { name }),
        created,
        secret: await this.parts.secrets.seal(key.secret, { accessKeyId, project }),
      };
      operation.check(keys.s3Key(accessKeyId), null);
      setS3Key(operation, accessKeyId, record);
      const event = { event: "s3_key.created", project, target: accessKeyId } as const;
      this.parts.events.record(operation, actor, event);
      return { operation, result: { ...key, ...infoOf(accessKeyId, record, true) } };
    });
  }

  /** Returns the S3 keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<S3KeyInfo[]> {
    const { reader } = this.db;
    if ((await reader.get(keys.project(project))).value === null) return [];
    const index = reader.list<S3KeyIndexRecord>({ prefix: prefixes.s3KeysOf(project) });
    const ids = await Array.fromAsync(index, ({ key }) => String(key.at(-1)));
    await this.#uses.flush();
    const [records, uses] = await Promise.all([
      readMany<S3KeyRecord>(reader, ids.map(keys.s3Key)),
      readMany<number>(reader, ids.map(keys.s3KeyUse)),
    ]);
    const infos: S3KeyInfo[] = [];
    for (const [i, id] of ids.entries()) {
      const { value = null, versionstamp = null } = records[i] ?? {};
      if (value === null || versionstamp === null) continue;
      if (isExpired(value)) await this.#expire(id, { record: value, versionstamp });
      else {
        const isUsable = await this.#open(id, value) !== undefined;
        infos.push(infoOf(id, value, isUsable, uses[i]?.value));
      }
    }
    return infos.sort((a, b) => a.created - b.created);
  }

  /**
   * Revokes a key. Returns whether there was one.
   *
   * @param within Keys of other drives or names stay.
   * @throws {RightMissing} if the key has permissions that these rights lack.
   */
  async revoke(
    project: string,
    accessKeyId: string,
    { within = Rights.all, actor = COMMAND_LINE }: { within?: Rights; actor?: Actor } = {},
  ): Promise<boolean> {
    if (!isAccessKeyId(accessKeyId)) return false;
    const isRevoked = await transact(this.db, async () => {
      const [owner, key] = await this.db.reader.getMany<[ProjectRecord, S3KeyRecord]>([
        keys.project(project),
        keys.s3Key(accessKeyId),
      ]);
      if (owner.value === null || key.value?.project !== project) return { result: false };
      const isFound = !isExpired(key.value);
      if (isFound) {
        const rights = new Rights(key.value);
        if (!within.coversScope(rights)) return { result: false };
        within.requireToRevoke(rights);
      }
      const operation = new Operation().check(owner.key, owner.versionstamp)
        .check(key.key, key.versionstamp);
      deleteS3Key(operation, { id: accessKeyId, ...key.value });
      if (isFound) {
        const event = { event: "s3_key.revoked", project, target: accessKeyId } as const;
        this.parts.events.record(operation, actor, event);
      }
      return { operation, result: isFound };
    });
    this.#cache.forget(accessKeyId);
    if (isRevoked) this.parts.revocations.notify();
    return isRevoked;
  }

  async #expire(
    id: string,
    { record, versionstamp }: Pick<CachedKey<S3KeyRecord>, "record" | "versionstamp">,
  ): Promise<void> {
    const operation = new Operation().check(keys.s3Key(id), versionstamp);
    deleteS3Key(operation, { id, ...record });
    await this.db.commit(operation);
    this.#cache.forget(id);
  }

  async #read(id: string): Promise<CachedS3Key | undefined> {
    const key = await readKey<S3KeyRecord>(this.db, placeOf(id));
    if (key === undefined) return undefined;
    const secret = await this.#open(id, key.record);
    return secret === undefined ? undefined : { ...key, secret };
  }

  /** Decrypts the secret of a key. Returns `undefined` if that is not possible, and reports each reason once. */
  async #open(accessKeyId: string, { project, secret }: S3KeyRecord): Promise<string | undefined> {
    try {
      return await this.parts.secrets.open(secret, { accessKeyId, project });
    } catch (error) {
      if (!(error instanceof S3KeysUnavailable)) throw error;
      if (!this.#reported.has(error.message)) {
        this.#reported.add(error.message);
        this.parts.onError(error);
      }
      return undefined;
    }
  }
}

function placeOf(id: string): KeyPlace {
  return { id, record: keys.s3Key(id), use: keys.s3KeyUse(id) };
}

function entriesOf(id: string, project: string): KeyEntries {
  return { ...placeOf(id), index: keys.s3KeyOf(project, id) };
}

/** Adds a key's record, its entry in the index, and the journal's entries that end both. */
export function setS3Key(operation: Operation, id: string, record: S3KeyRecord): void {
  const { project, expires } = record;
  const index: S3KeyIndexRecord = expires === undefined ? {} : { expires };
  setKey(operation, entriesOf(id, project), record, index);
}

/** Adds the deletion of a key with all that belongs to it. */
export function deleteS3Key(
  operation: Operation,
  { project, id, ...record }: { project: string; id: string } & S3KeyIndexRecord,
): void {
  deleteKey(operation, entriesOf(id, project), record);
}

function infoOf(
  accessKeyId: string,
  record: S3KeyRecord,
  isUsable: boolean,
  lastUsed?: number | null,
): S3KeyInfo {
  return { accessKeyId, isUsable, ...basicInfo(record, lastUsed) };
}
