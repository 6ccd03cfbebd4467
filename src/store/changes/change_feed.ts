/**
 * The feeds of changes: what happened to the names of a drive, in the order of the commits.
 *
 * **Order.** The operation that changes a name announces the change (`Operation.announce`), and its commit stores the
 * changes of each drive as one entry, whose key ends with the versionstamp of that commit. The store chooses it within
 * the commit: SQLite has one writer at a time, and FoundationDB orders all commits. A commit that a reader does not see
 * yet therefore gets a greater versionstamp than all that it sees, so no entry can appear before a cursor that was given
 * out, whichever process makes it. No counter is read or checked, so writers do not wait for each other.
 *
 * **Cursors** name a change that is kept, the newest one that was removed (the horizon), or the beginning. Any other
 * one is refused: changes after it may be gone. Old entries and the horizon change in one operation.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { ChangesExpired, ChangesOff, InvalidCursor } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import type { ChangesRecord, NameChange } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { ProjectRecord } from "../engine/records.ts";
import { BEGINNING, comparePositions, Cursors, LAST_INDEX, type Position } from "./cursor.ts";

/** Entries that are read at a time: most have a change, some are as large as a value can be. */
const BATCH = 50;

/** Changes that one page looks at, at most: of those of a whole drive, a key may see few. */
const MAX_LOOKED_AT = 10_000;

/** Stands for the oldest change that is kept. */
export const OLDEST = "0";

export type Change = NameChange & {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
};

export interface ChangesQuery {
  project: string;
  drive: string;
  /** Only names that begin with it. */
  prefix: string;
  /** The cursor after which the page begins, or `OLDEST`; `undefined` for nothing but the present cursor. */
  since: string | undefined;
  /** Changes, and bytes of them, after which the page ends. */
  limit: number;
  maxBytes: number;
}

export interface ChangesPage {
  changes: Change[];
  /** The cursor after which the next page begins. */
  last: string;
  /** Whether there are more changes, or more to look at. */
  more: boolean;
}

/** What a webhook asks. It keeps positions, and tells only of some types of changes. */
export interface ChangesAfterQuery {
  project: string;
  drive: string;
  prefix: string;
  /** All if absent. */
  types?: readonly NameChange["type"][] | undefined;
  after: Position;
  /** The last change to look at; all if absent. */
  until?: Position | undefined;
  limit: number;
  maxBytes: number;
}

export interface ChangesAfter {
  changes: Change[];
  /** The last position that was looked at. */
  position: Position;
  /** Whether there is more to look at. */
  more: boolean;
  /** Whether changes after the position are no longer kept, or cannot be read. */
  hasGap: boolean;
}

type Entry = Deno.KvEntry<ChangesRecord>;

/** The feed of one drive, as long as it is on. */
interface Feed {
  key: Deno.KvKey;
  horizonKey: Deno.KvKey;
  cursors: Cursors;
}

/** Reads the feeds of all drives. */
export class ChangeFeed {
  #incarnation: string | undefined;

  constructor(private readonly db: Database, private readonly projects: ProjectCache) {}

