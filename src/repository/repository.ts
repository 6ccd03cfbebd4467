/**
 * A repository of backups: snapshots of one store in a folder or a bucket, which share what they have in common.
 * docs/backup.md describes the format.
 *
 * - `config`: that it is a repository, of which store, and whether it is encrypted.
 * - `keys/ID`: the master key under a passphrase (`keys.ts`).
 * - `data/NAME`: groups of entries of the store (`data_object.ts`).
 * - `index/NAME`: nodes of the trees that find them (`tree.ts`).
 * - `snapshots/NAME`: one manifest for each snapshot (`manifest.ts`), stored after everything that it needs.
 * - `runs/ID`, `locks/…`: who works on it (`presence.ts`).
 *
 * An object of data, an index or a snapshot is named by the SHA-256 of its bytes. It is stored once and never changed,
 * and checked whenever it is read.
 *
 * @module
 */
import { BadFormat, DamagedObject, NoRepository, RepositoryError } from "./errors.ts";
import { addKey, isKey, KEYS, newMasterKey, openMasterKey } from "./keys.ts";
import { encodeChecked, parseChecked, textIn } from "./json.ts";
import { decodeManifest, type Snapshot } from "./manifest.ts";
import { encryption, type ObjectKind, type Sealer, UNENCRYPTED } from "./seal.ts";
import { type Bytes, sha256Hex } from "./bytes.ts";
import { openTarget, type TargetSettings } from "./targets/open_target.ts";
import { isS3, type Target } from "./targets/target.ts";
import { decodeNode, type LoadNode, type ObjectRef } from "./tree.ts";
import { unpack } from "./data_object.ts";

const CONFIG = "config";

const FORMAT = 1;

/** The folder of each kind of object. */
export const FOLDERS = { data: "data", index: "index", snapshot: "snapshots" } as const;

/** How often an object is read again that has wrong bytes, as they may have changed on their way. */
const READS = 3;

/** Objects that are read at the same time. */
export const PARALLEL = 2;

export interface RepositorySettings extends TargetSettings {
  /** Encrypts the repository. */
  passphrase?: string | undefined;
  /** Whether S3 may get a repository without encryption. */
  isUnencryptedAllowed?: boolean;
}

interface Config {
  id: string;
  store: string;
  encrypted: boolean;
}

export class Repository {
  private constructor(
    readonly target: Target,
    readonly config: Config,
    readonly sealer: Sealer,
    /** The id of the key that the passphrase opened, and the master key. */
    readonly key: { id: string; masterKey: Bytes } | undefined,
  ) {}

  /** Opens a repository. @throws {RepositoryError} if there is none, or the passphrase does not open it. */
  static async open(settings: RepositorySettings): Promise<Repository> {
    const target = openTarget(settings);
    const config = await readConfig(target);
    if (config === undefined) throw new NoRepository(target.place);
    return await Repository.#open(target, config, settings);
  }

  /**
   * Opens the repository of a store, and makes it first if the target is empty.
   *
   * @throws {RepositoryError} if the target has something else, or the snapshots of another store.
   */
  static async openFor(store: string, settings: RepositorySettings): Promise<Repository> {
    requirePermission(settings);
    const target = openTarget(settings);
    const found = await readConfig(target);
    const config = found ?? await create(target, store, settings);
    if (config.store === store) return await Repository.#open(target, config, settings);
    throw new RepositoryError(
      `The repository ${target.place} has the snapshots of another store, with the id ${config.store}, ` +
        `and this one is ${store}: choose another target`,
    );
  }

