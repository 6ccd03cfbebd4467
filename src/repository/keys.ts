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
import { BadFormat, RepositoryError } from "./errors.ts";
import { countIn, parseObject, textIn } from "./manifest.ts";
import { MASTER_KEY_LENGTH } from "./seal.ts";
import type { Bytes } from "./bytes.ts";
import type { Target } from "./targets/target.ts";

/** The cost of scrypt (RFC 7914): 32 MiB of memory, and some 0.1 s. */
const COST = { N: 2 ** 15, r: 8, p: 1 };

/** Memory that a key of the repository may ask for. One with a greater cost was not made by kvdrive. */
const MAX_MEMORY = 128 * MIB;

const SALT_LENGTH = 32;

/** How often the keys are read if none opens: they may have changed on their way. */
const ATTEMPTS = 3;

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

export interface ListedKey {
  /** 16 hexadecimal digits. */
  id: string;
  /** Milliseconds since 1970. */
  created: number;
}

interface WrappedKey extends ListedKey {
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
  const id = encodeHex(crypto.getRandomValues(new Uint8Array(8)));
  const json = {
    created: Date.now(),
    kdf: "scrypt",
    ...COST,
    salt: encodeBase64(salt),
    master_key: encodeBase64(new Uint8Array(wrapped)),
  };
  await target.put(`${KEYS}/${id}`, encoder.encode(JSON.stringify(json)), true);
  return id;
}

/** Returns the keys in the order of their creation. Those that cannot be read are left out. */
export async function listKeys(target: Target): Promise<ListedKey[]> {
  const keys: ListedKey[] = [];
  for await (const { id, created } of storedKeys(target)) keys.push({ id, created });
  return keys.sort((a, b) => a.created - b.created);
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
  let keys = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    keys = 0;
    for await (const { id, wrapped, ...parameters } of storedKeys(target)) {
      keys++;
      const key = await keyOf(passphrase, parameters);
      try {
        const opened = await crypto.subtle.decrypt(parametersOf(repository), key, wrapped);
        return { masterKey: new Uint8Array(opened), key: id };
      } catch {
        // It is the key of another passphrase, or damaged.
      }
    }
  }
  throw new RepositoryError(
    keys === 0
      ? `The repository ${target.place} is encrypted, and has no readable key in ${KEYS}: restore ` +
        "that folder from a copy of the repository"
      : `The passphrase is wrong: it opens none of the ${keys} keys of the repository ${target.place}`,
  );
}

/** Returns whether an object is a key by its name. */
export function isKey(name: string): boolean {
  return /^keys\/[0-9a-f]{16}$/.test(name);
}

async function* storedKeys(target: Target): AsyncGenerator<WrappedKey> {
  for await (const { name } of target.list(KEYS)) {
    const id = name.slice(KEYS.length + 1);
    const bytes = isKey(name) ? await target.get(name) : undefined;
    const key = bytes && parseKey(bytes);
    if (key !== undefined) yield { id, ...key };
  }
}

/** Returns `undefined` if it is no key, or damaged. */
function parseKey(bytes: Bytes): Omit<WrappedKey, "id"> | undefined {
  try {
    const json = parseObject(bytes);
    const [N, r, p] = [countIn(json["N"]), countIn(json["r"]), countIn(json["p"])];
    if (json["kdf"] !== "scrypt" || p > 16 || 128 * N * r > MAX_MEMORY / 2) return undefined;
    const base64 = /^[A-Za-z0-9+/]+=*$/;
    return {
      created: countIn(json["created"]),
      N,
      r,
      p,
      salt: new Uint8Array(decodeBase64(textIn(json["salt"], base64))),
      wrapped: new Uint8Array(decodeBase64(textIn(json["master_key"], base64))),
    };
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
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
