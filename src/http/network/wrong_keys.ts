import { isIPv4 } from "node:net";
import { networkOf, parseAddress } from "./client_address.ts";

/** Wrong keys of one network (IPv4 /24, IPv6 /64) before further ones are told to wait. */
export const MAX_WRONG_KEYS = 20;

/** Networks whose wrong keys are remembered: some 6 MB with the wider networks around them. */
const WRONG_KEY_ADDRESSES = 10_000;

/** The first wait of a network after too many wrong keys, in milliseconds; each further wrong key doubles it. */
export const WRONG_KEY_FIRST_WAIT = 30_000;

/** The longest wait, in milliseconds: a caller with a typing error must not give up for the day. */
export const WRONG_KEY_MAX_WAIT = 300_000;

/** One wrong key is forgiven in this time, in milliseconds: a guesser cannot be faster than that in the long run. */
export const WRONG_KEY_DECAY = WRONG_KEY_MAX_WAIT;

/**
 * The networks in which wrong keys are counted, by the bits of their prefix. A provider gives one customer a /64 or
 * /48 of IPv6, and a /32 is the usual allocation of a whole provider. A wider network has 16 times the allowance of the
 * one inside it, so that a guesser who owns it gains little from using all of its addresses.
 */
const WIDER = 16;
const LEVELS = {
  ipv6: [64, 48, 32],
  ipv4: [24, 16],
} as const;

/**
 * Limits wrong keys by the network that they come from. It only limits wrong keys: callers look at the key first, so a
 * right key always passes, also from a network that has to wait. Time is monotonic; the counts are of this process.
 */
export class WrongKeyLimiter {
  readonly #levels: readonly Tally[];

  /** @param size Networks that are remembered, of the narrowest kind. */
  constructor(size: number = WRONG_KEY_ADDRESSES) {
    this.#levels = LEVELS.ipv6.map((_, level) =>
      new Tally(MAX_WRONG_KEYS * WIDER ** level, level === 0 ? size : Math.ceil(size / 4))
    );
  }

  /**
   * Counts a wrong key, unless its network has to wait: then it gives how many whole seconds.
   *
   * @param now Milliseconds on a clock that is never set back.
   */
  record(address: string, now: number = performance.now()): number | undefined {
    const networks = networksOf(address);
    const waits = networks.map((network, level) => this.#levels[level]?.wait(network, now) ?? 0);
    const wait = Math.max(...waits);
    if (wait > 0) return Math.ceil(wait / 1000);
    networks.forEach((network, level) => this.#levels[level]?.note(network, now));
    return undefined;
  }
}

/** What is known of the wrong keys of one network. */
interface Count {
  /** Wrong keys that are not forgiven yet, as of `at`. */
  wrong: number;
  at: number;
  /** When the network may send the next one. */
  until: number;
}

/** Counts the wrong keys of networks of one width. */
class Tally {
  readonly #free: number;
  readonly #size: number;
  /** Networks within their allowance, and those beyond it; the one noted longest ago first. */
  readonly #few = new Map<string, Count>();
  readonly #many = new Map<string, Count>();

  /**
   * @param free Wrong keys without a wait.
   * @param size Networks that are remembered of each group. Those within their allowance make room only for each other, so
   *   pushing out one that has to wait takes all the wrong keys that `size` networks may send.
   */
  constructor(free: number, size: number) {
    this.#free = free;
    this.#size = size;
  }

  /** Milliseconds until the network may send another wrong key, 0 for now. */
  wait(network: string, now: number): number {
    return Math.max(0, (this.#many.get(network)?.until ?? 0) - now);
  }

  note(network: string, now: number): void {
    const count = this.#many.get(network) ?? this.#few.get(network) ?? { wrong: 0, at: now };
    const wrong = Math.max(0, count.wrong - (now - count.at) / WRONG_KEY_DECAY) + 1;
    const steps = Math.ceil(wrong) - this.#free;
    const until = steps < 0
      ? now
      : now + Math.min(WRONG_KEY_FIRST_WAIT * 2 ** steps, WRONG_KEY_MAX_WAIT);
    this.#many.delete(network);
    this.#few.delete(network);
    const group = steps < 0 ? this.#few : this.#many;
    group.set(network, { wrong, at: now, until });
    if (group.size > this.#size) removeFirst(group);
  }
}

/** The networks that an address lies in, the narrowest first. */
function networksOf(address: string): string[] {
  const family = isIPv4(parseAddress(address) ?? "") ? "ipv4" : "ipv6";
  return LEVELS[family].map((bits) => networkOf(address, bits));
}

function removeFirst(group: Map<string, Count>): void {
  for (const [network] of group) {
    group.delete(network);
    return;
  }
}
