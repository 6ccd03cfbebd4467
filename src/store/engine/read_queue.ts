/** Keys in one `getMany` of Deno KV (its limit). */
export const MAX_GET_MANY = 10;

/** Groups of small reads on their way at once: more would be smaller, and no sooner there. */
export const READS_IN_FLIGHT = 2;

/** Entries in one batch of `list` of Deno KV (its limit). */
export const MAX_LIST_BATCH = 1000;

type Entry = Deno.KvEntryMaybe<unknown>;

interface Waiting {
  keys: readonly Deno.KvKey[];
  resolve: (entries: Entry[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Puts small reads that wait at the same time into one: each read costs a way to the store's thread and back. What one
 * caller asks for is read at one moment.
 */
export class ReadQueue {
  readonly #kv: Deno.Kv;
  readonly #inFlight: number;
  readonly #queue: Waiting[] = [];
  #running = 0;

  /** @param inFlight How many groups are on their way at once. */
  constructor(kv: Deno.Kv, inFlight = READS_IN_FLIGHT) {
    this.#kv = kv;
    this.#inFlight = inFlight;
  }

  /** The entries of up to `MAX_GET_MANY` keys, in their order. */
  async get<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }> {
    const { promise, resolve, reject } = Promise.withResolvers<Entry[]>();
    this.#queue.push({ keys, resolve, reject });
    // Others that ask within this turn come along.
    queueMicrotask(() => this.#start());
    return await promise as { [K in keyof T]: Deno.KvEntryMaybe<T[K]> };
  }

  #start(): void {
    while (this.#running < this.#inFlight && this.#queue.length > 0) {
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
      const entries = await this.#kv.getMany<unknown[]>(group.flatMap(({ keys }) => keys));
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

/** The entries of any number of keys, in their order. */
export async function readMany<T>(
  kv: Deno.Kv,
  keys: readonly Deno.KvKey[],
): Promise<Deno.KvEntryMaybe<T>[]> {
  const found: Deno.KvEntryMaybe<T>[] = [];
  for (let i = 0; i < keys.length; i += MAX_GET_MANY) {
    found.push(...await kv.getMany<T[]>(keys.slice(i, i + MAX_GET_MANY)));
  }
  return found;
}
