/**
 * Who works on a repository, so that pruning and snapshots exclude each other.
 *
 * Each run has a mark, `runs/ID`, from its start until it has succeeded, and while it lasts a sign of life,
 * `locks/KIND-ID-N`, which it replaces every three seconds by one with the next number. A run is dead if its sign of life
 * stays the same for twelve seconds of the observer's monotonic clock, so no clocks are compared. A run puts its own sign
 * of life before it looks for those of others: of two runs that begin together, at least one sees the other.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { SECOND } from "../rules/units.ts";
import { RepositoryError } from "./errors.ts";
import type { Target } from "./targets/target.ts";

/** How often a run replaces its sign of life. */
const HEARTBEAT = 3 * SECOND;

/** After how long without another sign of life a run is dead. */
const DEAD_AFTER = 12 * SECOND;

/** How often another run is looked at. */
const POLL = SECOND;

/** How long pruning waits for a running snapshot. */
const PRUNE_PATIENCE = 60 * SECOND;

const LOCKS = "locks";
const RUNS = "runs";

/** "write" makes a snapshot, "prune" removes what no snapshot needs. */
export type RunKind = "write" | "prune";

interface Sign {
  kind: RunKind;
  id: string;
  name: string;
}

const encoder = new TextEncoder();

/** The runs that were there when another one began. */
export interface EarlierRuns {
  /** Ids of runs that had not succeeded. */
  unfinished: ReadonlySet<string>;
  signs: readonly Sign[];
}

/** A run of this process. */
export class Presence implements AsyncDisposable {
  readonly #id = crypto.randomUUID();
  readonly #startedAt = performance.now();
  #count = 0;
  /** The sign of life; none while the run waits. */
  #name: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> = Promise.resolve();
  #hasEnded = false;

  private constructor(private readonly target: Target, private readonly kind: RunKind) {}

  /** Begins a run, once no other excludes it. @param onWait Receives why it waits, once. */
  static async begin(
    target: Target,
    kind: RunKind,
    onWait: (reason: string) => void = () => {},
  ): Promise<Presence> {
    const presence = new Presence(target, kind);
    try {
      if (kind === "write") await target.put(`${RUNS}/${presence.#id}`, encoder.encode("{}"));
      presence.#beat();
      await presence.#waitForOthers(onWait);
      return presence;
    } catch (error) {
      await presence.end(false);
      throw error;
    }
  }

