import { encodedLength, identityOf } from "./keys.ts";

/** An atomic operation of Deno KV: its limits are 819,200 bytes, 1000 mutations, 100 checks, 81,920 bytes of keys. */
export const MAX_COMMIT_BYTES = 800_000;

export const MAX_COMMIT_MUTATIONS = 900;

export const MAX_COMMIT_CHECKS = 90;

const MAX_COMMIT_KEY_BYTES = 75_000;

interface SetChange {
  type: "set";
  key: Deno.KvKey;
  value: unknown;
  /** Of the value, as `valueLength` counts them. */
  bytes: number;
  expireIn?: number;
}

type Change = SetChange | { type: "delete"; key: Deno.KvKey };

interface Sum {
  key: Deno.KvKey;
  by: bigint;
}

/** A check that many operations have in common, such as that a project is unchanged. It is encoded once for all. */
export class SharedCheck {
  readonly id: string;
  /** Of the key, in bytes. */
  readonly length: number;

  constructor(readonly key: Deno.KvKey, readonly versionstamp: string | null) {
    this.id = identityOf(key);
    this.length = encodedLength(key);
  }
}

/** What a counter takes beside its key. */
const COUNTER_BYTES = 16;

/** 2^64, in which counters wrap: adding 2^64 − n subtracts n. */
const WRAP = 2n ** 64n;

/** Checks and changes that happen together or not at all, counted against Deno KV's limits before it sees them. */
export class Operation {
  readonly #checks: Deno.AtomicCheck[] = [];
  /** By the identity of their keys. */
  readonly #shared = new Map<string, SharedCheck>();
  readonly #changes: Change[] = [];
  readonly #sums = new Map<string, Sum>();
  /** Whether it stores bytes of a file, as opposed to records. */
  hasFileBytes = false;
  /** The keys that it checks, sets or deletes. */
  readonly touched = new Set<string>();
  #bytes = 0;
  #keyBytes = 0;
  #added = 0;

  /** Demands that the entry still has this versionstamp; `null`: that it does not exist. */
  check(key: Deno.KvKey, versionstamp: string | null): this {
    this.#checks.push({ key, versionstamp });
    this.touched.add(identityOf(key));
    this.#bytes += encodedLength(key);
    return this;
  }

  /** The same for a check that other operations have as well: together they have it once, and don't meet there. */
  share(check: SharedCheck): this {
    if (this.#shared.has(check.id)) return this;
    this.#shared.set(check.id, check);
    this.#bytes += check.length;
    return this;
  }

  /** @param expireIn Milliseconds until the store may drop the entry by itself. */
  set(key: Deno.KvKey, value: unknown, expireIn?: number): this {
    const expiry = expireIn === undefined ? {} : { expireIn };
    this.#addSet({ type: "set", key, value, bytes: valueLength(value), ...expiry });
    return this;
  }

  #addSet(change: SetChange): void {
    const keyLength = encodedLength(change.key);
    this.#changes.push(change);
    this.touched.add(identityOf(change.key));
    this.hasFileBytes ||= change.value instanceof Uint8Array;
    // Deno KV counts the key of a set twice.
    this.#bytes += 2 * keyLength + change.bytes;
    this.#keyBytes += keyLength;
  }

  delete(key: Deno.KvKey): this {
    this.#changes.push({ type: "delete", key });
    this.touched.add(identityOf(key));
    this.#bytes += encodedLength(key);
    return this;
  }

  /** Adds to a counter, which may be a negative number. The key must never hold anything but a counter. */
  sum(key: Deno.KvKey, by: number | bigint): this {
    const id = identityOf(key);
    const known = this.#sums.get(id);
    if (known !== undefined) {
      known.by += BigInt(by);
      return this;
    }
    const keyLength = encodedLength(key);
    this.#sums.set(id, { key, by: BigInt(by) });
    this.#bytes += 2 * keyLength + COUNTER_BYTES;
    this.#keyBytes += keyLength;
    return this;
  }

