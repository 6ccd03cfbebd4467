import { SECOND } from "../../rules/units.ts";

/**
 * How long a cached entry is used without asking the store. A key that another process revoked is refused "within 5 s":
 * that leaves time for what is open, which is checked every second, and for answers that take a while.
 */
export const KEY_CACHE_TTL = 2 * SECOND;

export const KEY_CACHE_SIZE = 10_000;

interface CacheEntry<T> {
  value: T;
  /** Read from the monotonic clock: setting back the system clock must not prolong the life of a revoked key. */
  expires: number;
}

interface Options<T> {
  /** Returns whether a value may be cached. Without it every value is. */
  isCacheable?: (value: T) => boolean;
  /** Whether a key without a value is cached as well. Only where callers cannot choose the keys. */
  cachesAbsence?: boolean;
}

/**
 * Cache of store lookups; entries live for `KEY_CACHE_TTL`. Concurrent lookups of a key share one read.
 *
 * `forget` and `clear` take effect at once, also for a read that is in flight: it is repeated. (Own code, because
 * `lru-cache` rejects such a lookup with "deleted" instead.)
 */
export class TtlCache<T> {
  readonly #present = new Map<string, CacheEntry<T>>();
  /** Separate, so that absent keys never evict present ones. */
  readonly #absent = new Map<string, CacheEntry<undefined>>();
  readonly #reading = new Map<string, Promise<T | undefined>>();
  /** Incremented with every invalidation: a read that began before is outdated. */
  #generation = 0;

  /** @param read Looks up a key in the store. */
  constructor(
    private readonly read: (key: string) => Promise<T | undefined>,
    private readonly options: Options<T> = {},
  ) {}

  /** Returns the value of a key, `undefined` without one. Throws what the lookup throws. */
  async get(key: string): Promise<T | undefined> {
    const entry = this.#present.get(key) ?? this.#absent.get(key);
    if (entry !== undefined && entry.expires > performance.now()) return entry.value;
    return await (this.#reading.get(key) ?? this.#start(key));
  }

  /** Returns a cached value without a lookup; `undefined` if there is none. */
  peek(key: string): T | undefined {
    const entry = this.#present.get(key);
    return entry !== undefined && entry.expires > performance.now() ? entry.value : undefined;
  }

  forget(key: string): void {
    this.#generation++;
    this.#present.delete(key);
    this.#absent.delete(key);
  }

  /** Invalidates all keys. */
  clear(): void {
    this.#generation++;
    this.#present.clear();
    this.#absent.clear();
  }

  #start(key: string): Promise<T | undefined> {
    const reading = this.#readCurrent(key).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  /** Repeats the lookup until no invalidation came during it. */
  async #readCurrent(key: string): Promise<T | undefined> {
    while (true) {
      const generation = this.#generation;
      // The entry's life begins before the lookup, which may see an earlier state.
      const expires = performance.now() + KEY_CACHE_TTL;
      const value = await this.read(key);
      if (generation !== this.#generation) continue;
      this.#keep(key, value, expires);
      return value;
    }
  }

  #keep(key: string, value: T | undefined, expires: number): void {
    this.#present.delete(key);
    this.#absent.delete(key);
    const { isCacheable = () => true, cachesAbsence = false } = this.options;
    if (value === undefined) {
      if (cachesAbsence) setBounded(this.#absent, KEY_CACHE_SIZE, key, { value, expires });
    } else if (isCacheable(value)) {
      setBounded(this.#present, KEY_CACHE_SIZE, key, { value, expires });
    }
  }
}

/** Sets an entry of a map with at most `max` entries. The one that was set first makes room. */
export function setBounded<E>(entries: Map<string, E>, max: number, key: string, entry: E): void {
  entries.delete(key);
  const [oldest] = entries.size >= max ? entries.keys() : [];
  if (oldest !== undefined) entries.delete(oldest);
  entries.set(key, entry);
}