  /**
   * Returns a page of the changes of a drive, the oldest first.
   *
   * @throws {ChangesOff}
   * @throws {InvalidCursor}
   * @throws {ChangesExpired} if changes after the cursor may be gone.
   */
  async page(query: ChangesQuery): Promise<ChangesPage> {
    const { since } = query;
    let feed = await this.#feedOf(query);
    let after = this.#positionOf(feed, since);
    if (feed === undefined || after === "other feed") {
      // Another process may have turned it off and on.
      this.projects.forget(query.project);
      feed = await this.#feedOf(query);
      after = this.#positionOf(feed, since);
    }
    if (feed === undefined) throw new ChangesOff();
    if (since === undefined) {
      const last = feed.cursors.write(await this.#newest(feed, query.prefix));
      return { changes: [], last, more: false };
    }
    if (after === undefined) throw new InvalidCursor(since);
    if (after === "other feed") throw new ChangesExpired();
    return await this.#read(feed, after, query);
  }

  /**
   * Returns changes of a drive after a position, which may be of an earlier feed of it; none while the feed is off. Unlike
   * `page`, it passes over what expired.
   */
  async after(query: ChangesAfterQuery): Promise<ChangesAfter> {
    const { project, drive, after } = query;
    // Not from the cache: with the secret of an earlier feed, new changes would not be found.
    const { value } = await this.db.reader.get<ProjectRecord>(keys.project(project));
    const found = { changes: [], position: after, more: false, hasGap: false };
    if (value?.feed === undefined) return found;
    const feed = await this.#feedWith(value.feed, project, drive);
    const result = await this.#readAfter(feed, query, found);
    const horizon = await this.#horizonOf(feed);
    return { ...result, hasGap: result.hasGap || comparePositions(after, horizon) < 0 };
  }

  async #readAfter(
    feed: Feed,
    { prefix, types, after, until, limit, maxBytes }: ChangesAfterQuery,
    found: ChangesAfter,
  ): Promise<ChangesAfter> {
    const entries = this.db.reader.list<ChangesRecord>(ranges.feedFrom(feed.key, after.stamp), {
      batchSize: Math.min(BATCH, limit + 1),
      unreadable: true,
    });
    let bytes = 0;
    let lookedAt = 0;
    for await (const entry of entries) {
      const stamp = stampOf(entry);
      const isDamaged = entry.value === null;
      const { at, changes } = entry.value ?? { at: 0, changes: [] };
      for (const [i, stored] of changes.entries()) {
        const position = { stamp, index: i + 1 };
        if (comparePositions(position, after) <= 0) continue;
        if (until !== undefined && comparePositions(position, until) > 0) {
          return { ...found, more: true };
        }
        const seen = visible(stored, prefix);
        const change = types === undefined || seen !== undefined && types.includes(seen.type)
          ? seen
          : undefined;
        bytes += change === undefined ? 0 : sizeOf(change);
        const { length } = found.changes;
        const isFull = change !== undefined &&
          (length >= limit || length > 0 && bytes > maxBytes);
        if (isFull || ++lookedAt > MAX_LOOKED_AT) return { ...found, more: true };
        found.position = position;
        if (change === undefined) continue;
        found.changes.push({ id: feed.cursors.write(position), at, ...change });
      }
      const end = { stamp, index: LAST_INDEX };
      if (isDamaged && comparePositions(end, after) > 0) {
        found.position = end;
        found.hasGap = true;
      }
    }
    return found;
  }

  /** Yields the drives of a project that have changes. Each costs a read. */
  async *drivesOf(project: string): AsyncGenerator<string> {
    const { value } = await this.db.reader.get<ProjectRecord>(keys.project(project));
    const feed = value?.feed;
    let drive: string | undefined;
    while (feed !== undefined) {
      const range = ranges.drivesWithFeed(project, feed, drive);
      const entries = this.db.reader.list(range, { limit: 1, batchSize: 1, unreadable: true });
      drive = undefined;
      for await (const { key } of entries) drive = String(key.at(-2));
      if (drive === undefined) return;
      yield drive;
    }
  }

  async #feedOf(
    { project, drive }: Pick<ChangesQuery, "project" | "drive">,
  ): Promise<Feed | undefined> {
    const secret = (await this.projects.find(project))?.feed;
    return secret === undefined ? undefined : await this.#feedWith(secret, project, drive);
  }

  async #feedWith(secret: string, project: string, drive: string): Promise<Feed> {
    return {
      key: keys.feed(project, secret, drive),
      horizonKey: keys.feedHorizon(project, secret, drive),
      cursors: new Cursors(secret, await this.#readIncarnation(), drive),
    };
  }

  #positionOf(
    feed: Feed | undefined,
    since: string | undefined,
  ): Position | "other feed" | undefined {
    if (since === undefined) return undefined;
    return since === OLDEST ? BEGINNING : feed?.cursors.read(since);
  }

  /** A store in files gets another file for its chunks when it is restored. */
  async #readIncarnation(): Promise<string> {
    this.#incarnation ??= String((await this.db.reader.get(keys.byteFile())).value);
    return this.#incarnation;
  }

  async #read(
    feed: Feed,
    after: Position,
    { prefix, since, limit, maxBytes }: ChangesQuery,
  ): Promise<ChangesPage> {
    const page = new PageBuilder(feed, { prefix, limit, maxBytes });
    const range = ranges.feedFrom(feed.key, after.stamp);
    const entries = this.db.reader.list<ChangesRecord>(range, {
      batchSize: Math.min(BATCH, limit + 1),
      unreadable: true,
    });
    let isKept: boolean | undefined;
    let isDamaged = false;
    for await (const entry of entries) {
      const stamp = stampOf(entry);
      isKept ??= stamp === after.stamp;
      // What it told is unknown, so callers that read on from before it have to list the drive again.
      isDamaged = entry.value === null && since !== OLDEST &&
        comparePositions({ stamp, index: LAST_INDEX }, after) > 0;
      if (isDamaged || !page.add(entry, after)) break;
    }
    // After the entries, as old ones may have been removed while they were read.
    const horizon = await this.#horizonOf(feed);
    if (since === OLDEST) return page.end(feed.cursors.write(horizon));
    const order = comparePositions(after, horizon);
    const isExpired = order < 0 || (order > 0 && isKept !== true);
    if (isExpired || isDamaged && page.isEmpty) throw new ChangesExpired();
    return page.end(since ?? "", isDamaged);
  }

  async #horizonOf({ horizonKey }: Feed): Promise<Position> {
    const [{ value }] = await this.db.reads.get<[Position]>([horizonKey]);
    return value ?? BEGINNING;
  }

  /** Returns the position of the newest change that is visible, or one after which none is. */
  async #newest(feed: Feed, prefix: string): Promise<Position> {
    const entries = this.db.reader.list<ChangesRecord>(ranges.feedFrom(feed.key, ""), {
      reverse: true,
      batchSize: prefix === "" ? 1 : BATCH,
      unreadable: true,
    });
    let lookedAt = 0;
    for await (const entry of entries) {
      const stamp = stampOf(entry);
      if (entry.value === null) return { stamp, index: LAST_INDEX };
      const { changes } = entry.value;
      lookedAt += changes.length;
      const at = changes.findLastIndex((change) => visible(change, prefix) !== undefined);
      if (at !== -1) return { stamp, index: at + 1 };
      if (lookedAt > MAX_LOOKED_AT) return { stamp, index: changes.length };
    }
    return await this.#horizonOf(feed);
  }
}

