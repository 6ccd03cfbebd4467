import { Buffer } from "node:buffer";
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "../../rules/concurrency.ts";
import { KIB, MIB } from "../../rules/units.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import type { PasswordHash } from "../engine/records.ts";

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
