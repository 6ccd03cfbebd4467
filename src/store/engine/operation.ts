import { sealValue } from "../reads/record_codec.ts";
import { encodedLength, identityOf } from "./keys.ts";

/**
 * Limits of one atomic operation, below those of Deno KV: 819,200 bytes, 1000 mutations, 100 checks, 81,920 bytes of
 * keys.
 */
export const MAX_COMMIT_BYTES = 800_000;
export const MAX_COMMIT_MUTATIONS = 900;
export const MAX_COMMIT_CHECKS = 90;
const MAX_COMMIT_KEY_BYTES = 75_000;

/** Bytes of a counter, without its key. */
const COUNTER_BYTES = 16;

/** Bytes of the changes in one entry of a feed: a value of Deno KV has at most 65,536, here with `at` and the checksum. */
const MAX_CHANGES_BYTES = 65_000;

/** Bytes of a versionstamp at the end of a key. */
const VERSIONSTAMP_BYTES = 22;

/** Counters are unsigned 64-bit integers that wrap: adding 2^64 − n subtracts n. */
const COUNTER_MODULUS = 2n ** 64n;

/** A key whose encoding is known, so that merging operations does not encode it again. */
interface EncodedKey {
  key: Deno.KvKey;
  id: string;
  /** Bytes of the key. */
  length: number;
}

interface Check extends EncodedKey {
  versionstamp: string | null;
}

interface SetChange extends EncodedKey {
  type: "set";
  value: Uint8Array | Deno.KvU64;
  expireIn?: number;
}

interface DeleteChange extends EncodedKey {
  type: "delete";
}

type Change = SetChange | DeleteChange;

interface Sum extends EncodedKey {
  by: bigint;
}

/** What happened to a name, as the API tells it. */
export type NameChange =
  /** The name stands for another version. A move has the name before it. */
  | {
    type: "put" | "move";
    name: string;
    from?: string;
    etag: string;
    size: number;
    content_type: string;
  }
  | { type: "delete"; name: string };

/** The changes of one commit in one drive: an entry of its feed. */
export interface ChangesRecord {
  /** Milliseconds since 1970. */
  at: number;
  changes: NameChange[];
}

/** The changes of one drive, which become one entry of its feed. */
interface Announcement extends EncodedKey {
  changes: NameChange[];
  /** Bytes of the changes in JSON. */
  size: number;
}

const encoder = new TextEncoder();

/** A check that many operations have in common, such as an unchanged project record. Its key is encoded once. */
export class SharedCheck implements Check {
  readonly id: string;
  readonly length: number;

  constructor(readonly key: Deno.KvKey, readonly versionstamp: string | null) {
    this.id = identityOf(key);
    this.length = encodedLength(key);
  }
}

/**
 * Checks and changes that are applied together or not at all. It counts its size against the limits of Deno KV, so that
 * small operations can be merged into one commit.
 */
export class Operation {
  readonly #checks: Check[] = [];
  /** By the identity of their keys. */
  readonly #shared = new Map<string, SharedCheck>();
  readonly #changes: Change[] = [];
  readonly #sums = new Map<string, Sum>();
  /** By the identity of the feed. */
  readonly #announced = new Map<string, Announcement>();
  /** Whether it stores bytes of a file, and not only records. */
  hasFileBytes = false;
  /** Identities of the keys that it checks, sets or deletes. Shared checks and counters are not among them. */
  readonly touched: Set<string> = new Set<string>();
  #bytes = 0;
  #keyBytes = 0;
  #added = 0;

  /** Requires that an entry has this versionstamp; `null` requires that it does not exist. */
  check(key: Deno.KvKey, versionstamp: string | null): this {
    this.#addCheck({ ...encoded(key), versionstamp });
    return this;
  }

  /** Requires that entries are as they were read. */
  unchanged(...entries: Pick<Deno.KvEntryMaybe<unknown>, "key" | "versionstamp">[]): this {
    for (const { key, versionstamp } of entries) this.check(key, versionstamp);
    return this;
  }

