/**
 * The keys of an encrypted repository: each has the same master key, encrypted with a passphrase. So passphrases can be
 * added and removed without touching what is stored.
 *
 * @module
 */
import { encodeHex } from "@std/encoding/hex";
import { decodeBase64, encodeBase64 } from "@std/encoding/base64";
import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import { MIB } from "../rules/units.ts";
import type { Bytes } from "./bytes.ts";
import { BadFormat, DamagedObject, RepositoryError } from "./errors.ts";
import { countIn, encodeChecked, parseChecked, textIn } from "./json.ts";
import { MASTER_KEY_LENGTH } from "./seal.ts";
import type { Target } from "./targets/target.ts";

/** The cost of scrypt (RFC 7914): 32 MiB of memory, and some 0.1 s. */
const COST = { N: 2 ** 15, r: 8, p: 1 };

/** Memory that a key of the repository may ask for. One with a greater cost was not made by kvdrive. */
const MAX_MEMORY = 128 * MIB;

const SALT_LENGTH = 32;

/** How often a key is read again that is damaged, as it may have changed on its way. */
const READS = 3;

export const KEYS = "keys";

/** The key of a passphrase is used for one master key only, so the nonce may be fixed. */
const ZERO_NONCE = new Uint8Array(12);

const encoder = new TextEncoder();

const deriveBits = promisify(scrypt) as (
  passphrase: Uint8Array,
  salt: Uint8Array,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Uint8Array>;

export interface WrappedKey {
  /** 16 hexadecimal digits. */
  id: string;
  /** Milliseconds since 1970. */
  created: number;
  N: number;
  r: number;
  p: number;
  salt: Bytes;
  wrapped: Bytes;
}

export function newMasterKey(): Bytes {
  return crypto.getRandomValues(new Uint8Array(MASTER_KEY_LENGTH));
}

/**
 * Stores the master key under a passphrase.
 *
 * @param repository The id of the repository: the key opens no other.
 * @returns The id of the key.
 */
export async function addKey(
  target: Target,
  masterKey: Bytes,
  passphrase: string,
  repository: string,
): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH));
  const key = await keyOf(passphrase, { ...COST, salt });
  const wrapped = await crypto.subtle.encrypt(parametersOf(repository), key, masterKey);
  const id = newKeyId();
  const content = encodeChecked({
    created: Date.now(),
    kdf: "scrypt",
    ...COST,
    salt: encodeBase64(salt),
    master_key: encodeBase64(new Uint8Array(wrapped)),
  });
  await target.put(pathOf(id), content, true);
  return id;
}

/**
 * Removes a key. If two people remove each other's keys at the same moment, one key has to stay, as without any the
 * repository is lost. So a copy of one's own key is stored first, and is removed only if the key itself is still there
 * afterwards: then the other one finds that its own is gone, and keeps its copy.
 *
 * @param own The id of the key of the passphrase in use.
 * @returns The id of the key that this passphrase opens from now on.
 * @throws {RepositoryError}
 */
export async function removeKey(target: Target, own: string, id: string): Promise<string> {
  const content = await target.get(pathOf(own));
  if (content === undefined) {
    throw new RepositoryError(
      `The key ${own} of the passphrase in use was removed meanwhile, so nothing was removed`,
    );
  }
  const copy = newKeyId();
  await target.put(pathOf(copy), content, true);
  await target.remove(pathOf(id));
  if (await target.get(pathOf(own)) === undefined) return copy;
  await target.remove(pathOf(copy));
  return own;
}

/** Returns the keys in the order of their creation, and what is wrong with those that are damaged. */
export async function readKeys(
  target: Target,
): Promise<{ keys: WrappedKey[]; damaged: DamagedObject[] }> {
  const keys: WrappedKey[] = [];
  const damaged: DamagedObject[] = [];
  for await (const { name } of target.list(KEYS)) {
    if (!isKey(name)) continue;
    const key = await readKey(target, name);
    if (key instanceof DamagedObject) damaged.push(key);
    else if (key !== undefined) keys.push(key);
  }
  return { keys: keys.sort((a, b) => a.created - b.created), damaged };
}

