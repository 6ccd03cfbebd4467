/**
 * The signing key of links. A link's address ends in `<id><code>`, and the code is a keyed hash of the id. So the address
 * can be shown again, and the store holds no usable secret but this key.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { LinkKeyRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_SIZE, setBounded, TtlCache } from "../engine/ttl_cache.ts";
import { addGarbage } from "../bytes/garbage.ts";

const SECRET_BYTES = 32;

/** Bytes of a code: 128 bits cannot be guessed. */
const CODE_BYTES = 16;

/** An id, which is a ULID, and its code in base64url. */
const TOKEN = /^([0-9A-HJKMNP-TV-Z]{26})([A-Za-z0-9_-]{22})$/;

/** The id of no link, looked up in place of a malformed one. */
const NO_ID = "0".repeat(26);

/** What a text is signed for, so that no signature counts for another purpose. */
export type Purpose = "link" | "cookie";

/** Signs the ids of links, and the cookies of those who entered a link's password. */
export class SigningKey {
  readonly id: string;
  readonly #secret: Buffer;
  /** The ids of tokens that were found to be genuine: computing a code takes a tenth of a small download. */
  readonly #genuine = new Map<string, string>();

  constructor({ id, secret }: LinkKeyRecord) {
    this.id = id;
    this.#secret = Buffer.from(secret, "base64");
  }

  /** Returns the token of a link: what follows `/s/` in its address. */
  tokenOf(id: string): string {
    return id + this.sign("link", id);
  }

  /** Returns the link that a token names, and whether this key made the token. The text may be any. */
  parse(token: string): { id: string; isGenuine: boolean } {
    const known = this.#genuine.get(token);
    if (known !== undefined) return { id: known, isGenuine: true };
    const [, id = NO_ID, code = ""] = TOKEN.exec(token) ?? [];
    const isGenuine = this.verify("link", id, code);
    if (isGenuine) setBounded(this.#genuine, KEY_CACHE_SIZE, token, id);
    return { id, isGenuine };
  }

  /** Returns the signature of a text, in base64url. */
  sign(purpose: Purpose, text: string): string {
    const code = createHmac("sha256", this.#secret).update(`${purpose}\0${text}`).digest();
    return code.subarray(0, CODE_BYTES).toString("base64url");
  }

  /** Returns whether a signature is right. The time does not depend on how much of it is. */
  verify(purpose: Purpose, text: string, signature: string): boolean {
    const [given, wanted] = [Buffer.from(signature), Buffer.from(this.sign(purpose, text))];
    return given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted);
  }
}

export function newLinkKey(): LinkKeyRecord {
  return {
    id: randomBytes(8).toString("hex"),
    secret: randomBytes(SECRET_BYTES).toString("base64"),
  };
}

/** The current signing key of the store. */
export class SigningKeys {
  readonly #cache: TtlCache<SigningKey>;
  /** Takes the place of the key while there is none. It signs nothing that anyone gets. */
  readonly #absent = new SigningKey(newLinkKey());
  #last: SigningKey | undefined;

  constructor(private readonly db: Database) {
    this.#cache = new TtlCache(() => this.#read(), { cachesAbsence: true });
  }

  /** Returns the current key, cached for `KEY_CACHE_TTL`; one that made no link if there is none yet. */
  async find(): Promise<SigningKey> {
    return this.#cache.peek("") ?? await this.#cache.get("") ?? this.#absent;
  }

  /** Makes a key if there is none: several processes may do so at once. */
  async ensure(): Promise<void> {
    if (await this.#cache.get("") !== undefined) return;
    await transact(this.db, async () => {
      const { key, value } = await this.db.reader.get<LinkKeyRecord>(keys.linkKey());
      if (value !== null) return { result: undefined };
      const operation = new Operation().check(key, null).set(key, newLinkKey());
      return { operation, result: undefined };
    });
    this.forget();
  }

  /** Drops the key from the cache. */
  forget(): void {
    this.#cache.clear();
  }

  /**
   * Replaces the key. From then on no earlier link opens anything; the sweeper deletes them.
   *
   * @param alongside Adds further changes to the operation.
   */
  async rotate(alongside: (operation: Operation) => void): Promise<void> {
    await transact(this.db, async () => {
      const { key, value, versionstamp } = await this.db.reader.get<LinkKeyRecord>(keys.linkKey());
      const operation = new Operation().check(key, versionstamp).set(key, newLinkKey());
      if (value !== null) {
        const nowhere = { project: "", drive: "", name: "" };
        addGarbage(operation, { kind: "links", ...nowhere, keyId: value.id }, Date.now());
      }
      alongside(operation);
      return { operation, result: undefined };
    });
    this.forget();
  }

  async #read(): Promise<SigningKey | undefined> {
    const { value } = await this.db.reader.get<LinkKeyRecord>(keys.linkKey());
    if (value === null) return undefined;
    if (this.#last?.id !== value.id) this.#last = new SigningKey(value);
    return this.#last;
  }
}
