import { monotonicUlid } from "@std/ulid";
import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { DAY, HOUR, MINUTE } from "../../rules/units.ts";
import { type Actor, COMMAND_LINE, type EventLog } from "../accounts/events.ts";
import type { AdminToken } from "../accounts/admin_token.ts";
import { opens } from "../accounts/key_entries.ts";
import type { FoundProjectKey, ProjectKeyStore } from "../accounts/project_keys.ts";
import { StoreFull } from "../disk/disk_space.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type {
  BrowserSessionRecord,
  Credential,
  GrantRecord,
  ProjectKeyRecord,
  ProjectRecord,
} from "../engine/records.ts";
import { transact } from "../engine/transact.ts";
import { KEY_CACHE_TTL, TtlCache } from "../engine/ttl_cache.ts";
import { readMany } from "../reads/read_queue.ts";
import { deleteGrant, deleteGrants, listGrants, makeRoom, setGrant } from "./grants.ts";

/** How long a browser stays signed in to the dashboard after its last use, in milliseconds. */
export const BROWSER_SESSION_TIME = 30 * DAY;

/** How often the last use of a session is stored, in milliseconds. */
const USE_INTERVAL = HOUR;

/** Browsers that are signed in with one credential: the one that signed in first makes room. */
export const MAX_BROWSER_SESSIONS = 50;

/** How long a sign-in code is valid, in milliseconds. */
export const SIGN_IN_CODE_TIME = 15 * MINUTE;

/** Sign-in codes of one credential: the oldest makes room. */
export const MAX_SIGN_IN_CODES = 20;

/** The beginning of every sign-in code. */
const CODE_START = "once_";

/** Returns whether a text has the form of a sign-in code. The key of a project `once` has it, too. */
export function looksLikeSignInCode(text: string): boolean {
  return text.startsWith(CODE_START);
}

/** Who signs in. */
export interface BrowserClient {
  address: string;
  /** A short name of the browser. */
  browser: string;
}

/** A session whose credential is valid. */
export interface BrowserSession {
  /** SHA-256 of its token. */
  hash: string;
  record: BrowserSessionRecord;
  /** The project key that it stands for; absent for the administrator. */
  key?: FoundProjectKey;
}

export type ListedSession = Omit<BrowserSessionRecord, "owner">;

/** What starts a session: a credential, or the SHA-256 of a sign-in code. */
type SignIn = { owner: Credential } | { code: string };

interface CachedSession {
  record: BrowserSessionRecord;
  versionstamp: string;
}

/** The parts of the store that know the credentials. */
export interface CredentialStores {
  keys: ProjectKeyStore;
  adminToken: AdminToken;
  events: EventLog;
}

/** Browsers that are signed in to the dashboard, and codes for signing in once. Only the SHA-256 of a token is stored. */
export class SignInStore {
  readonly #cache: TtlCache<CachedSession>;

  /** @param onError Receives errors of background work. */
  constructor(
    private readonly db: Database,
    private readonly stores: CredentialStores,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#cache = new TtlCache((hash) => this.#read(hash));
  }