  /** Whether another operation can be added without breaking a limit, and without the two meeting on a key. */
  hasRoomFor(
    other: Operation,
    maxBytes = MAX_COMMIT_BYTES,
    maxChecks = MAX_COMMIT_CHECKS,
  ): boolean {
    return this.#bytes + other.#bytes <= maxBytes &&
      this.#keyBytes + other.#keyBytes <= MAX_COMMIT_KEY_BYTES &&
      this.#checkCount + other.#checkCount - this.#inCommon(other) <= maxChecks &&
      this.#mutations + other.#mutations <= MAX_COMMIT_MUTATIONS &&
      this.touched.isDisjointFrom(other.touched) &&
      this.#sharesWith(other) && other.#sharesWith(this);
  }

  /** How many shared checks both have. */
  #inCommon(other: Operation): number {
    let count = 0;
    for (const id of other.#shared.keys()) if (this.#shared.has(id)) count++;
    return count;
  }

  /** Whether the other demands nothing else of what this shares, and leaves it as it is. */
  #sharesWith(other: Operation): boolean {
    for (const { id, versionstamp } of this.#shared.values()) {
      if (other.touched.has(id)) return false;
      const known = other.#shared.get(id);
      if (known !== undefined && known.versionstamp !== versionstamp) return false;
    }
    return true;
  }

  /** Takes over all that another operation checks and changes. Ask `hasRoomFor` first. */
  add(other: Operation): void {
    this.#added += other.members;
    for (const { key, versionstamp } of other.#checks) this.check(key, versionstamp);
    for (const check of other.#shared.values()) this.share(check);
    for (const change of other.#changes) {
      if (change.type === "delete") this.delete(change.key);
      else this.#addSet(change);
    }
    for (const { key, by } of other.#sums.values()) this.sum(key, by);
  }

  /** How many operations it is made of. */
  get members(): number {
    return Math.max(1, this.#added);
  }

  /** All that it demands. */
  checks(): Deno.AtomicCheck[] {
    return [...this.#checks, ...this.#shared.values()];
  }

  /** Whether doing it twice would not be as doing it once, unless a check keeps it from that. */
  get counts(): boolean {
    return this.#sums.size > 0;
  }

  /** Whether it demands the state of an entry that it changes: done twice, the second time is refused. */
  get changesItsChecks(): boolean {
    const checked = new Set(this.#checks.map(({ key }) => identityOf(key)));
    return this.#changes.some(({ key }) => checked.has(identityOf(key)));
  }

  /** Commits it; throws what Deno KV throws, and a `RangeError` beforehand where it would be over a limit. */
  async commit(
    kv: Pick<Deno.Kv, "atomic">,
    maxChecks = MAX_COMMIT_CHECKS,
  ): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
    this.#demandWithinLimits(maxChecks);
    const atomic = kv.atomic().check(...this.checks());
    for (const change of this.#changes) {
      if (change.type === "delete") atomic.delete(change.key);
      else if (change.expireIn === undefined) atomic.set(change.key, change.value);
      else atomic.set(change.key, change.value, { expireIn: change.expireIn });
    }
    for (const { key, by } of this.#sums.values()) {
      atomic.sum(key, ((by % WRAP) + WRAP) % WRAP);
    }
    return await atomic.commit();
  }

  get #checkCount(): number {
    return this.#checks.length + this.#shared.size;
  }

  get #mutations(): number {
    return this.#changes.length + this.#sums.size;
  }

  #demandWithinLimits(maxChecks: number): void {
    const within = this.#bytes <= MAX_COMMIT_BYTES && this.#keyBytes <= MAX_COMMIT_KEY_BYTES &&
      this.#checkCount <= maxChecks && this.#mutations <= MAX_COMMIT_MUTATIONS;
    if (within) return;
    throw new RangeError(
      `Cannot commit ${this.#checkCount} checks and ${this.#mutations} changes of ${this.#bytes} bytes ` +
        `(${this.#keyBytes} of them keys) in one operation`,
    );
  }
}

/** Bytes of a value at the most: the store's form of a record is shorter than JSON, but for two bytes a character outside of ASCII. */
function valueLength(value: unknown): number {
  if (value instanceof Uint8Array) return value.byteLength;
  const json = JSON.stringify(value);
  // deno-lint-ignore no-control-regex -- ASCII is exactly this range
  return (/^[\x00-\x7f]*$/.test(json) ? 1 : 2) * json.length + 64;
}
