import { REMOTE_READ_TIME } from "../drive/limits.ts";
import { inTime } from "./in_time.ts";

/** An entry that is never there. */
const NOTHING: Deno.KvKey = [""];

/** What of a handle reaches the store. */
export type Reach = Pick<Deno.Kv, "get" | "getMany" | "list" | "atomic">;

/**
 * The way to a store behind a network. All requests of a handle share one connection, and one that died without a word
 * blocks it for good, so a new way is made by opening a new handle.
 */
export class RemoteHandle {
  /** The handle that the program has. What reads it is sent over the way that works. */
  readonly first: Deno.Kv;
  readonly #url: string | undefined;
  #fresh: Deno.Kv | undefined;
  #reach: Reach;

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
  get reach(): Reach {
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
function reachOf(kv: Deno.Kv): Reach {
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
    const kv = await inTime(REMOTE_READ_TIME, opening);
    // Older runtimes ask the store only now.
    await inTime(REMOTE_READ_TIME, kv.get(NOTHING));
    return kv;
  } catch (error) {
    // It may be opened yet, and nobody wants it any more.
    opening.then((late) => late.close(), () => {});
    throw error;
  }
}