  /**
   * Starts a session. Returns its token, which cannot be read again; `undefined` if the credential is not valid, or the
   * code is unknown, was used or has expired. A code is used up by the operation that starts the session.
   */
  async start(
    signIn: SignIn,
    { address, browser }: BrowserClient,
  ): Promise<{ token: string; session: BrowserSession } | undefined> {
    const token = newSecret();
    const hash = hashSecret(token);
    const owner = "owner" in signIn ? signIn.owner : await this.#ownerOf(signIn.code);
    if (owner === undefined) return undefined;
    const removed = await makeRoom(this.db, owner.hash, "session", MAX_BROWSER_SESSIONS);
    for (const each of removed) this.#cache.forget(each);
    const isStarted = await transact(this.db, async () => {
      const valid = await this.#validity(owner);
      if (valid === undefined) return { result: false };
      const { operation, by, expires: end } = valid;
      if ("code" in signIn && !await this.#useCode(operation, signIn.code)) {
        return { result: false };
      }
      const created = Date.now();
      const expires = Math.min(created + BROWSER_SESSION_TIME, end);
      const id = monotonicUlid();
      const record = { id, owner, created, lastUsed: created, expires, address, browser };
      setGrant(operation, { kind: "session", hash, record });
      this.#events.record(operation, { by, address }, {
        event: "dashboard.signed_in",
        ...eventPlace(owner),
        target: id,
      });
      return { operation, result: true };
    });
    const session = isStarted ? await this.find(hash) : undefined;
    return session === undefined ? undefined : { token, session };
  }

  /**
   * Returns the session of a token, cached for `KEY_CACHE_TTL`; `undefined` if it was ended or has expired, or if its
   * credential is no longer valid. Such a session is deleted here, so that nothing revives it.
   *
   * @param hash SHA-256 of the token.
   */
  async find(hash: string): Promise<BrowserSession | undefined> {
    const found = await this.#cache.get(hash);
    if (found === undefined) return undefined;
    const { record } = found;
    const now = Date.now();
    const { owner } = record;
    const key = owner.project === undefined ? undefined : await this.stores.keys.find(owner.hash);
    const isValid = owner.project === undefined
      ? await this.stores.adminToken.hasHash(owner.hash)
      : key?.project === owner.project;
    if (record.expires <= now || !isValid) {
      await this.end({ hash, record });
      return undefined;
    }
    if (now >= record.lastUsed + USE_INTERVAL) this.#renew(hash, found, now, key?.rights.expires);
    return { hash, record, ...(key === undefined ? {} : { key }) };
  }

  /**
   * Returns whether a session that was valid some time ago still is.
   *
   * @param age How long ago, in milliseconds. Beyond `KEY_CACHE_TTL` the store is read.
   */
  async isStillValid(hash: string, age: number): Promise<boolean> {
    if (age > KEY_CACHE_TTL) this.#cache.forget(hash);
    return await this.find(hash) !== undefined;
  }

  async end({ hash, record }: Pick<BrowserSession, "hash" | "record">): Promise<void> {
    const operation = new Operation();
    deleteGrant(operation, { kind: "session", hash, record });
    await this.db.commit(operation);
    this.#cache.forget(hash);
  }

  /** Returns the sessions of a credential, the newest first. @param owner Its SHA-256. */
  async list(owner: string): Promise<ListedSession[]> {
    const listed = await listGrants(this.db, owner, "session");
    const hashes = listed.map(({ value }) => value.hash);
    const records = await readMany<BrowserSessionRecord>(
      this.db.reader,
      hashes.map((hash) => keys.grant("session", hash)),
    );
    const now = Date.now();
    return records.flatMap(({ value }) => value !== null && value.expires > now ? [value] : [])
      .reverse();
  }

  /**
   * Ends the sessions of a credential, or the one with this id. Returns how many there were.
   *
   * @param owner SHA-256 of the credential.
   */
  async endAll(owner: string, id?: string): Promise<number> {
    const listed = (await listGrants(this.db, owner, "session"))
      .filter(({ key }) => id === undefined || key.at(-1) === id);
    await deleteGrants(this.db, listed);
    for (const { value } of listed) this.#cache.forget(value.hash);
    return listed.length;
  }

  /**
   * Creates a code that signs a browser in once, within `SIGN_IN_CODE_TIME`. Returns `undefined` if the credential is not
   * valid.
   *
   * @param owner What the browser is signed in with: a project key, or the administrator's present token.
   */
  async createCode(
    owner: Credential | "administrator",
    actor: Actor = COMMAND_LINE,
  ): Promise<{ code: string; expires: number } | undefined> {
    const code = CODE_START + newSecret();
    const credential = owner === "administrator" ? await this.#administrator() : owner;
    if (credential === undefined) return undefined;
    await makeRoom(this.db, credential.hash, "code", MAX_SIGN_IN_CODES);
    return await transact(this.db, async () => {
      const valid = await this.#validity(credential);
      if (valid === undefined) return { result: undefined };
      const { operation, expires: end, by } = valid;
      const created = Date.now();
      const expires = Math.min(created + SIGN_IN_CODE_TIME, end);
      const record = { id: monotonicUlid(), owner: credential, created, expires };
      setGrant(operation, { kind: "code", hash: hashSecret(code), record });
      this.#events.record(operation, actor, {
        event: "sign_in_code.created",
        ...eventPlace(credential),
        target: by,
      });
      return { operation, result: { code, expires } };
    });
  }

  get #events(): EventLog {
    return this.stores.events;
  }

  async #administrator(): Promise<Credential | undefined> {
    const { value } = await this.db.reader.get<string>(keys.adminToken());
    return value === null ? undefined : { hash: value };
  }

  /** Returns the credential of a code, which may be any text's hash. */
  async #ownerOf(code: string): Promise<Credential | undefined> {
    const { value } = await this.db.reader.get<GrantRecord>(keys.grant("code", code));
    return value?.owner;
  }

  /** Adds the use of a code to an operation. Returns whether the code is valid. */
  async #useCode(operation: Operation, hash: string): Promise<boolean> {
    const { key, value, versionstamp } = await this.db.reader.get<GrantRecord>(
      keys.grant("code", hash),
    );
    if (value === null) return false;
    operation.check(key, versionstamp);
    deleteGrant(operation, { kind: "code", hash, record: value });
    // An expired one is left to the sweeper.
    return value.expires > Date.now();
  }

  /**
   * Returns an operation that requires a credential to be valid, the end of the credential's life, and its name in the
   * audit log; `undefined` if it is not valid.
   */
  async #validity(
    { hash, project }: Credential,
  ): Promise<{ operation: Operation; expires: number; by: string } | undefined> {
    if (project === undefined) {
      const { key, value, versionstamp } = await this.db.reader.get<string>(keys.adminToken());
      if (value !== hash) return undefined;
      const operation = new Operation().check(key, versionstamp);
      return { operation, expires: Infinity, by: "admin" };
    }
    const [owner, key] = await this.db.reader.getMany<[ProjectRecord, ProjectKeyRecord]>([
      keys.project(project),
      keys.projectKey(hash),
    ]);
    if (owner.value === null || !opens(key.value, project)) return undefined;
    const operation = new Operation().unchanged(owner, key);
    const { expires = Infinity, prefix } = key.value;
    return { operation, expires, by: prefix };
  }

  /** Stores in the background that a session was used. Of several processes, one does it. */
  #renew(
    hash: string,
    found: CachedSession,
    now: number,
    end = Infinity,
  ): void {
    const { record, versionstamp } = found;
    const expires = Math.min(now + BROWSER_SESSION_TIME, end);
    const renewed = { ...record, lastUsed: now, expires };
    const operation = new Operation().check(keys.grant("session", hash), versionstamp);
    // The present time is in the cache at once, so that later requests do not store it again.
    found.record = renewed;
    deleteGrant(operation, { kind: "session", hash, record });
    setGrant(operation, { kind: "session", hash, record: renewed });
    this.db.commit(operation).then(() => this.#cache.forget(hash), (error: unknown) => {
      // The next look-up beyond the cache time tries again.
      if (!(error instanceof StoreFull || error instanceof StoreUnavailable)) this.onError(error);
    });
  }

  async #read(hash: string): Promise<CachedSession | undefined> {
    const [{ value, versionstamp }] = await this.db.reads.get<[BrowserSessionRecord]>([
      keys.grant("session", hash),
    ]);
    return value === null ? undefined : { record: value, versionstamp };
  }
}

function eventPlace({ project }: Credential): { project?: string } {
  return project === undefined ? {} : { project };
}