  static async #open(
    target: Target,
    config: Config,
    { passphrase }: RepositorySettings,
  ): Promise<Repository> {
    if (!config.encrypted) {
      if (passphrase === undefined) return new Repository(target, config, UNENCRYPTED, undefined);
      throw new RepositoryError(
        `The repository ${target.place} is not encrypted: give no passphrase, or choose another target`,
      );
    }
    if (passphrase === undefined) {
      throw new RepositoryError(
        `The repository ${target.place} is encrypted: give its passphrase with --passphrase-file or ` +
          "KVDRIVE_BACKUP_PASSPHRASE",
      );
    }
    const { masterKey, key: id } = await openMasterKey(target, passphrase, config.id);
    return new Repository(target, config, encryption(masterKey), { id, masterKey });
  }

  /** @throws {RepositoryError} if the target has it no longer, such as a folder of a disk that was unmounted. */
  async requirePresent(): Promise<void> {
    const config = await readConfig(this.target);
    if (config?.id === this.config.id) return;
    throw new RepositoryError(
      config === undefined
        ? `The repository ${this.place} is gone: bring it back, or restart the server to make a new one`
        : `Another repository is in ${this.place} now: repeat the command, or restart the server`,
    );
  }

  get place(): string {
    return this.target.place;
  }

  /** Stores an object, unless it exists. Returns where it is. */
  async store(kind: ObjectKind, bytes: Bytes): Promise<ObjectRef> {
    const name = sha256Hex(bytes);
    await this.target.put(`${FOLDERS[kind]}/${name}`, bytes);
    return { name, size: bytes.byteLength };
  }

  /**
   * Returns the bytes of an object as they were stored.
   *
   * @throws {DamagedObject} if it is missing, or has other bytes.
   */
  async read(kind: ObjectKind, name: string): Promise<Bytes> {
    const path = `${FOLDERS[kind]}/${name}`;
    let problem = "";
    for (let reads = 0; reads < READS; reads++) {
      const bytes = await this.target.get(path);
      if (bytes === undefined) problem = "is missing";
      else if (sha256Hex(bytes) === name) return bytes;
      else problem = `is damaged: its ${bytes.byteLength} bytes have another SHA-256`;
    }
    throw new DamagedObject(path, problem);
  }

  /** Returns a node of a tree. @throws {DamagedObject} */
  readonly loadNode: LoadNode = async ({ name }, level) => {
    const sealed = await this.read("index", name);
    const node = await this.#decode(`${FOLDERS.index}/${name}`, async () => {
      return decodeNode(await unpack(this.sealer.open("index", sealed)));
    });
    if (node.level === level) return node;
    throw new DamagedObject(`${FOLDERS.index}/${name}`, "is on another level than its tree says");
  };

  /**
   * Returns the snapshots, the newest last: in the order in which they were made, also if a clock was wrong meanwhile.
   *
   * @param onDamage Receives manifests that cannot be read; without it they are thrown.
   */
  async snapshots(onDamage?: (error: DamagedObject) => void): Promise<Snapshot[]> {
    return validOf(await this.manifests(onDamage));
  }

  /** Returns all manifests: also those that others have replaced, until a prune removes them. */
  async manifests(onDamage?: (error: DamagedObject) => void): Promise<Snapshot[]> {
    const found = new Map<string, Snapshot>();
    const prefix = `${FOLDERS.snapshot}/`;
    for await (const { name } of this.target.list(FOLDERS.snapshot)) {
      const object = name.slice(prefix.length);
      if (!/^[0-9a-f]{64}$/.test(object)) continue;
      try {
        const known = this.#manifests.get(object) ?? await this.#readManifest(object);
        if (known !== undefined) found.set(object, known);
      } catch (error) {
        if (onDamage === undefined || !(error instanceof DamagedObject)) throw error;
        onDamage(error);
      }
    }
    this.#manifests = found;
    return [...found.values()];
  }

  /** Manifests that were read already, by their objects. */
  #manifests: ReadonlyMap<string, Snapshot> = new Map();

  /** Returns `undefined` if it was removed since it was listed. */
  async #readManifest(object: string): Promise<Snapshot | undefined> {
    const path = `${FOLDERS.snapshot}/${object}`;
    let sealed: Bytes;
    try {
      sealed = await this.read("snapshot", object);
    } catch (error) {
      for await (const { name } of this.target.list(FOLDERS.snapshot)) {
        if (name === path) throw error;
      }
      return undefined;
    }
    return await this.#decode(path, () => {
      return { ...decodeManifest(this.sealer.open("snapshot", sealed)), object };
    });
  }

  async #decode<T>(object: string, decode: () => T | Promise<T>): Promise<T> {
    try {
      return await decode();
    } catch (error) {
      if (!(error instanceof BadFormat)) throw error;
      throw new DamagedObject(object, error.message);
    }
  }

  /** Stores the master key under another passphrase. Returns the id of the key. */
  async addKey(passphrase: string): Promise<string> {
    if (this.key === undefined) throw this.notEncrypted();
    return await addKey(this.target, this.key.masterKey, passphrase, this.config.id);
  }

  notEncrypted(): RepositoryError {
    return new RepositoryError(`The repository ${this.place} is not encrypted, so it has no keys`);
  }
}

