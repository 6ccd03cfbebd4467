import { REMOTE_READ_TIME } from "../drive/limits.ts";
import type { Reachability } from "./reachability.ts";

/** Makes every read of a handle one that ends in time. Throws `StoreUnavailable` where it does not. */
export function guardReads(kv: Deno.Kv, reachability: Reachability): void {
  const get = kv.get.bind(kv);
  const getMany = kv.getMany.bind(kv);
  const list = kv.list.bind(kv);
  kv.get = (key, options) => reachability.read(REMOTE_READ_TIME, () => get(key, options));
  kv.getMany = (keys, options) => reachability.read(REMOTE_READ_TIME, () => getMany(keys, options));
  kv.list = (selector, options) => new GuardedList(list(selector, options), reachability);
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
