import type { Rights } from "../../rules/rights.ts";
import { isAccessKeyId, newS3Key, type S3Key } from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { S3KeysUnavailable } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { S3KeyRecord } from "../engine/records.ts";
import {
  basicInfo,
  type BasicKeyInfo,
  type KeyDeps,
  type KeyKind,
  LimitedKeys,
  type Listed,
  type NewKey,
  type Revocation,
} from "./key_entries.ts";
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

/** S3 keys in the store. The id of one is its access key id. */
export const S3_KEYS: KeyKind<S3KeyRecord> = {
  event: "s3_key",
  record: keys.s3Key,
  use: keys.s3KeyUse,
  index: (id, { project }) => keys.s3KeyOf(project, id),
  indexValue: (_, { expires }) => expires === undefined ? {} : { expires },
  indexOf: (project) => prefixes.all("s3_key_of", project),
  idIn: ({ key }) => String(key.at(-1)),
  nameOf: (id) => id,
};

/** The S3 keys of projects. Their secrets are stored encrypted. */
export class S3KeyStore {
  readonly #keys: LimitedKeys<S3KeyRecord, string>;
  /** The problems with secrets that were reported. */
  readonly #reported = new Set<string>();

  constructor(db: Database, private readonly deps: KeyDeps & { secrets: S3SecretBox }) {
    this.#keys = new LimitedKeys(db, S3_KEYS, deps, (id, record) => this.#open(id, record));
  }

  /** Returns what the key with this id opens: see `LimitedKeys.find`. */
  async find(accessKeyId: string): Promise<FoundS3Key | undefined> {
    // Anyone may send any text: only a valid id is looked up.
    if (!isAccessKeyId(accessKeyId)) return undefined;
    const found = await this.#keys.find(accessKeyId);
    if (found === undefined) return undefined;
    const { key: { project, rights, opened: secret }, deleting } = found;
    return { project, accessKeyId, secret, rights, deleting };
  }

  /** See `LimitedKeys.isStillValid`. */
  async isStillValid(accessKeyId: string, project: string, age: number): Promise<boolean> {
    return await this.#keys.isStillValid(accessKeyId, project, age);
  }

  /**
   * Creates an S3 key of a project. Its secret cannot be read again. Returns `undefined` if there is no such project.
   *
   * @throws {NoSuchProject} if the key that creates it no longer opens the project.
   * @throws {S3KeysUnavailable} if there is nothing to encrypt its secret with.
   */
  async create(project: string, options: NewKey = {}): Promise<S3KeyInfo & S3Key | undefined> {
    const made = await this.#keys.create(project, options, async (common) => {
      const key = newS3Key();
      const { accessKeyId } = key;
      const secret = await this.deps.secrets.seal(key.secret, { accessKeyId, project });
      return { id: accessKeyId, record: { ...common, secret }, key };
    });
    return made === undefined ? undefined : { ...made.key, ...infoOf(made, true) };
  }

  /** Returns the S3 keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<S3KeyInfo[]> {
    const listed = await this.#keys.list(project);
    return await Promise.all(
      listed.map(async (key) => infoOf(key, await this.#open(key.id, key.record) !== undefined)),
    );
  }

  /** Revokes a key: see `LimitedKeys.revoke`. */
  async revoke(project: string, accessKeyId: string, options?: Revocation): Promise<boolean> {
    return isAccessKeyId(accessKeyId) && await this.#keys.revoke(project, accessKeyId, options);
  }

  /** Decrypts the secret of a key. Returns `undefined` if that is not possible, and reports each reason once. */
  async #open(accessKeyId: string, { project, secret }: S3KeyRecord): Promise<string | undefined> {
    try {
      return await this.deps.secrets.open(secret, { accessKeyId, project });
    } catch (error) {
      if (!(error instanceof S3KeysUnavailable)) throw error;
      if (!this.#reported.has(error.message)) {
        this.#reported.add(error.message);
        this.deps.onError(error);
      }
      return undefined;
    }
  }
}

function infoOf({ id, record, lastUsed }: Listed<S3KeyRecord>, isUsable: boolean): S3KeyInfo {
  return { accessKeyId: id, isUsable, ...basicInfo(record, lastUsed) };
}
