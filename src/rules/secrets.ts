import { createHash, randomInt } from "node:crypto";
import { isProjectId } from "./names.ts";

/** The length from which a secret of `A-Z a-z 0-9` holds 128 random bits (22 × log2 62 = 131). */
export const MIN_SECRET_LENGTH = 22;

/** Characters of a project key's secret that it is listed by. */
export const KEY_PREFIX_LENGTH = 8;

/** The length from which on a secret shows its first characters: 22 of `A-Z a-z 0-9`, 128 random bits, stay unseen. */
export const MIN_SHOWN_SECRET_LENGTH = MIN_SECRET_LENGTH + KEY_PREFIX_LENGTH;

/** "A key's prefix has 8 characters" (wire contract): that of an application's key. */
export const APP_KEY_PREFIX_LENGTH = 8;

/** A key in a header. Ours have at most 100 characters; what is longer is not hashed at all. */
export const MAX_KEY_HEADER = 256;

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Clients cut the id out of a key at the first `_`, and one takes no key with a second one. */
const SEPARATOR = "_";

/** 32 characters are 190 random bits; an id needs to be unique, not secret. */
const SECRET_LENGTH = 32;
const ID_LENGTH = 12;

/** A project key, `<project_id>_<secret>`. */
export interface ProjectKey {
  project: string;
  secret: string;
  /** The whole of it. */
  text: string;
}

/** Reads a project key; `undefined` where it is not `<project_id>_<secret>`. */
export function parseProjectKey(text: string): ProjectKey | undefined {
  const at = text.indexOf(SEPARATOR);
  const project = text.slice(0, Math.max(0, at));
  const secret = text.slice(at + 1);
  if (!isProjectId(project) || !/^[\x21-\x7e]+$/.test(secret)) return undefined;
  if (text.length > MAX_KEY_HEADER) return undefined;
  return { project, secret, text };
}

/** A new key, of a new project unless one is named. */
export function newProjectKey(project = randomText(ID_LENGTH).toLowerCase()): ProjectKey {
  const secret = newSecret();
  return { project, secret, text: project + SEPARATOR + secret };
}

/** What a project key is listed by. Of a short secret, which somebody chose, no part is shown but one of its hash. */
export function keyPrefix({ secret, text }: ProjectKey): string {
  return (secret.length >= MIN_SHOWN_SECRET_LENGTH ? secret : hashSecret(text)).slice(
    0,
    KEY_PREFIX_LENGTH,
  );
}

/** A key of an application, `<prefix>.<secret>`. */
export interface AppKey {
  /** What it is listed by. */
  prefix: string;
  secret: string;
  /** The whole of it. */
  text: string;
}

/** A new key of an application. */
export function newAppKey(): AppKey {
  const prefix = randomText(APP_KEY_PREFIX_LENGTH);
  const secret = newSecret();
  return { prefix, secret, text: `${prefix}.${secret}` };
}

/** A secret of 190 random bits. */
export function newSecret(): string {
  return randomText(SECRET_LENGTH);
}

/** "Only a SHA-256 of a key is stored": it, in hexadecimal. */
export function hashSecret(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHANUMERIC[randomInt(ALPHANUMERIC.length)]).join("");
}
