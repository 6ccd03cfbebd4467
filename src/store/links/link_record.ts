/**
 * The entries of a link: its record, its place in the list of its drive, the count of its downloads, and, if it expires,
 * an entry of the garbage journal. They are made and deleted together.
 *
 * @module
 */
import { keys } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import type { DriveLinkRecord, Garbage, LinkRecord, PasswordHash } from "../engine/records.ts";
import { Buffer } from "node:buffer";
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "../../rules/concurrency.ts";
import { KIB, MIB } from "../../rules/units.ts";
import { StoreUnavailable } from "../engine/errors.ts";

/** What names all entries of a link. */
export interface LinkEntries {
  project: string;
  drive: string;
  id: string;
  expires?: number | undefined;
}

/** Returns the keys of a link's entries. The record comes last: as long as it is there, the others can be found. */
export function linkEntryKeys({ project, drive, id, expires }: LinkEntries): Deno.KvKey[] {
  return [
    ...(expires === undefined ? [] : [keys.garbage(expires, id)]),
    keys.linkDownloads(id),
    keys.driveLink(project, drive, id),
    keys.link(id),
  ];
}

/** The settings of a link. Of one that exists, `undefined` leaves a setting as it is, and `null` removes it. */
export interface LinkSettings<Password = string> {
  /** Milliseconds since 1970. */
  expires?: number | null | undefined;
  download?: boolean | undefined;
  password?: Password | null | undefined;
  maxDownloads?: number | null | undefined;
}

/** Returns a record with other settings. */
export function withSettings(
  { expires, password, maxDownloads, ...record }: LinkRecord,
  changes: LinkSettings<PasswordHash>,
): LinkRecord {
  return {
    ...record,
    download: changes.download ?? record.download,
    ...setting("expires", expires, changes.expires),
    ...setting("password", password, changes.password),
    ...setting("maxDownloads", maxDownloads, changes.maxDownloads),
  };
}

function setting<Name extends string, T>(
  name: Name,
  before: T | undefined,
  change: T | null | undefined,
): Partial<Record<Name, T>> {
  const value = change === undefined ? before : change;
  return value === null || value === undefined ? {} : { [name]: value } as Record<Name, T>;
}

/** Adds a new link. Its counter follows with the first download. */
export function addLink(operation: Operation, id: string, record: LinkRecord): void {
  setLink(operation.check(keys.link(id), null), id, record);
}

/** Replaces the record of a link by one with other settings. */
export function changeLink(
  operation: Operation,
  id: string,
  { before, after }: { before: LinkRecord; after: LinkRecord },
): void {
  const { expires } = before;
  if (expires !== undefined && expires !== after.expires) {
    operation.delete(keys.garbage(expires, id));
  }
  setLink(operation, id, after);
}

function setLink(operation: Operation, id: string, record: LinkRecord): void {
  const { project, drive, expires } = record;
  const index: DriveLinkRecord = expires === undefined ? {} : { expires };
  operation.set(keys.link(id), record).set(keys.driveLink(project, drive, id), index);
  addLinkDeadline(operation, { project, drive, id, expires });
}

/** Adds the entry of the journal that deletes a link at its deadline, if it has one. */
export function addLinkDeadline(
  operation: Operation,
  { project, drive, id, expires }: LinkEntries,
): void {
  if (expires === undefined) return;
  const garbage: Garbage = { kind: "link", project, drive, name: "", id };
  operation.set(keys.garbage(expires, id), garbage);
}

export function deleteLink(operation: Operation, entries: LinkEntries): void {
  for (const key of linkEntryKeys(entries)) operation.delete(key);
}

/** A password of a link, in bytes of UTF-8. */
export const MAX_LINK_PASSWORD = 1 * KIB;

/**
 * The work of one hash: 16 MiB of memory and some 50 ms. It slows down those who have a copy of the store; others need
 * the link's address first, and may send only few wrong passwords.
 */
const SCRYPT = { N: 2 ** 14, r: 8, p: 1, maxmem: 32 * MIB };

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes that are computed at the same time, in threads of the runtime, and hashes that wait. */
const CONCURRENT_HASHES = 2;
const MAX_WAITING_HASHES = 32;

/** Hashes and compares passwords, few at a time, so that many guesses take neither the processor nor the memory. */
export class Passwords {
  readonly #slots = new Semaphore(CONCURRENT_HASHES);
  #waiting = 0;

  /** @throws {StoreUnavailable} if too many passwords wait. */
  async hash(password: string): Promise<PasswordHash> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#run(password, salt);
    return { salt: salt.toString("base64"), hash: hash.toString("base64") };
  }

  /** Returns whether a password is the hashed one. @throws {StoreUnavailable} if too many passwords wait. */
  async matches(password: string, { salt, hash }: PasswordHash): Promise<boolean> {
    if (Buffer.byteLength(password) > MAX_LINK_PASSWORD) return false;
    const computed = await this.#run(password, Buffer.from(salt, "base64"));
    const wanted = Buffer.from(hash, "base64");
    return computed.byteLength === wanted.byteLength && timingSafeEqual(computed, wanted);
  }

  async #run(password: string, salt: Buffer): Promise<Buffer> {
    if (this.#waiting >= MAX_WAITING_HASHES) {
      throw new StoreUnavailable("Too many passwords are being checked");
    }
    this.#waiting++;
    try {
      return await this.#slots.run(() =>
        new Promise<Buffer>((resolve, reject) =>
          // The same text may be typed as different code points.
          scrypt(password.normalize("NFC"), salt, HASH_BYTES, SCRYPT, (error, key) => {
            if (error === null) resolve(key);
            else reject(error);
          })
        )
      );
    } finally {
      this.#waiting--;
    }
  }
}