/**
 * Returns the master key, and the id of the key that the passphrase opens.
 *
 * @throws {RepositoryError} if it opens none.
 */
export async function openMasterKey(
  target: Target,
  passphrase: string,
  repository: string,
): Promise<{ masterKey: Bytes; key: string }> {
  const { keys, damaged } = await readKeys(target);
  for (const { id, wrapped, ...parameters } of keys) {
    const key = await keyOf(passphrase, parameters);
    try {
      const opened = await crypto.subtle.decrypt(parametersOf(repository), key, wrapped);
      return { masterKey: new Uint8Array(opened), key: id };
    } catch {
      // It is the key of another passphrase.
    }
  }
  const { place } = target;
  const [first] = damaged;
  if (first !== undefined) {
    throw new RepositoryError(
      `The passphrase opens no key of the repository ${place}, but a key is damaged: restore ` +
        `${first.object} from a copy of the repository, or use another passphrase`,
    );
  }
  throw new RepositoryError(
    keys.length === 0
      ? `The repository ${place} is encrypted, and has no key in ${KEYS}: restore that folder from ` +
        "a copy of the repository"
      : `The passphrase is wrong: it opens none of the ${keys.length} keys of the repository ${place}`,
  );
}

/** Returns whether an object is a key by its name. */
export function isKey(name: string): boolean {
  return /^keys\/[0-9a-f]{16}$/.test(name);
}

function newKeyId(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(8)));
}

function pathOf(id: string): string {
  return `${KEYS}/${id}`;
}

/** Returns a key, or what is wrong with it; `undefined` if it was removed since it was listed. */
async function readKey(
  target: Target,
  path: string,
): Promise<WrappedKey | DamagedObject | undefined> {
  let problem = "";
  for (let reads = 0; reads < READS; reads++) {
    const bytes = await target.get(path);
    if (bytes === undefined) return undefined;
    try {
      return { id: path.slice(KEYS.length + 1), ...parseKey(bytes) };
    } catch (error) {
      if (!(error instanceof BadFormat)) throw error;
      problem = error.message;
    }
  }
  return new DamagedObject(path, problem);
}

/** @throws {BadFormat} if it is no key, or damaged. */
function parseKey(bytes: Bytes): Omit<WrappedKey, "id"> {
  const json = parseChecked(bytes);
  const [N, r, p] = [countIn(json["N"]), countIn(json["r"]), countIn(json["p"])];
  if (json["kdf"] !== "scrypt" || p > 16 || 128 * N * r > MAX_MEMORY / 2) {
    throw new BadFormat("is no key that kvdrive made");
  }
  return {
    created: countIn(json["created"]),
    N,
    r,
    p,
    salt: base64In(json["salt"]),
    wrapped: base64In(json["master_key"]),
  };
}

function base64In(value: unknown): Bytes {
  const text = textIn(value, /^[A-Za-z0-9+/]+=*$/);
  try {
    return new Uint8Array(decodeBase64(text));
  } catch (error) {
    throw new BadFormat("has bytes that are no base64", { cause: error });
  }
}

async function keyOf(
  passphrase: string,
  { N, r, p, salt }: Pick<WrappedKey, "N" | "r" | "p" | "salt">,
): Promise<CryptoKey> {
  const options = { N, r, p, maxmem: MAX_MEMORY };
  const bits = await deriveBits(encoder.encode(passphrase), salt, 32, options);
  return await crypto.subtle.importKey("raw", new Uint8Array(bits), "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}

function parametersOf(repository: string): AesGcmParams {
  return { name: "AES-GCM", iv: ZERO_NONCE, additionalData: encoder.encode(repository) };
}
