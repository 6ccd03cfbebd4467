/**
 * Keys of projects and of applications, the hash that the store keeps of them, and S3 keys.
 *
 * @module
 */
import { createHash, randomInt } from "node:crypto";
import { isProjectId } from "./names.ts";

/** "At least 128 random bits" (docs/contract.md, Keys): 22 characters of `A-Z a-z 0-9` have 131 (22 × log2 62). */
export const MIN_SECRET_LENGTH = 22;

/** Characters of a project key's secret that lists show. */
export const KEY_PREFIX_LENGTH = 8;

/** The shortest secret whose first characters are shown: 128 random bits stay hidden. */
export const MIN_SHOWN_SECRET_LENGTH = MIN_SECRET_LENGTH + KEY_PREFIX_LENGTH;

/**
 * An application's key has 8 and 32 characters of `A-Z a-z 0-9` (docs/contract.md, Applications): 32 are 190 random
 * bits.
 */
export const APP_KEY_PREFIX_LENGTH = 8;
const SECRET_LENGTH = 32;

/** Characters of a project's id unless one is chosen: it has to be unique, not secret. */
const ID_LENGTH = 12;

/** A key in a header, in characters. Ours have at most 100; longer values are rejected before they are hashed. */
export const MAX_KEY_HEADER = 256;

/** An access key id is the beginning and 18 characters of `A-Z 0-9`, as S3 clients expect it. */
const ACCESS_KEY_BEGINNING = "KV";
const ACCESS_KEY_ID = /^KV[A-Z0-9]{18}$/;

/** Characters of the secret of an S3 key, as S3 clients expect it: 238 random bits. */
const S3_SECRET_LENGTH = 40;

const UPPER_CASE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** "A project key is `<project_id>_<secret>` … cut the id out at the first `_`" (docs/contract.md, Keys). */
const SEPARATOR = "_";

/** A project key, `<project_id>_<secret>`. */
export interface ProjectKey {
  project: string;
  secret: string;
  text: string;
}

/** Parses a project key; returns `undefined` for any other text. */
export function parseProjectKey(text: string): ProjectKey | undefined {
  const at = text.indexOf(SEPARATOR);
  const project = text.slice(0, Math.max(0, at));
  const secret = text.slice(at + 1);
  if (!isProjectId(project) || !/^[\x21-\x7e]+$/.test(secret)) return undefined;
  if (text.length > MAX_KEY_HEADER) return undefined;
  return { project, secret, text };
}

/** Creates a key with a random secret. @param project The project's id; a random one unless given. */
export function newProjectKey(project = randomText(ID_LENGTH).toLowerCase()): ProjectKey {
  // One client library accepts no key with a second `_`: the secret has none.
  const secret = newSecret();
  return { project, secret, text: project + SEPARATOR + secret };
}

/**
 * Returns the prefix under which lists show a project key: the first characters of its secret, or of its hash if the
 * secret is short, because someone chose it.
 */
export function keyPrefix({ secret, text }: ProjectKey): string {
  return (secret.length >= MIN_SHOWN_SECRET_LENGTH ? secret : hashSecret(text))
    .slice(0, KEY_PREFIX_LENGTH);
}

/** A key of an application, `<prefix>.<secret>`. */
export interface AppKey {
  /** The part that lists show. */
  prefix: string;
  secret: string;
  text: string;
}

/** Creates a key of an application. */
export function newAppKey(): AppKey {
  const prefix = randomText(APP_KEY_PREFIX_LENGTH);
  const secret = newSecret();
  return { prefix, secret, text: `${prefix}.${secret}` };
}

/** Creates a secret of 32 characters with 190 random bits. */
export function newSecret(): string {
  return randomText(SECRET_LENGTH);
}

/** Compares two secrets in a time that does not depend on where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

/** Returns the SHA-256 of a key in hexadecimal. "The store keeps only the SHA-256 of a key" (docs/contract.md, Keys). */
export function hashSecret(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** An S3 key: its id is public, its secret signs requests. */
export interface S3Key {
  accessKeyId: string;
  secret: string;
}

/** Creates an S3 key. */
export function newS3Key(): S3Key {
  const accessKeyId = ACCESS_KEY_BEGINNING + randomText(18, UPPER_CASE);
  return { accessKeyId, secret: randomText(S3_SECRET_LENGTH) };
}

/** Returns whether a text can be the id of an S3 key. */
export function isAccessKeyId(text: string): boolean {
  return ACCESS_KEY_ID.test(text);
}

function randomText(length: number, characters = ALPHANUMERIC): string {
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join("");
}
