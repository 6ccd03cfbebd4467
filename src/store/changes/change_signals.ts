/**
 * Wakes callers that wait for changes. A signal says only that there may be changes: who is woken reads the feed of the
 * drive, or the mark of the lists.
 *
 * Commits of this process to a feed signal themselves. For the others, a timer that runs only while callers wait looks
 * at the newest entry of each feed, and at the mark of the lists: on a store in files once SQLite tells that anything
 * was committed.
 *
 * @module
 */
import { SECOND } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { TooManyWaiting } from "../engine/errors.ts";
import { identityOf, keys, prefixes, ranges } from "../engine/keys.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import { hashSecret } from "../../rules/secrets.ts";
import type { KvReader } from "../reads/read_queue.ts";

/** Callers of one project that wait at the same time: "256 waiting callers a project". Each takes some KB. */
export const MAX_WAITING = 256;

/** How often commits of other processes are looked for, in milliseconds: on this machine, and on a shared store. */
const LOCAL_INTERVAL = SECOND / 4;
const SHARED_INTERVAL = SECOND;

/** The shortest time between two signals of the same lists, in milliseconds: "at most 2 hints a second". */
const LIST_PAUSE = SECOND / 2;

/** Feeds and marks that are read at the same time. */
const PARALLEL_LOOKS = 8;

/**
 * The shortest time between two signals of a drive, in milliseconds, and the same for each of its followers: while many
 * write, followers get pages, and many followers slow no writer down. With all of them it is a quarter of a second.
 */
const MIN_PAUSE = 50;
const PAUSE_OF_EACH = 1;

/** What is waited for: a feed, or the lists of a project. */
interface Watched {
  /** Returns a text that differs after each change. */
  look: () => Promise<string>;
  /** The shortest time between two signals, in milliseconds. */
  pause: number;
  waiting: Set<Waiting>;
  /** What is being read since the last signal, by what was asked. */
  shared: Map<string, Promise<unknown>>;
  /** What the last look found; `undefined` before the first one. */
  newest?: string;
  /** When it was signalled last, as `performance.now()`. */
  signalled: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

/** Signals the changes of drives to those who wait for them. */
export class ChangeSignals {
  /** By the identity of what is waited for. */
  readonly #watched = new Map<string, Watched>();
  /** Callers by project. */
  readonly #counts = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isLooking = false;
  #state: number | undefined;
  #isClosed = false;

  constructor(
    private readonly db: Database,
    private readonly projects: ProjectCache,
    private readonly onError: (error: unknown) => void,
  ) {
    db.onAnnounced.add((feeds) => {
      for (const [, project, , drive] of feeds) {
        this.#signal(this.#watched.get(feedId(String(project), String(drive))));
      }
    });
  }

  /** How many callers wait. */
  get size(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Begins to watch the feed of a drive. Each commit that `Waiting.next` does not know of yet will end it. To be disposed
   * of.
   *
   * @throws {TooManyWaiting}
   */
  watch(project: string, drive: string): Waiting {
    const look = () => this.#newestOf(project, drive);
    return this.#watch(project, feedId(project, drive), { look, pause: MIN_PAUSE });
  }

  /** Begins to watch what lists show, as `watch` does. @throws {TooManyWaiting} */
  watchLists(scope: ListScope): Waiting {
    const { project, drives = [] } = scope;
    const look = () => this.markOf(scope);
    return this.#watch(project, identityOf(["lists", project, ...drives]), {
      look,
      pause: LIST_PAUSE,
    });
  }

  /** Returns a text that differs after each change of what lists show. */
  async markOf(scope: ListScope): Promise<string> {
    return await markOf(this.db.reader, scope);
  }

  #watch(project: string, id: string, kind: Pick<Watched, "look" | "pause">): Waiting {
    const count = this.#counts.get(project) ?? 0;
    if (count >= MAX_WAITING) throw new TooManyWaiting(MAX_WAITING);
    this.#counts.set(project, count + 1);
    const watched = this.#watched.get(id) ??
      { ...kind, waiting: new Set(), shared: new Map(), signalled: -Infinity };
    this.#watched.set(id, watched);
    const waiting: Waiting = new Waiting(watched, () => {
      watched.waiting.delete(waiting);
      if (watched.waiting.size === 0) this.#forget(id, watched);
      const left = (this.#counts.get(project) ?? 1) - 1;
      if (left === 0) this.#counts.delete(project);
      else this.#counts.set(project, left);
    });
    if (this.#isClosed) waiting.end();
    watched.waiting.add(waiting);
    this.#timer ??= setInterval(
      () => void this.#look(),
      this.db.changes === undefined ? SHARED_INTERVAL : LOCAL_INTERVAL,
    );
    return waiting;
  }

