import type { Outcome } from "./commit.ts";
import type { Database } from "./database.ts";
import { keys } from "./keys.ts";
import type { KnownProject } from "./known_projects.ts";
import type { Operation } from "./operation.ts";
import { accountOf } from "./quota_account.ts";
import { QuotaQueue } from "./quota_queue.ts";
import { NO_ROOM, type Room, RunningRoom } from "./quota_room.ts";
import type { Place, ProjectRecord, QuotaRecord } from "./records.ts";

/** Projects whose last known sums are remembered: some 200 KB. */
const REMEMBERED_SUMS = 1000;

/** A change of what counts against a quota. */
export interface Growth {
  /** By how many bytes the project grows; negative where it becomes smaller. */
  more: number;
  /** Whether counters of bytes change although their sum stays: bytes of parts become those of a file. */
  moves?: boolean;
}

/**
 * Keeps projects within their quotas: exactly, with every operation that changes how many bytes a project has. Projects
 * without a quota don't notice.
 */
export class Quotas {
  readonly #db: Database;
  readonly #queues = new Map<string, QuotaQueue>();
  /** Bytes of projects as they were last seen. Other processes may have added to them. */
  readonly #seen = new Map<string, number>();
  /** Bytes that running uploads of this process will add. */
  readonly #promised = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Commits an operation that changes the bytes of a project, which it demands to be `unchanged`.
   *
   * @throws {QuotaExceeded} if the project would have too many bytes then. All that the operation demands was so.
   */
  async commit(
    { maxBytes, unchanged }: KnownProject,
    { project }: Pick<Place, "project">,
    operation: Operation,
    { more, moves = false }: Growth,
  ): Promise<Outcome> {
    // Counting the bytes anew relies on it that every change of a counter meets the entry with the sum.
    const counts = more !== 0 || moves;
    if (maxBytes === undefined || !counts) return await this.#db.commit(operation);
    return await this.#queueOf(project).commit({ operation, more, unchanged });
  }

  /**
   * Promises room for the bytes of a file or a part, before they are read. What it lets pass may still be refused at the
   * commit, as other processes write too; but the uploads of this process never fill the disk with bytes that cannot be
   * committed.
   *
   * @param replaced The key of the file or the part that gets replaced, whose size is free again then.
   * @param announced Bytes, where they are known before.
   * @throws {QuotaExceeded} where an announced size does not fit.
   */
  async promise(
    { maxBytes }: KnownProject,
    { project }: Pick<Place, "project">,
    replaced: Deno.KvKey,
    announced: number | undefined,
  ): Promise<Room> {
    if (maxBytes === undefined) return NO_ROOM;
    const room = new RunningRoom({
      limit: maxBytes,
      seen: () => this.#queues.get(project)?.used ?? this.#seen.get(project),
      read: async () => await this.#read(project, replaced),
      promised: () => this.#promised.get(project) ?? 0,
      promise: (by) => this.#promise(project, by),
    });
    if (announced !== undefined) await room.announce(announced);
    return room;
  }

  async #read(
    project: string,
    replaced: Deno.KvKey,
  ): Promise<{ used: number; limit: number; replaced: number } | undefined> {
    const [owner, entry, before] = await this.#db.reads.get<
      [ProjectRecord, QuotaRecord, { size: number }]
    >([keys.project(project), keys.quota(project), replaced]);
    const account = await accountOf(this.#db, owner, entry);
    if (account === undefined) return undefined;
    const { used, limit } = account;
    this.#remember(project, used);
    return { used, limit, replaced: before.value?.size ?? 0 };
  }

  #promise(project: string, by: number): void {
    const sum = (this.#promised.get(project) ?? 0) + by;
    if (sum === 0) this.#promised.delete(project);
    else this.#promised.set(project, sum);
  }

  #remember(project: string, used: number): void {
    this.#seen.delete(project);
    const [oldest] = this.#seen.size >= REMEMBERED_SUMS ? this.#seen.keys() : [];
    if (oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(project, used);
  }

  #queueOf(project: string): QuotaQueue {
    const known = this.#queues.get(project);
    if (known !== undefined) return known;
    const queue = new QuotaQueue(this.#db, project, () => {
      this.#queues.delete(project);
      if (queue.used !== undefined) this.#remember(project, queue.used);
    });
    this.#queues.set(project, queue);
    return queue;
  }
}
