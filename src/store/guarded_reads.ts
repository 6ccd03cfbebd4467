import { REMOTE_READ_TIME } from "../drive/limits.ts";
import type { Reachability } from "./reachability.ts";
import type { Reach } from "./remote_handle.ts";

/**
 * Makes every read of a handle one that ends in time, on the way to the store that works. Throws `StoreUnavailable` where
 * it does not.
 */
export function guardReads(kv: Deno.Kv, way: () => Reach, reachability: Reachability): void {
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