  /** Ends all waits, those that begin later included. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#watched.values()) for (const each of [...waiting]) each.end();
  }

  #forget(id: string, watched: Watched): void {
    clearTimeout(watched.timer);
    this.#watched.delete(id);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#state = undefined;
  }

  #signal(watched: Watched | undefined): void {
    if (watched === undefined || watched.timer !== undefined) return;
    const interval = Math.max(watched.pause, watched.waiting.size * PAUSE_OF_EACH);
    const pause = Math.max(0, watched.signalled + interval - performance.now());
    watched.timer = setTimeout(() => {
      watched.timer = undefined;
      watched.signalled = performance.now();
      watched.shared = new Map();
      for (const each of watched.waiting) each.signal();
    }, pause);
  }

  /** Looks for commits of other processes. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    const state = this.db.changes?.state();
    if (state !== undefined && state === this.#state) return;
    this.#isLooking = true;
    try {
      const all = [...this.#watched.values()];
      for (let from = 0; from < all.length; from += PARALLEL_LOOKS) {
        const some = all.slice(from, from + PARALLEL_LOOKS);
        await Promise.all(some.map((watched) => this.#lookAt(watched)));
      }
      // Read before: a commit during the look is found by the next one.
      this.#state = state;
    } catch (error) {
      // The next look may succeed.
      this.onError(error);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAt(watched: Watched): Promise<void> {
    const newest = await watched.look();
    if (newest !== watched.newest && watched.waiting.size > 0) this.#signal(watched);
    watched.newest = newest;
  }

  /** Returns a text that differs with each entry that is added, and when the feed is turned off or on. */
  async #newestOf(project: string, drive: string): Promise<string> {
    const feed = (await this.projects.find(project))?.feed;
    if (feed === undefined) return "";
    const entries = this.db.reader.list(ranges.feedFrom(keys.feed(project, feed, drive), ""), {
      reverse: true,
      limit: 1,
      unreadable: true,
    });
    for await (const { key } of entries) return identityOf(key);
    return feed;
  }
}

function feedId(project: string, drive: string): string {
  return identityOf(["feed", project, drive]);
}

/** A caller that waits for changes. */
export class Waiting implements Disposable {
  #isSignalled = false;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(
    private readonly watched: Pick<Watched, "shared">,
    private readonly onDispose: () => void,
  ) {}

  /** Whether the server is shutting down, or the caller has left: there is nothing more to wait for. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** To be called before anything is read: what is committed from now on ends the next wait. */
  reset(): void {
    this.#isSignalled = false;
  }

  /**
   * Reads what was waited for, together with the others that a signal wakes at the same time and that ask the same. What it reads is
   * newer than that signal: a commit that it does not see is signalled later, and ends the next wait.
   *
   * @param key What is asked: the same text for the same answer.
   */
  async share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const { shared } = this.watched;
    const known = shared.get(key) as Promise<T> | undefined;
    if (known !== undefined) return await known;
    const reading = read();
    shared.set(key, reading);
    try {
      return await reading;
    } finally {
      // All that were woken with this one have asked by then.
      setTimeout(() => shared.delete(key), 0);
    }
  }

  /** Waits until there may be changes, at most for a time in milliseconds. */
  async next(time: number): Promise<void> {
    if (this.#isSignalled || this.#hasEnded) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, time);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  signal(): void {
    this.#isSignalled = true;
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.end();
    this.onDispose();
  }
}

/** The lists of all drives of a project, or of some of them. */
export interface ListScope {
  project: string;
  /** `undefined` for all. */
  drives: readonly string[] | undefined;
}

/** Characters of a mark: enough that no two are the same. */
const MARK_LENGTH = 24;

/**
 * Returns a text that differs after each change of what lists show: files, folders, the trash, uploads and links. It is
 * the same in every process.
 *
 * Each change of a drive adds to one of its counters, if only 0, which gives the counter another versionstamp. Links
 * count nowhere, but the audit log of the project has each that was made or revoked. So no commit writes more for this.
 */
export async function markOf(
  reader: Pick<KvReader, "list">,
  { project, drives }: ListScope,
): Promise<string> {
  const counters = drives === undefined
    ? [prefixes.all("project_usage", project)]
    : drives.map((drive) => prefixes.all("usage", project, drive));
  const seen: string[] = [];
  for (const prefix of counters) {
    for await (const { versionstamp } of reader.list({ prefix })) seen.push(versionstamp);
    seen.push("");
  }
  const events = reader.list(ranges.events(project), { reverse: true, limit: 1, unreadable: true });
  for await (const { key } of events) seen.push(String(key.at(-1)));
  return hashSecret(seen.join()).slice(0, MARK_LENGTH);
}