  #addCheck(check: Check): void {
    this.#checks.push(check);
    this.touched.add(check.id);
    this.#bytes += check.length;
  }

  /** Adds checks that other operations share. Merged operations contain each once and do not conflict over it. */
  share(...checks: SharedCheck[]): this {
    for (const check of checks) {
      if (this.#shared.has(check.id)) continue;
      this.#shared.set(check.id, check);
      this.#bytes += check.length;
    }
    return this;
  }

  /** @param expireIn Milliseconds after which Deno KV may delete the entry. */
  set(key: Deno.KvKey, value: unknown, expireIn?: number): this {
    const expiry = expireIn === undefined ? {} : { expireIn };
    this.hasFileBytes ||= value instanceof Uint8Array;
    this.#addSet({ type: "set", ...encoded(key), value: sealValue(value), ...expiry });
    return this;
  }

  #addSet(change: SetChange): void {
    this.#changes.push(change);
    this.touched.add(change.id);
    // Deno KV counts the key of a set twice.
    this.#bytes += 2 * change.length + valueLength(change.value);
    this.#keyBytes += change.length;
  }

  delete(key: Deno.KvKey): this {
    this.#addDelete({ type: "delete", ...encoded(key) });
    return this;
  }

  #addDelete(change: DeleteChange): void {
    this.#changes.push(change);
    this.touched.add(change.id);
    this.#bytes += change.length;
  }

  /** Adds a number, which may be negative, to a counter. The key must never hold another type of value. */
  sum(key: Deno.KvKey, by: number | bigint): this {
    this.#addSum({ ...encoded(key), by: BigInt(by) });
    return this;
  }

  #addSum(sum: Sum): void {
    const known = this.#sums.get(sum.id);
    if (known !== undefined) {
      known.by += sum.by;
      return;
    }
    this.#sums.set(sum.id, { ...sum });
    this.#bytes += 2 * sum.length + COUNTER_BYTES;
    this.#keyBytes += sum.length;
  }

  /**
   * Adds a change to a feed. All changes of a feed in one commit become one entry, whose key ends with the versionstamp of
   * the commit. So the keys of a feed are in the order of its commits, whichever process makes them.
   *
   * @param feed The beginning of that key.
   */
  announce(feed: Deno.KvKey, change: NameChange): this {
    const size = encoder.encode(JSON.stringify(change)).byteLength + 1;
    this.#addAnnouncement({ ...encoded(feed), changes: [change], size });
    return this;
  }

  #addAnnouncement(added: Announcement): void {
    const known = this.#announced.get(added.id);
    this.#bytes += added.size;
    if (known !== undefined) {
      known.changes.push(...added.changes);
      known.size += added.size;
      return;
    }
    this.#announced.set(added.id, { ...added, changes: [...added.changes] });
    const keyLength = added.length + VERSIONSTAMP_BYTES;
    this.#bytes += 2 * keyLength;
    this.#keyBytes += keyLength;
  }

  /** The feeds to which it adds changes. */
  get feeds(): Deno.KvKey[] {
    return Array.from(this.#announced.values(), ({ key }) => key);
  }

  /** Returns what it adds to a counter. */
  summed(key: Deno.KvKey): number {
    return Number(this.#sums.get(identityOf(key))?.by ?? 0n);
  }

  /** The counters that it adds to. Those that it deletes before are not among them. */
  get counters(): { key: Deno.KvKey; id: string }[] {
    const isReset = (sum: Sum) =>
      this.#changes.some(({ type, id }) => type === "delete" && id === sum.id);
    return Array.from(this.#sums.values()).filter((sum) => !isReset(sum));
  }

  /** Returns whether another operation can be merged: within the limits, and without a conflict over a key. */
  hasRoomFor(
    other: Operation,
    maxBytes = MAX_COMMIT_BYTES,
    maxChecks = MAX_COMMIT_CHECKS,
  ): boolean {
    return this.#bytes + other.#bytes <= maxBytes &&
      this.#keyBytes + other.#keyBytes <= MAX_COMMIT_KEY_BYTES &&
      this.#checkCount + other.#checkCount - this.#countCommonChecks(other) <= maxChecks &&
      this.#mutationCount + other.#mutationCount <= MAX_COMMIT_MUTATIONS &&
      this.#announcementsFitWith(other) &&
      this.touched.isDisjointFrom(other.touched) &&
      this.#sharedChecksAgreeWith(other) && other.#sharedChecksAgreeWith(this);
  }

  #announcementsFitWith(other: Operation): boolean {
    for (const [id, { size }] of other.#announced) {
      if (size + (this.#announced.get(id)?.size ?? 0) > MAX_CHANGES_BYTES) return false;
    }
    return true;
  }

  #countCommonChecks(other: Operation): number {
    let count = 0;
    for (const id of other.#shared.keys()) if (this.#shared.has(id)) count++;
    return count;
  }

  /**
   * Returns whether the other operation neither changes an entry of a shared check nor requires another state of it.
   */
  #sharedChecksAgreeWith(other: Operation): boolean {
    for (const { id, versionstamp } of this.#shared.values()) {
      if (other.touched.has(id)) return false;
      const known = other.#shared.get(id);
      if (known !== undefined && known.versionstamp !== versionstamp) return false;
    }
    return true;
  }

  /** Merges another operation into this one. The caller has asked `hasRoomFor`. */
  add(other: Operation): void {
    this.#added += other.members;
    this.hasFileBytes ||= other.hasFileBytes;
    for (const check of other.#checks) this.#addCheck(check);
    for (const check of other.#shared.values()) this.share(check);
    for (const change of other.#changes) {
      if (change.type === "delete") this.#addDelete(change);
      else this.#addSet(change);
    }
    for (const sum of other.#sums.values()) this.#addSum(sum);
    for (const each of other.#announced.values()) this.#addAnnouncement(each);
  }

  /** Number of operations merged into this one; 1 for an operation on its own. */
  get members(): number {
    return Math.max(1, this.#added);
  }

  /** All checks, the shared ones included. */
  checks(): Deno.AtomicCheck[] {
    return [...this.#checks, ...this.#shared.values()];
  }

  /**
   * Whether committing it twice has the effect of committing it once: it adds to no counter and no feed, and it
   * checks no entry that it changes, which would refuse the second commit.
   */
  get isIdempotent(): boolean {
    if (this.#sums.size + this.#announced.size > 0) return false;
    const checked = new Set(this.#checks.map(({ id }) => id));
    return !this.#changes.some(({ id }) => checked.has(id));
  }

  /**
   * Commits it once, without retries.
   *
   * @throws {RangeError} if it exceeds a limit, before Deno KV sees it; otherwise the error of Deno KV.
   */
  async commit(
    kv: Pick<Deno.Kv, "atomic">,
    maxChecks = MAX_COMMIT_CHECKS,
  ): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
    this.#requireWithinLimits(maxChecks);
    const atomic = kv.atomic().check(...this.checks());
    for (const change of this.#changes) {
      if (change.type === "delete") atomic.delete(change.key);
      else if (change.expireIn === undefined) atomic.set(change.key, change.value);
      else atomic.set(change.key, change.value, { expireIn: change.expireIn });
    }
    for (const { key, by } of this.#sums.values()) {
      atomic.sum(key, ((by % COUNTER_MODULUS) + COUNTER_MODULUS) % COUNTER_MODULUS);
    }
    for (const { key, changes } of this.#announced.values()) {
      const record: ChangesRecord = { at: Date.now(), changes };
      atomic.set([...key, COMMIT_VERSIONSTAMP], sealValue(record));
    }
    return await atomic.commit();
  }

  get #checkCount(): number {
    return this.#checks.length + this.#shared.size;
  }

  get #mutationCount(): number {
    return this.#changes.length + this.#sums.size + this.#announced.size;
  }

  #requireWithinLimits(maxChecks: number): void {
    const within = this.#bytes <= MAX_COMMIT_BYTES && this.#keyBytes <= MAX_COMMIT_KEY_BYTES &&
      this.#checkCount <= maxChecks && this.#mutationCount <= MAX_COMMIT_MUTATIONS;
    if (within) return;
    throw new RangeError(
      `Cannot commit ${this.#checkCount} checks and ${this.#mutationCount} changes of ${this.#bytes} bytes ` +
        `(${this.#keyBytes} of them keys) in one operation`,
    );
  }
}

/** Stands for the versionstamp of the commit at the end of a key. All handles have the same symbol. */
const COMMIT_VERSIONSTAMP = Deno.Kv.prototype.commitVersionstamp();

function encoded(key: Deno.KvKey): EncodedKey {
  return { key, id: identityOf(key), length: encodedLength(key) };
}

function valueLength(value: Uint8Array | Deno.KvU64): number {
  return value instanceof Uint8Array ? value.byteLength : COUNTER_BYTES;
}
