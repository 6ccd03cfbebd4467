export interface ListOptions extends Deno.KvListOptions {
  /** Whether entries whose values cannot be read are listed as well: their value is `null`. */
  unreadable?: boolean;
}

/** The reads of `Deno.Kv`. A store in a file implements them with SQLite, a store behind a network with deadlines. */
export interface KvReader {
  get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>>;
  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }>;
  list<T>(
    selector: Deno.KvListSelector,
    options?: ListOptions,
  ): AsyncIterableIterator<Deno.KvEntry<T>>;
  /** See `readNames`. Deno KV cannot list keys without their values. */
  names?(range: NameRange, limit: number): Promise<string>;
  /** See `hasAny`. */
  hasAny?(ranges: readonly NameRange[]): Promise<boolean>;
  /** See `readReferenced`. */
  getReferenced?<T, R>(key: Deno.KvKey, referenceOf: ReferenceOf<T>): Promise<Referenced<T, R>>;
  /** See `readAround`. */
  getAround?(keys: readonly Deno.KvKey[], ranges: readonly NameRange[]): Promise<Around>;
}

/** Returns the key of the entry that a value refers to, if any. */
export type ReferenceOf<T> = (value: T) => Deno.KvKey | undefined;

/** An entry, and the one that its value refers to, if any. */
export type Referenced<T, R> = [Deno.KvEntryMaybe<T>, Deno.KvEntryMaybe<R> | undefined];

/** The entries of some keys, and whether there is the first of them or one in some ranges. */
export type Around = [entries: Deno.KvEntryMaybe<unknown>[], isAny: boolean];

/** A range of keys that differ in their last parts only. These are strings without NUL, and the start's is one, too. */
export interface NameRange {
  start: Deno.KvKey;
  end: Deno.KvKey;
}

/**
 * Returns the last parts of up to `limit` keys of a range, in their order and each followed by NUL. One text for all of
 * them, and no value read, makes a list of names several times as fast as `list`.
 */
export async function readNames(
  reader: KvReader,
  range: NameRange,
  limit: number,
): Promise<string> {
  if (reader.names !== undefined) return await reader.names(range, limit);
  let names = "";
  const batchSize = Math.min(limit, MAX_LIST_BATCH);
  for await (const { key } of reader.list(range, { limit, batchSize })) {
    names += `${String(key.at(-1))}\0`;
  }
  return names;
}

/** Returns whether there is an entry in one of the ranges, whose value may be unreadable. */
export async function hasAny(reader: KvReader, ranges: readonly NameRange[]): Promise<boolean> {
  if (reader.hasAny !== undefined) return await reader.hasAny(ranges);
  for (const range of ranges) {
    for await (const _ of reader.list(range, { limit: 1, unreadable: true })) return true;
  }
  return false;
}

/** Reads single entries that many requests need at the same time. */
export interface EntryReader {
  /** Returns the entries of up to `MAX_GET_MANY` keys at one moment, in their order. */
  get<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }>;
  /** Returns an entry and the one that its value refers to. Other commits may come between the two reads. */
  getReferenced<T, R>(key: Deno.KvKey, referenceOf: ReferenceOf<T>): Promise<Referenced<T, R>>;
  /** See `readAround`. */
  getAround(keys: readonly Deno.KvKey[], ranges: readonly NameRange[]): Promise<Around>;
}

/** Reads an entry and the one that its value refers to: a reader that does not wait takes no promise between them. */
export async function readReferenced<T, R>(
  reader: KvReader,
  key: Deno.KvKey,
  referenceOf: ReferenceOf<T>,
): Promise<Referenced<T, R>> {
  if (reader.getReferenced !== undefined) return await reader.getReferenced(key, referenceOf);
  const first = await reader.get<T>(key);
  const reference = first.value === null ? undefined : referenceOf(first.value);
  return [first, reference === undefined ? undefined : await reader.get<R>(reference)];
}

/** Reads up to `MAX_GET_MANY` entries. The ranges matter only if there is no entry of the first key. */
export async function readAround(
  reader: KvReader,
  keys: readonly Deno.KvKey[],
  ranges: readonly NameRange[],
): Promise<Around> {
  if (reader.getAround !== undefined) return await reader.getAround(keys, ranges);
  return aroundOf(await Promise.all([reader.getMany<unknown[]>(keys), hasAny(reader, ranges)]));
}

function aroundOf([entries, isInRanges]: Around): Around {
  return [entries, isInRanges || entries[0]?.versionstamp !== null];
}

/** Keys in one `getMany`, a limit of Deno KV. */
export const MAX_GET_MANY = 10;

/** Entries in one batch of `list`, a limit of Deno KV. */
export const MAX_LIST_BATCH = 1000;

/** Groups of small reads in flight. With more of them groups would be smaller, and not answered sooner. */
export const READS_IN_FLIGHT = 2;

type Entry = Deno.KvEntryMaybe<unknown>;

interface Waiting {
  keys: readonly Deno.KvKey[];
  resolve: (entries: Entry[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Merges small reads that wait at the same time into one `getMany`, because each read costs a round trip to the store's
 * thread. The entries of one call are read at one moment.
 */
export class ReadQueue implements EntryReader {
  readonly #queue: Waiting[] = [];
  #running = 0;

  /** @param inFlight Groups of reads in flight. */
  constructor(private readonly reader: KvReader, private readonly inFlight = READS_IN_FLIGHT) {}

  async get<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }> {
    const { promise, resolve, reject } = Promise.withResolvers<Entry[]>();
    this.#queue.push({ keys, resolve, reject });
    // Reads that are requested in the same turn share a group.
    queueMicrotask(() => this.#start());
    return await promise as { [K in keyof T]: Deno.KvEntryMaybe<T[K]> };
  }

  async getReferenced<T, R>(
    key: Deno.KvKey,
    referenceOf: ReferenceOf<T>,
  ): Promise<Referenced<T, R>> {
    const [first] = await this.get<[T]>([key]);
    const reference = first.value === null ? undefined : referenceOf(first.value);
    if (reference === undefined) return [first, undefined];
    const [second] = await this.get<[R]>([reference]);
    return [first, second];
  }

  async getAround(keys: readonly Deno.KvKey[], ranges: readonly NameRange[]): Promise<Around> {
    const read = [this.get<unknown[]>(keys), hasAny(this.reader, ranges)] as const;
    return aroundOf(await Promise.all(read));
  }

  #start(): void {
    while (this.#running < this.inFlight && this.#queue.length > 0) {
      this.#running++;
      this.#run(this.#takeGroup()).finally(() => {
        this.#running--;
        this.#start();
      });
    }
  }

  #takeGroup(): Waiting[] {
    let keys = 0;
    const end = this.#queue.findIndex((waiting) => (keys += waiting.keys.length) > MAX_GET_MANY);
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end));
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    try {
      const entries = await this.reader.getMany<unknown[]>(group.flatMap(({ keys }) => keys));
      let from = 0;
      for (const { keys, resolve } of group) {
        resolve(entries.slice(from, from + keys.length));
        from += keys.length;
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

/** Yields items in groups of `size`, the last one smaller. */
export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    if (batch.push(item) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns the entries of any number of keys, in their order, with several reads if necessary. */
export async function readMany<T>(
  reader: KvReader,
  keys: readonly Deno.KvKey[],
): Promise<Deno.KvEntryMaybe<T>[]> {
  const found: Deno.KvEntryMaybe<T>[] = [];
  for (let i = 0; i < keys.length; i += MAX_GET_MANY) {
    found.push(...await reader.getMany<T[]>(keys.slice(i, i + MAX_GET_MANY)));
  }
  return found;
}
