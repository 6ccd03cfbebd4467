import { SECOND } from "../../rules/units.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { type Reachability, withTimeout } from "./reachability.ts";

/**
 * How long a batch of reads may take before the caller gets 503: a hundred times its usual duration, and longer than a
 * restart of the store. Clients wait for 30 s and more.
 */
export const REMOTE_READ_TIMEOUT = 5 * SECOND;

/** A key without an entry. */
const NO_ENTRY: Deno.KvKey = [""];

/** The methods of `Deno.Kv` that reach the store. */
export type KvMethods = KvReader & Pick<Deno.Kv, "atomic">;

/**
 * The connection to a store behind a network. All requests of a Deno KV handle share one connection, and a connection
 * that dies without a notice blocks its handle for good. `renew` therefore opens a new handle.
 */
export class RemoteConnection implements Disposable {
  readonly #first: Deno.Kv;
  #current: Deno.Kv;
  #isClosed = false;

  /** @param isGiven Whether another part of the program has opened the handle, and closes it. */
  private constructor(
    private readonly url: string | undefined,
    kv: Deno.Kv,
    private readonly isGiven: boolean,
  ) {
    this.#first = kv;
    this.#current = kv;
  }

  /**
   * @param kv An open handle, in place of the URL. It is not closed.
   * @throws the error of Deno KV, or `TimeoutExceeded`.
   */
  static async open(url: string | undefined, kv?: Deno.Kv): Promise<RemoteConnection> {
    if (kv === undefined) return new RemoteConnection(url, await openHandle(url), false);
    await withTimeout(REMOTE_READ_TIMEOUT, kv.get(NO_ENTRY));
    return new RemoteConnection(url, kv, true);
  }

  /** The handle that works, as far as is known. */
  get current(): KvMethods {
    return this.#current;
  }

  /** Replaces the current handle, unless it was given. Throws as `open` does, and then keeps the earlier handle. */
  async renew(): Promise<void> {
    if (this.isGiven) return void await this.#first.get(NO_ENTRY);
    const fresh = await openHandle(this.url);
    if (this.#isClosed) return fresh.close();
    // Lists that began on the first handle may go on.
    if (this.#current !== this.#first) this.#current.close();
    this.#current = fresh;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (this.isGiven) return;
    if (this.#current !== this.#first) this.#current.close();
    this.#first.close();
  }
}

async function openHandle(url: string | undefined): Promise<Deno.Kv> {
  const opening = Deno.openKv(url);
  try {
    const kv = await withTimeout(REMOTE_READ_TIMEOUT, opening);
    // Older runtimes contact the store with the first read.
    await withTimeout(REMOTE_READ_TIMEOUT, kv.get(NO_ENTRY));
    return kv;
  } catch (error) {
    // The handle may still open, unused.
    opening.then((late) => late.close(), () => {});
    throw error;
  }
}

/**
 * Returns reads on the current handle with a deadline each. They throw `StoreUnavailable` when it passes.
 *
 * @param connection Returns the current handle.
 */
export function remoteReader(
  connection: () => KvMethods,
  reachability: Reachability,
): KvReader {
  return {
    get: (key) => reachability.read(REMOTE_READ_TIMEOUT, () => connection().get(key)),
    getMany: (keys) => reachability.read(REMOTE_READ_TIMEOUT, () => connection().getMany(keys)),
    list: (selector, options) => new RemoteList(connection().list(selector, options), reachability),
  };
}

/** A list with a deadline for each batch. Most calls of `next` return an entry of the last batch and take no time. */
class RemoteList<T> implements AsyncIterableIterator<Deno.KvEntry<T>> {
  constructor(
    private readonly entries: AsyncIterator<Deno.KvEntry<T>, undefined>,
    private readonly reachability: Reachability,
  ) {}

  next(): Promise<IteratorResult<Deno.KvEntry<T>, undefined>> {
    return this.reachability.read(REMOTE_READ_TIMEOUT, () => this.entries.next());
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Deno.KvEntry<T>> {
    return this;
  }
}
