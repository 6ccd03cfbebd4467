import { MAX_WRONG_KEYS, WRONG_KEY_ADDRESSES, WRONG_KEY_WINDOW } from "../drive/limits.ts";
import { networkOf } from "./ip_address.ts";

/**
 * Counts wrong keys by the address that they come from. It only slows down: whether a key is right is always looked at
 * first, so nobody is locked out by a neighbour's mistakes.
 */
export class WrongKeys {
  readonly #size: number;
  /** When the last wrong keys of each network came, the network that was noted longest ago first. */
  readonly #times = new Map<string, readonly number[]>();

  /** @param size Networks that are remembered at the most; the one that was noted longest ago makes room. */
  constructor(size: number = WRONG_KEY_ADDRESSES) {
    this.#size = size;
  }

  /**
   * How many whole seconds an address has to wait before a wrong key of it is answered as such; `undefined` where it
   * need not.
   */
  refused(address: string, now: number = Date.now()): number | undefined {
    const oldest = this.#times.get(networkOf(address))?.at(-MAX_WRONG_KEYS);
    if (oldest === undefined) return undefined;
    const wait = oldest + WRONG_KEY_WINDOW - now;
    return wait > 0 ? Math.ceil(wait / 1000) : undefined;
  }

  /** Notes a wrong key. One that `refused` speaks of need not be noted: it moves the end of the wait no further. */
  note(address: string, now: number = Date.now()): void {
    const network = networkOf(address);
    const times = [...this.#times.get(network) ?? [], now].slice(-MAX_WRONG_KEYS);
    this.#times.delete(network);
    this.#times.set(network, times);
    if (this.#times.size <= this.#size) return;
    for (const [longestAgo] of this.#times) {
      this.#times.delete(longestAgo);
      break;
    }
  }
}
