import { isIPv4 } from "node:net";
import { networkOf, parseAddress } from "./client_address.ts";

/** Wrong keys that one network (IPv4 /24, IPv6 /64) may send before it has to wait. */
export const MAX_WRONG_KEYS = 20;

/** The number of networks that are remembered. With the wider networks around them they take some 6 MB. */
const WRONG_KEY_ADDRESSES = 10_000;

/** The first wait of a network after too many wrong keys, in milliseconds. Each further wrong key doubles it. */
export const WRONG_KEY_FIRST_WAIT = 30_000;

/** The longest wait, in milliseconds, so that a typing error does not lock a user out for the day. */
export const WRONG_KEY_MAX_WAIT = 300_000;

/** The time after which one wrong key is forgotten, in milliseconds. It limits the long-term rate of guesses. */
export const WRONG_KEY_DECAY = WRONG_KEY_MAX_WAIT;

/**
 * The prefix lengths of the networks in which wrong keys are counted. Providers assign a /64 or /48 of IPv6 to a customer,
 * and usually own a /32. A wider network has 16 times the allowance of a narrower one, so that a guesser gains little from
 * using many addresses.
 */
const WIDER = 16;
const LEVELS = {
  ipv6: [64, 48, 32],
  ipv4: [24, 16],
} as const;

/**
 * Returns whether a page of another site made a browser send a request (w3.org/TR/fetch-metadata): such a page could use
 * up the attempts of its visitors, so what it sends is not counted. Programs do not send the header.
 *
 * @param site The header `Sec-Fetch-Site`.
 */
export function isFromOtherSite(site: string | null | undefined): boolean {
  return site === "cross-site" || site === "same-site";
}

/**
 * Limits wrong keys by the network of the client, or wrong passwords by what they would open too. Callers check the key
 * first, so a correct key is always accepted, even from a network that has to wait. The counts are those of this process,
 * and of the others that report theirs to it.
 */
export class WrongKeyLimiter {
  readonly #levels: readonly Tally[];
  readonly #onCount: (address: string, subject: string) => void;

  /**
   * @param size The number of narrow networks that are remembered.
   * @param onCount Reports what `record` has counted to other processes.
   */
  constructor(
    { size = WRONG_KEY_ADDRESSES, onCount = () => {} }: {
      size?: number;
      onCount?: (address: string, subject: string) => void;
    } = {},
  ) {
    this.#onCount = onCount;
    this.#levels = LEVELS.ipv6.map((_, level) =>
      new Tally(MAX_WRONG_KEYS * WIDER ** level, level === 0 ? size : Math.ceil(size / 4))
    );
  }

  /**
   * Returns the whole seconds for which the network of an address has to wait; `undefined` if it has not.
   *
   * @param now Milliseconds on a monotonic clock.
   * @param subject What the password opens; nothing for keys.
   */
  waitOf(address: string, now: number = performance.now(), subject = ""): number | undefined {
    const waits = networksOf(address, subject).map((network, level) =>
      this.#levels[level]?.wait(network, now) ?? 0
    );
    const wait = Math.max(...waits);
    return wait > 0 ? Math.ceil(wait / 1000) : undefined;
  }

  /**
   * Returns how many networks have to wait.
   *
   * @param now Milliseconds on a monotonic clock.
   */
  countWaiting(now: number = performance.now()): number {
    return this.#levels.reduce((sum, level) => sum + level.countWaiting(now), 0);
  }

  /**
   * Counts a wrong key.
   *
   * @param now Milliseconds on a monotonic clock.
   * @param subject What the password opens; nothing for keys.
   * @returns The whole seconds for which its network has to wait; then it is not counted.
   */
  record(address: string, now: number = performance.now(), subject = ""): number | undefined {
    const wait = this.waitOf(address, now, subject);
    if (wait !== undefined) return wait;
    this.count(address, subject, now);
    this.#onCount(address, subject);
    return undefined;
  }

  /** Counts a wrong key, also one that another process has refused. */
  count(address: string, subject: string, now: number = performance.now()): void {
    const networks = networksOf(address, subject);
    networks.forEach((network, level) => this.#levels[level]?.count(network, now));
  }
}

interface Count {
  /** Wrong keys that were not forgotten at the time `at`. */
  wrong: number;
  at: number;
  /** When the network may send the next one, on the same clock. */
  until: number;
}

/** Counts the wrong keys of networks of one width. */
class Tally {
  /** Networks within their allowance, the one counted longest ago first. */
  readonly #few = new Map<string, Count>();
  /** Networks beyond it, in the same order. */
  readonly #many = new Map<string, Count>();

  /**
   * @param free The number of wrong keys without a wait.
   * @param size The number of networks in each group. A network within its allowance never displaces one that has to wait,
   *   so displacing one takes `size` networks that have used up their allowance.
   */
  constructor(private readonly free: number, private readonly size: number) {}

  /** Milliseconds until the network may send another wrong key, 0 for now. */
  wait(network: string, now: number): number {
    return Math.max(0, (this.#many.get(network)?.until ?? 0) - now);
  }

  countWaiting(now: number): number {
    return this.#many.values().filter(({ until }) => until > now).toArray().length;
  }

  count(network: string, now: number): void {
    const count = this.#many.get(network) ?? this.#few.get(network) ?? { wrong: 0, at: now };
    const wrong = Math.max(0, count.wrong - (now - count.at) / WRONG_KEY_DECAY) + 1;
    const steps = Math.ceil(wrong) - this.free;
    const until = steps < 0
      ? now
      : now + Math.min(WRONG_KEY_FIRST_WAIT * 2 ** steps, WRONG_KEY_MAX_WAIT);
    this.#many.delete(network);
    this.#few.delete(network);
    const group = steps < 0 ? this.#few : this.#many;
    group.set(network, { wrong, at: now, until });
    if (group.size > this.size) removeFirst(group);
  }
}

/** The networks that contain an address, the narrowest first, each with the subject. */
function networksOf(address: string, subject: string): string[] {
  const family = isIPv4(parseAddress(address) ?? "") ? "ipv4" : "ipv6";
  return LEVELS[family].map((bits) => `${subject} ${networkOf(address, bits)}`);
}

function removeFirst(group: Map<string, Count>): void {
  for (const [network] of group) {
    group.delete(network);
    return;
  }
}