function stampOf({ key }: Entry): string {
  return String(key.at(-1));
}

/** Returns what a change is for who sees only names with a prefix; `undefined` if it is none. */
function visible(change: NameChange, prefix: string): NameChange | undefined {
  if (prefix === "") return change;
  const isShown = change.name.startsWith(prefix);
  if (change.type !== "move") return isShown ? change : undefined;
  const { from = "", ...rest } = change;
  const wasShown = from.startsWith(prefix);
  if (isShown) return wasShown ? change : { ...rest, type: "put" };
  return wasShown ? { type: "delete", name: from } : undefined;
}

const encoder = new TextEncoder();

/** Bytes of a change in JSON without its own fields, and with a cursor that comes on top. */
const CHANGE_OVERHEAD = 100;

function sizeOf(change: NameChange): number {
  return encoder.encode(JSON.stringify(change)).byteLength + CHANGE_OVERHEAD;
}

class PageBuilder {
  readonly #changes: Change[] = [];
  #bytes = 0;
  #lookedAt = 0;
  #position: Position | undefined;
  #isFull = false;

  constructor(
    private readonly feed: Feed,
    private readonly options: Pick<ChangesQuery, "prefix" | "limit" | "maxBytes">,
  ) {}

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** Adds the changes of an entry that come after a position. Returns whether there is room for more. */
  add(entry: Entry, after: Position): boolean {
    const { prefix, limit, maxBytes } = this.options;
    const stamp = stampOf(entry);
    const { at, changes } = entry.value ?? { at: 0, changes: [] };
    for (const [i, stored] of changes.entries()) {
      const position = { stamp, index: i + 1 };
      if (comparePositions(position, after) <= 0) continue;
      const change = visible(stored, prefix);
      const bytes = change === undefined ? 0 : sizeOf(change);
      this.#isFull = this.#lookedAt >= MAX_LOOKED_AT ||
        change !== undefined &&
          (this.#changes.length >= limit || !this.isEmpty && this.#bytes + bytes > maxBytes);
      if (this.#isFull) return false;
      this.#lookedAt++;
      this.#bytes += bytes;
      this.#position = position;
      if (change !== undefined) {
        this.#changes.push({ id: this.feed.cursors.write(position), at, ...change });
      }
    }
    return true;
  }

  /**
   * @param since The cursor of a page without changes.
   * @param hasMore Whether entries are left that were not looked at.
   */
  end(since: string, hasMore = false): ChangesPage {
    const more = this.#isFull || hasMore;
    const changes = this.#changes;
    // Changes of other names must not move the cursor, unless it has to pass a great many of them.
    const shown = changes.at(-1)?.id ?? since;
    const last = more && this.#lookedAt >= MAX_LOOKED_AT && this.#position !== undefined
      ? this.feed.cursors.write(this.#position)
      : shown;
    return { changes, last, more };
  }
}
