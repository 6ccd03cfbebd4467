import { SECOND } from "../../rules/units.ts";
import { KvMethods, type Reachability, withTimeout } from "./reachability.ts";

/**
 * How long a remote store may take for a batch of reads, and for a commit of up to 800 KB, before the answer is 503. Both
 * are a hundred times what they take, and longer than a restart of the store; clients wait for 30 s and more.
 */
const REMOTE_READ_TIME = 5 * SECOND;

/** An entry that is never there. */
const NOTHING: Deno.KvKey = [""];

/**
 * The way to a store behind a network. All requests of a handle share one connection, and one that died without a word
 * blocks it for good, so a new way is made by opening a new handle.
 */
export class RemoteHandle {
  /** The handle that the program has. What reads it is sent over the way that works. */
  readonly first: Deno.Kv;
  readonly #url: string | undefined;
  #fresh: Deno.Kv | undefined;
  #reach: KvMethods;

  private constructor(url: string | undefined, kv: Deno.Kv) {
    this.#url = url;
    this.first = kv;
    this.#reach = reachOf(kv);
  }

  /** Throws what opening throws, or `Overdue`. */
  static async open(url: string | undefined): Promise<RemoteHandle> {
    return new RemoteHandle(url, await openAndRead(url));
  }

  /** The way that works, as far as is known. */
  get reach(): KvMethods {
    return this.#reach;
  }

  /** Makes a new way; throws as `open` does, and leaves the earlier one then. */
  async renew(): Promise<void> {
    const fresh = await openAndRead(this.#url);
    this.#fresh?.close();
    this.#fresh = fresh;
    this.#reach = reachOf(fresh);
  }

  /** Closes all but the first handle. */
  close(): void {
    this.#fresh?.close();
    this.#fresh = undefined;
  }
}

/** As it is before anything is put in its place. */
function reachOf(kv: Deno.Kv): KvMethods {
  return {
    get: kv.get.bind(kv),
    getMany: kv.getMany.bind(kv),
    list: kv.list.bind(kv),
    atomic: kv.atomic.bind(kv),
  };
}

async function openAndRead(url: string | undefined): Promise<Deno.Kv> {
  const opening = Deno.openKv(url);
  try {
    const kv = await withTimeout(REMOTE_READ_TIME, opening);
    // Older runtimes ask the store only now.
    await withTimeout(REMOTE_READ_TIME, kv.get(NOTHING));
    return kv;
  } catch (error) {
    // It may be opened yet, and nobody wants it any more.
    opening.then((late) => late.close(), () => {});
    throw error;
  }
}

/**
 * Makes every read of a handle one that ends in time, on the way to the store that works. Throws `StoreUnavailable` where
 * it does not.
 */
export function guardReads(kv: Deno.Kv, way: () => KvMethods, reachability: Reachability): void {
  kv.get = (key, options) => reachability.read(REMOTE_READ_TIME, () => way().get(key, options));
  kv.getMany = (keys, options) =>
    reachability.read(REMOTE_READ_TIME, () => way().getMany(keys, options));
  kv.list = (selector, options) => new GuardedList(way().list(selector, options), reachability);
}

/** Its entries come in batches: now and then `next` asks the store, else it takes no time. */
class GuardedList<T> implements Deno.KvListIterator<T> {
  readonly #entries: Deno.KvListIterator<T>;
  readonly #reachability: Reachability;

  constructor(entries: Deno.KvListIterator<T>, reachability: Reachability) {
    this.#entries = entries;
    this.#reachability = reachability;
  }

  get cursor(): string {
    return this.#entries.cursor;
  }

  next(): Promise<IteratorResult<Deno.KvEntry<T>, undefined>> {
    return this.#reachability.read(REMOTE_READ_TIME, () => this.#entries.next());
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Deno.KvEntry<T>> {
    return this;
  }
}
