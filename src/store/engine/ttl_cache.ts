import { SECOND } from "../../rules/units.ts";

/** How long a project key that was found in the store is believed without asking again. */
export const KEY_CACHE_TTL = 5 * SECOND;

export const KEY_CACHE_SIZE = 10_000;

interface Belief<T> {
  value: T;
  /** By the monotonic clock: a system clock that is set back must not make a revoked key work for longer. */
  until: number;
}

interface Options<T> {
  /** Whether a value may be believed at all; all may, unless this says something else. */
  keeps?: (value: T) => boolean;
  /** Whether it is believed as well that something is not there. Only where callers can't fill the memory with it. */
  absence?: boolean;
}

/**
 * What the store said, believed for `KEY_CACHE_TIME`, so that what is asked for often costs no read. What is forgotten
 * is not believed any more from that moment on, even where a read was on its way.
 */
export class TtlCache<T> {
  readonly #read: (key: string) => Promise<T | undefined>;
  readonly #options: Options<T>;
  readonly #known = new Map<string, Belief<T>>();
  /** In a place of its own, so that what is not there never drives out what is. */
  readonly #absent = new Map<string, Belief<undefined>>();
  readonly #reading = new Map<string, Promise<T | undefined>>();
  /** Counts what was forgotten: a read that began before says nothing. */
  #generation = 0;

  constructor(read: (key: string) => Promise<T | undefined>, options: Options<T> = {}) {
    this.#read = read;
    this.#options = options;
  }

  /** What is there under a key; `undefined` where nothing is. Throws what reading throws. */
  async get(key: string): Promise<T | undefined> {
    const belief = this.#known.get(key) ?? this.#absent.get(key);
    if (belief !== undefined && belief.until > performance.now()) return belief.value;
    return await (this.#reading.get(key) ?? this.#start(key));
  }

  /** What is believed to be there, without asking; `undefined` where that is nothing or not known. */
  peek(key: string): T | undefined {
    const belief = this.#known.get(key);
    return belief !== undefined && belief.until > performance.now() ? belief.value : undefined;
  }

  /** Asks the store anew for this key. */
  forget(key: string): void {
    this.#generation++;
    this.#known.delete(key);
    this.#absent.delete(key);
  }

  /** Asks the store anew for every key. */
  clear(): void {
    this.#generation++;
    this.#known.clear();
    this.#absent.clear();
  }

  /** Those who ask for a key at the same time share one read. */
  #start(key: string): Promise<T | undefined> {
    const reading = this.#readUndisturbed(key).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readUndisturbed(key: string): Promise<T | undefined> {
    while (true) {
      const generation = this.#generation;
      const until = performance.now() + KEY_CACHE_TTL;
      const value = await this.#read(key);
      if (generation !== this.#generation) continue;
      this.#keep(key, value, until);
      return value;
    }
  }

  #keep(key: string, value: T | undefined, until: number): void {
    this.#known.delete(key);
    this.#absent.delete(key);
    const { keeps = () => true, absence = false } = this.#options;
    if (value === undefined) {
      if (absence) add(this.#absent, key, { value, until });
    } else if (keeps(value)) add(this.#known, key, { value, until });
  }
}

/** The oldest makes room. */
function add<B>(beliefs: Map<string, B>, key: string, belief: B): void {
  const [oldest] = beliefs.size >= KEY_CACHE_SIZE ? beliefs.keys() : [];
  if (oldest !== undefined) beliefs.delete(oldest);
  beliefs.set(key, belief);
}