  /**
   * Gives a new sign of life, so that no other run can take this one for dead soon.
   *
   * @throws {RepositoryError} if another run has done so before, and removed its sign.
   */
  async requireAlive(): Promise<void> {
    await this.#renewNext();
    if (await this.#isSeen()) return;
    throw new RepositoryError(
      `The work in ${this.target.place} stood still for so long that another process may have ` +
        "removed what it needs: repeat it",
    );
  }

  /**
   * Stores manifests, the last objects of a run. They are removed again if another run took this one for dead meanwhile.
   *
   * @param store Returns the paths of what it stored.
   * @throws {RepositoryError}
   */
  async publish(store: () => Promise<string[]>): Promise<void> {
    await this.requireAlive();
    const paths = await store();
    try {
      await this.requireAlive();
    } catch (error) {
      for (const path of paths) await this.target.remove(path);
      throw error;
    }
  }

  async #isSeen(): Promise<boolean> {
    return (await signsIn(this.target)).some(({ id }) => id === this.#id);
  }

  /** Ends the run. @param hasSucceeded Whether nothing can use what it left. */
  async end(hasSucceeded: boolean): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    await this.#beating;
    for (const name of [this.#name, hasSucceeded ? `${RUNS}/${this.#id}` : undefined]) {
      // If this fails the run counts as dead soon.
      if (name !== undefined) await this.target.remove(name).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end(false);
  }

  async earlierRuns(): Promise<EarlierRuns> {
    const unfinished = await unfinishedRuns(this.target);
    unfinished.delete(this.#id);
    return { unfinished, signs: await signsIn(this.target) };
  }

  /** Removes the marks of dead runs: what they left is in a snapshot now. */
  async forgetDead({ unfinished, signs }: EarlierRuns): Promise<void> {
    const isOld = performance.now() - this.#startedAt > DEAD_AFTER;
    const alive = new Set<string>();
    for (const { id, name } of await signsIn(this.target)) {
      if (!isOld || !signs.some((sign) => sign.name === name)) alive.add(id);
      else await this.target.remove(name);
    }
    for (const id of unfinished) if (!alive.has(id)) await this.target.remove(`${RUNS}/${id}`);
  }

  #beat(): void {
    this.#timer = setTimeout(() => {
      // A failure shows in `requireAlive`.
      this.#renewNext().catch(() => {}).then(() => {
        if (!this.#hasEnded) this.#beat();
      });
    }, HEARTBEAT);
  }

  /** Renews the sign once an earlier renewal has ended. */
  #renewNext(): Promise<void> {
    const renewed = this.#beating.then(() => this.#renewSign());
    this.#beating = renewed.catch(() => {});
    return renewed;
  }

  async #renewSign(): Promise<void> {
    const before = this.#name;
    // Who was taken for dead does not come back.
    if (before === undefined || !await this.#isSeen()) return;
    await this.#giveSign();
    await this.target.remove(before);
  }

  async #giveSign(): Promise<void> {
    const name = `${LOCKS}/${this.kind}-${this.#id}-${this.#count++}`;
    await this.target.put(name, encoder.encode("{}"));
    this.#name = name;
  }

  /** A run that waits takes its sign back, except for a prune that waits for a snapshot. */
  async #waitForOthers(onWait: (reason: string) => void): Promise<void> {
    const began = performance.now();
    const observer = new Observer(this.target);
    while (true) {
      if (this.#name === undefined) await this.#giveSign();
      const blocking = (await observer.alive()).filter(({ id, kind }) =>
        id !== this.#id && (this.kind === "prune" || kind === "prune")
      );
      const [first] = blocking;
      if (first === undefined) return;
      const what = first.kind === "prune" ? "prune" : "snapshot";
      if (this.kind === "prune" && performance.now() - began > PRUNE_PATIENCE) {
        throw new RepositoryError(
          `Another ${what} is running in ${this.target.place}, so nothing was removed: prune later`,
        );
      }
      onWait(`Waiting for another ${what} in ${this.target.place}`);
      onWait = () => {};
      if (first.kind === "prune") await this.#takeSignBack();
      // Two that wait for each other must not look at the same moments.
      await delay(POLL * (1 + Math.random()));
    }
  }

  async #takeSignBack(): Promise<void> {
    await this.#beating;
    if (this.#name !== undefined) await this.target.remove(this.#name);
    this.#name = undefined;
  }
}

/** Tells dead runs from those that are alive, and removes their signs. */
class Observer {
  readonly #seen = new Map<string, { name: string; since: number }>();

  constructor(private readonly target: Target) {}

  async alive(): Promise<Sign[]> {
    const now = performance.now();
    const alive: Sign[] = [];
    for (const sign of await signsIn(this.target)) {
      const known = this.#seen.get(sign.id);
      if (known?.name !== sign.name) this.#seen.set(sign.id, { name: sign.name, since: now });
      const since = this.#seen.get(sign.id)?.since ?? now;
      if (now - since < DEAD_AFTER) alive.push(sign);
      else await this.target.remove(sign.name);
    }
    return alive;
  }
}

/** Returns the ids of the runs that have not succeeded: those that are running, and dead ones. */
export async function unfinishedRuns(target: Target): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { name } of target.list(RUNS)) ids.add(name.slice(RUNS.length + 1));
  return ids;
}

const SIGN = /^locks\/(write|prune)-([0-9a-f-]{36})-(\d+)$/;

/** Returns the newest sign of life of each run. */
async function signsIn(target: Target): Promise<Sign[]> {
  const newest = new Map<string, Sign & { count: number }>();
  for await (const { name } of target.list(LOCKS)) {
    const [, kind, id = "", count] = SIGN.exec(name) ?? [];
    if (kind === undefined) continue;
    const sign = { kind: kind as RunKind, id, name, count: Number(count) };
    const known = newest.get(id);
    if (known === undefined || known.count < sign.count) newest.set(id, sign);
  }
  return [...newest.values()];
}
