import type { Rights } from "../../rules/rights.ts";
import {
  hashSecret,
  KEY_PREFIX_LENGTH,
  keyPrefix,
  newProjectKey,
  type ProjectKey,
} from "../../rules/secrets.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { ProjectKeyRecord } from "../engine/records.ts";
import { endGrants } from "../sessions/grants.ts";
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

/** A project key without its secret. */
export interface KeyInfo extends BasicKeyInfo {
  /** Names the key in lists; unique in the project. */
  prefix: string;
}

export interface FoundProjectKey {
  project: string;
  prefix: string;
  rights: Rights;
  /** Drives of the project that are being deleted. */
  deleting: readonly string[];
}

/** Project keys in the store. The id of one is the SHA-256 of its secret. */
export const PROJECT_KEYS: KeyKind<ProjectKeyRecord> = {
  event: "key",
  record: keys.projectKey,
  use: keys.projectKeyUse,
  index: (_, { project, prefix }) => keys.projectKeyPrefix(project, prefix),
  indexValue: (hash) => hash,
  indexOf: (project) => prefixes.all("project_key_prefix", project),
  idIn: ({ value }) => String(value),
  nameOf: (_, { prefix }) => prefix,
};

/** The keys of projects. Only the SHA-256 of a secret is stored. */
export class ProjectKeyStore {
  readonly #keys: LimitedKeys<ProjectKeyRecord, true>;

  constructor(private readonly db: Database, deps: KeyDeps) {
    this.#keys = new LimitedKeys(db, PROJECT_KEYS, deps, () => Promise.resolve(true));
  }

  /** Returns what the key with this hash opens: see `LimitedKeys.find`. */
  async find(hash: string): Promise<FoundProjectKey | undefined> {
    const found = await this.#keys.find(hash);
    if (found === undefined) return undefined;
    const { key: { project, rights, record: { prefix } }, deleting } = found;
    return { project, prefix, rights, deleting };
  }

  /** See `LimitedKeys.isStillValid`. */
  async isStillValid(hash: string, project: string, age: number): Promise<boolean> {
    return await this.#keys.isStillValid(hash, project, age);
  }

  /**
   * Creates another key of a project. Returns `undefined` if there is no such project.
   *
   * @throws {NoSuchProject} if the key that creates it no longer opens the project.
   */
  async create(
    project: string,
    options: NewKey = {},
  ): Promise<KeyInfo & { key: ProjectKey } | undefined> {
    const made = await this.#keys.create(project, options, (common) => {
      const key = newProjectKey(project);
      const record = { ...common, prefix: keyPrefix(key) };
      return Promise.resolve({ id: hashSecret(key.text), record, key });
    });
    return made === undefined ? undefined : { key: made.key, ...infoOf(made) };
  }

  /** Returns the keys of a project, the oldest first; none if there is no such project. */
  async list(project: string): Promise<KeyInfo[]> {
    return (await this.#keys.list(project)).map(infoOf);
  }

  /** Revokes the key with this prefix: see `LimitedKeys.revoke`. */
  async revoke(project: string, prefix: string, options?: Revocation): Promise<boolean> {
    const index = keys.projectKeyPrefix(project, prefix);
    const { value: hash } = await this.db.reader.get<string>(index);
    if (hash === null || !await this.#keys.revoke(project, hash, options)) return false;
    // They open nothing since the commit. This keeps them from coming back with a key that is made again.
    await endGrants(this.db, hash);
    return true;
  }
}

/**
 * Returns a prefix that no other key of the project has: the wanted one, or as much of the hash as it takes. Only a key
 * that the operator chose can need another one.
 */
export async function freePrefix(
  db: Database,
  project: string,
  hash: string,
  wanted: string,
): Promise<string> {
  const ofHash = [1, 2, 4].map((times) => hash.slice(0, times * KEY_PREFIX_LENGTH));
  const candidates = [wanted, ...ofHash, hash];
  const found = await db.reader.getMany<unknown[]>(
    candidates.map((prefix) => keys.projectKeyPrefix(project, prefix)),
  );
  return candidates[found.findIndex(({ value }) => value === null)] ?? hash;
}

function infoOf({ record, lastUsed }: Listed<ProjectKeyRecord>): KeyInfo {
  return { prefix: record.prefix, ...basicInfo(record, lastUsed) };
}
