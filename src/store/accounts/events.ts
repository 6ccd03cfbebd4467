/**
 * The audit logs: who changed what, from which address, and when. Each event is written by the operation that makes the
 * change, so neither exists without the other.
 *
 * The log of the server has a copy of every event of a project. Its keys are in the order of time, which makes it the
 * index by which old events are found in the logs of the projects.
 *
 * @module
 */
import { ulid } from "@std/ulid";
import { DAY, MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { keys, ranges } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { deleteAll } from "../engine/transact.ts";
import { VERSION_LENGTH } from "../bytes/versions.ts";

/** What the audit logs record. */
export const EVENTS = [
  "project.created",
  "project.deleted",
  "quota.changed",
  "trash.changed",
  "project.renamed",
  "changes.changed",
  "host_suffix.changed",
  "drive.deleted",
  "key.created",
  "key.revoked",
  "s3_key.created",
  "s3_key.revoked",
  "app.created",
  "app.changed",
  "app.deleted",
  "access.enabled",
  "access.disabled",
  "app_key.created",
  "app_key.revoked",
  "gate.signed_in",
  "dashboard.signed_in",
  "sign_in_code.created",
  "link.created",
  "link.changed",
  "link.revoked",
  "link_key.rotated",
  "webhook.created",
  "webhook.changed",
  "webhook.disabled",
  "webhook.deleted",
  "admin_token.renewed",
] as const;

export type EventName = typeof EVENTS[number];

/** An entry of a project's audit log. */
export interface EventRecord {
  /** Milliseconds since 1970. */
  at: number;
  event: EventName;
  /** The prefix of a project key, the id of an S3 key, `admin`, `command line` or `server`. */
  by: string;
  /** The client's address; empty without a client. */
  address: string;
  /** What was changed, never a secret. Absent if that is the project itself. */
  target?: string;
}

/** An entry of the server's audit log, which has a copy of every event of a project. */
export interface ServerEventRecord extends EventRecord {
  project?: string;
}

/** How long events are kept, in milliseconds. */
export const EVENT_TTL = 90 * DAY;

/**
 * Events of one name that the log of a project keeps. Each name counts on its own, so that many sign-ins or links, which
 * need no rights to administer, push no other event out.
 */
export const MAX_EVENTS_OF_A_NAME = 5000;

/** How often old and surplus events are removed, in milliseconds. */
export const EVENT_SWEEP_INTERVAL = MINUTE;

/**
 * One of so many events makes the next sweep count the events of its project. Counting reads the whole log, so it is
 * not done for each event; a sweep that follows late removes what it finds.
 */
const COUNT_EVERY = 500;

/** Events that are read at a time. */
const BATCH = 200;

/**
 * If the system clock is set back by less than this, in milliseconds, new events still get later ids than earlier ones.
 * Beyond it the ids follow the clock, as events would stay for that much longer.
 */
const MAX_AHEAD = DAY;

/** Characters of a ULID that are its time. */
const TIME_LENGTH = 10;

/** Who makes a change. */
export interface Actor {
  /** The prefix of a project key, the id of an S3 key, or `admin`. */
  by: string;
  address: string;
}

/** A command on the data folder, or the settings that a server was started with. */
export const COMMAND_LINE: Actor = { by: "command line", address: "" };

/** The server itself, without a request. */
export const SERVER: Actor = { by: "server", address: "" };

export interface NewEvent {
  event: EventName;
  /** Absent if it is about the server. */
  project?: string;
  /** A short text such as a prefix or a name, never a secret. Absent if it is the project itself. */
  target?: string;
}

/** An event in a list. `project` is set in the list of the server, for events of projects. */
export interface ListedEvent extends ServerEventRecord {
  id: string;
}

export interface EventPage {
  events: ListedEvent[];
  /** Whether there are older events. */
  more: boolean;
}

/** Which page of a log is read: at most `limit` events, older than the event `last`, or the newest for an empty text. */
export interface EventQuery {
  limit: number;
  last: string;
}

/** The audit logs of the projects and of the server. */
export class EventLog {
  /** Projects whose events the next sweep counts. */
  readonly #grown = new Set<string>();
  /** The time in the last id, in milliseconds since 1970. */
  #time = 0;
  #isStopped = false;

  /** @param random Returns a number from 0 to 1, as `Math.random` does. */
  constructor(private readonly db: Database, private readonly random: () => number = Math.random) {}

  /**
   * Adds an event to the operation that makes the change. The operation has to check the record of the project, so that
   * no event follows its deletion.
   */
  record(
    operation: Operation,
    { by, address }: Actor,
    { event, project, target }: NewEvent,
  ): void {
    const id = this.#newId();
    const what = target === undefined ? {} : { target };
    const record: EventRecord = { at: Date.now(), event, by, address, ...what };
    if (project === undefined) return void operation.set(keys.serverEvent(id), record);
    const copy: ServerEventRecord = { ...record, project };
    operation.set(keys.serverEvent(id), copy);
    // The log of a deleted project is deleted with it.
    if (event === "project.deleted") return;
    operation.set(keys.event(project, id), record);
    if (this.random() * COUNT_EVERY < 1) this.#grown.add(project);
  }

  /** Returns a page of a project's log, the newest first. */
  async list(project: string, query: EventQuery): Promise<EventPage> {
    return await this.#page(ranges.events(project, boundaryBefore(query)), query);
  }

  /** Returns a page of the server's log, the newest first. */
  async listServer(query: EventQuery): Promise<EventPage> {
    return await this.#page(ranges.serverEvents(boundaryBefore(query)), query);
  }

  /**
   * Removes events that are older than `EVENT_TTL`, and the oldest of more than `MAX_EVENTS_OF_A_NAME` in projects whose
   * logs have grown.
   *
   * @param now Milliseconds since 1970.
   */
  async sweep(now = Date.now()): Promise<void> {
    await deleteAll(this.db, this.#old(now), () => this.#isStopped);
    for (const project of [...this.#grown]) {
      if (this.#isStopped) return;
      await this.trim(project);
      this.#grown.delete(project);
    }
  }

  /** Removes the oldest events of a project if there are more than `MAX_EVENTS_OF_A_NAME` of a name. */
  async trim(project: string): Promise<void> {
    await deleteAll(this.db, this.#surplus(project), () => this.#isStopped);
  }

  /** Stops a sweep after its current batch. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Yields the entries of surplus events. The copy goes last, because `verify` adds one that is missing. */
  async *#surplus(project: string): AsyncGenerator<{ key: Deno.KvKey }> {
    const counts = new Map<EventName, number>();
    const newestFirst = { reverse: true, batchSize: BATCH };
    const events = this.db.reader.list<EventRecord>(ranges.events(project), newestFirst);
    for await (const { key, value: { event } } of events) {
      const count = (counts.get(event) ?? 0) + 1;
      counts.set(event, count);
      if (count <= MAX_EVENTS_OF_A_NAME) continue;
      yield { key };
      yield { key: keys.serverEvent(String(key.at(-1))) };
    }
  }

  /** The same for old events. The ids begin with the time, so they are the first of the server's log. */
  async *#old(now: number): AsyncGenerator<{ key: Deno.KvKey }> {
    const old = ranges.serverEvents(ulid(now - EVENT_TTL).slice(0, TIME_LENGTH));
    const events = this.db.reader.list<ServerEventRecord>(old, { batchSize: BATCH });
    for await (const { key, value: { project } } of events) {
      if (project !== undefined) yield { key: keys.event(project, String(key.at(-1))) };
      yield { key };
    }
  }

  /** Returns an id that sorts after all others of this process. */
  #newId(): string {
    const now = Date.now();
    const isAhead = this.#time >= now && this.#time - now < MAX_AHEAD;
    this.#time = isAhead ? this.#time + 1 : now;
    return ulid(this.#time);
  }

  async #page(range: Deno.KvListSelector, { limit }: EventQuery): Promise<EventPage> {
    const list = this.db.reader.list<ServerEventRecord>(range, {
      reverse: true,
      limit: limit + 1,
      batchSize: BATCH,
    });
    const events = await Array.fromAsync(list, ({ key, value }) => ({
      id: String(key.at(-1)),
      ...value,
    }));
    return { events: events.slice(0, limit), more: events.length > limit };
  }
}

/**
 * Returns a boundary that fits into a store key and divides ids as `last` does, which may be any text; `undefined` for
 * none.
 */
function boundaryBefore({ last }: EventQuery): string | undefined {
  return last === "" ? undefined : [...last].slice(0, VERSION_LENGTH + 1).join("");
}
