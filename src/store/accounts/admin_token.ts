import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { transact } from "../engine/transact.ts";
import { TtlCache } from "../engine/ttl_cache.ts";
import { endGrants } from "../sessions/grants.ts";
import { COMMAND_LINE, type EventLog } from "./events.ts";
import type { Revocations } from "./revocations.ts";

/** The target of an event about the token. */
const ADMINISTRATOR = "admin";

/** The administrator's token. Only its SHA-256 is stored, in hexadecimal. */
export class AdminToken {
  /** How the audit logs name who has it. */
  readonly actor = "admin";
  readonly #cache: TtlCache<string>;

  constructor(
    private readonly db: Database,
    private readonly revocations: Revocations,
    private readonly events: EventLog,
  ) {
    this.#cache = new TtlCache(() => this.#read());
  }

  async exists(): Promise<boolean> {
    return await this.#read() !== undefined;
  }

  /** Makes the token with this hash the only one. */
  async set(hash: string): Promise<void> {
    await this.#change(hash, () => true);
  }

  /** Sets the token if there is none yet. Returns whether it was set. */
  async setFirst(hash: string): Promise<boolean> {
    return await this.#change(hash, (current) => current === null);
  }

  /** Returns whether the token has this hash. It is cached for `KEY_CACHE_TTL`. */
  async hasHash(hash: string): Promise<boolean> {
    const current = await this.#cache.get("");
    if (current === undefined) return false;
    const [given, wanted] = [Buffer.from(hash), Buffer.from(current)];
    return given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted);
  }

  /** The operation checks the current token, so a commit that is delayed cannot bring an older one back. */
  async #change(
    hash: string,
    mayReplace: (current: string | null) => boolean,
  ): Promise<boolean> {
    let former: string | null = null;
    const isChanged = await transact(this.db, async () => {
      const { key, value, versionstamp } = await this.db.reader.get<string>(keys.adminToken());
      if (!mayReplace(value)) return { result: false };
      former = value;
      const operation = new Operation().check(key, versionstamp).set(key, hash);
      // A server that is started with a token sets it each time.
      if (value !== hash) {
        this.events.record(operation, COMMAND_LINE, {
          event: "admin_token.renewed",
          target: ADMINISTRATOR,
        });
      }
      return { operation, result: true };
    });
    if (!isChanged) return false;
    this.#cache.clear();
    this.revocations.notify();
    // They open nothing since the commit. This keeps them from coming back with the former token.
    if (former !== null && former !== hash) await endGrants(this.db, former);
    return true;
  }

  async #read(): Promise<string | undefined> {
    return (await this.db.reader.get<string>(keys.adminToken())).value ?? undefined;
  }
}