/** Returns the valid manifest of each snapshot, the newest snapshot last. */
export function validOf(manifests: readonly Snapshot[]): Snapshot[] {
  const valid = new Map<string, Snapshot>();
  for (const one of manifests) {
    const other = valid.get(one.id);
    if (other === undefined || replaces(one, other)) valid.set(one.id, one);
  }
  return [...valid.values()].sort((a, b) =>
    a.sequence - b.sequence || a.time - b.time || (a.id < b.id ? -1 : 1)
  );
}

/** The names decide between equal revisions, so that all readers choose the same. */
function replaces(one: Snapshot, other: Snapshot): boolean {
  if (one.revision !== other.revision) return one.revision > other.revision;
  return one.object > other.object;
}

/** @throws {RepositoryError} if S3 would get a repository without encryption that was not asked for. */
function requirePermission(
  { target, passphrase, isUnencryptedAllowed }: RepositorySettings,
): void {
  if (!isS3(target) || passphrase !== undefined || isUnencryptedAllowed) return;
  throw new RepositoryError(
    `The provider of ${target} could read all files: give a passphrase with --passphrase-file or ` +
      "KVDRIVE_BACKUP_PASSPHRASE, or allow it with --unencrypted",
  );
}

/**
 * Makes a repository. If another process does it at the same moment, one of both wins. The key of an encrypted one comes
 * before the file that makes it a repository, and opens only a repository with that id.
 */
async function create(
  target: Target,
  store: string,
  { passphrase }: RepositorySettings,
): Promise<Config> {
  await requireEmpty(target);
  await target.prepare();
  const id = crypto.randomUUID();
  if (passphrase !== undefined) await addKey(target, newMasterKey(), passphrase, id);
  const content = encodeChecked({
    kvdrive: "repository of backups",
    version: FORMAT,
    id,
    store,
    encrypted: passphrase !== undefined,
  });
  await target.put(CONFIG, content, true);
  const config = await readConfig(target);
  if (config !== undefined) return config;
  throw new RepositoryError(`${target.place} does not return what was stored in it`);
}

/** @throws {RepositoryError} if a target that is no repository has more than keys of one that was not completed. */
async function requireEmpty(target: Target): Promise<void> {
  for (const name of await target.topNames()) {
    if (name === KEYS && await hasOnlyKeys(target)) continue;
    throw new RepositoryError(
      `${target.place} is no repository and has something else, such as "${name}": choose an empty ` +
        "place, or a new one",
    );
  }
}

async function hasOnlyKeys(target: Target): Promise<boolean> {
  for await (const { name } of target.list(KEYS)) if (!isKey(name)) return false;
  return true;
}

async function readConfig(target: Target): Promise<Config | undefined> {
  let problem: unknown;
  for (let reads = 0; reads < READS; reads++) {
    const bytes = await target.get(CONFIG);
    if (bytes === undefined) return undefined;
    try {
      return parseConfig(bytes, target.place);
    } catch (error) {
      if (!(error instanceof BadFormat)) throw error;
      problem = error;
    }
  }
  throw new RepositoryError(
    `The file ${CONFIG} in ${target.place} is not that of a repository, or damaged`,
    { cause: problem },
  );
}

/** @throws {BadFormat} if it is damaged. */
function parseConfig(bytes: Bytes, place: string): Config {
  const json = parseChecked(bytes);
  const { version, encrypted } = json as { version: unknown; encrypted: unknown };
  const uuid = /^[0-9a-f-]{36}$/;
  const [id, store] = [textIn(json["id"], uuid), textIn(json["store"], uuid)];
  if (typeof encrypted !== "boolean") throw new BadFormat("does not say if it is encrypted");
  if (version === FORMAT) return { id, store, encrypted };
  throw new RepositoryError(
    `The repository ${place} has version ${version}, and this version of kvdrive knows ${FORMAT}: ` +
      "use a newer one",
  );
}
