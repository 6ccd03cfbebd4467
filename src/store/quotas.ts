import type { Outcome } from "./commit.ts";
import type { Database } from "./database.ts";
import { QuotaExceeded } from "./errors.ts";
import { keys } from "./keys.ts";
import type { KnownProject } from "./known_projects.ts";
import type { Operation } from "./operation.ts";
import { accountOf, allows } from "./quota_account.ts";
import { QuotaQueue } from "./quota_queue.ts";
import type { FileRecord, PartRecord, Place, ProjectRecord, QuotaRecord } from "./records.ts";

/** A part that is to be added to an upload. */
interface NewPart {
  id: string;
  part: number;
  /** Bytes. */
  size: number;
}

/**
 * Keeps projects within their quotas: exactly, with every operation that changes how many bytes a project has. Projects
 * without a quota don't notice.
 */
export class Quotas {
  readonly #db: Database;
  readonly #queues = new Map<string, QuotaQueue>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Commits an operation that changes the bytes of a project, which it demands to be `unchanged`.
   *
   * @param more By how many bytes the project grows; negative where it becomes smaller.
   * @throws {QuotaExceeded} if it would have too many then. All that the operation demands was so.
   */
  async commit(
    { maxBytes, unchanged }: KnownProject,
    { project }: Pick<Place, "project">,
    operation: Operation,
    more: number,
  ): Promise<Outcome> {
    if (maxBytes === undefined || more === 0) return await this.#db.commit(operation);
    return await this.#queueOf(project).commit({ operation, more, unchanged });
  }

  /**
   * Refuses a file that cannot be stored now, before its bytes come. What it lets pass may be refused later.
   *
   * @param size Of the file, in bytes.
   * @throws {QuotaExceeded}
   */
  async demandRoom({ maxBytes }: KnownProject, place: Place, size: number): Promise<void> {
    if (maxBytes === undefined) return;
    const [owner, entry, file] = await this.#db.reads.get<[ProjectRecord, QuotaRecord, FileRecord]>(
      [keys.project(place.project), keys.quota(place.project), keys.file(place)],
    );
    await this.#demand(owner, entry, size - (file.value?.size ?? 0));
  }

  /**
   * Refuses a part where the file that would come of all parts so far could not be stored now.
   *
   * @throws {QuotaExceeded}
   */
  async demandRoomForPart(
    { maxBytes }: KnownProject,
    place: Place,
    { id, part, size }: NewPart,
  ): Promise<void> {
    if (maxBytes === undefined) return;
    const { project, drive } = place;
    const [owner, entry, file, bytes, earlier] = await this.#db.reads.get<
      [ProjectRecord, QuotaRecord, FileRecord, Deno.KvU64, PartRecord]
    >([
      keys.project(project),
      keys.quota(project),
      keys.file(place),
      keys.partsRevision(project, drive, id),
      keys.part(project, drive, id, part),
    ]);
    const others = received(bytes.value) - (earlier.value?.size ?? 0);
    await this.#demand(owner, entry, others + size - (file.value?.size ?? 0));
  }

  async #demand(
    owner: Deno.KvEntryMaybe<ProjectRecord>,
    entry: Deno.KvEntryMaybe<QuotaRecord>,
    more: number,
  ): Promise<void> {
    const account = await accountOf(this.#db, owner, entry);
    if (account === undefined || allows(account, more)) return;
    throw new QuotaExceeded({ used: account.used, limit: account.limit, more });
  }

  #queueOf(project: string): QuotaQueue {
    const known = this.#queues.get(project);
    if (known !== undefined) return known;
    const queue = new QuotaQueue(this.#db, project, () => this.#queues.delete(project));
    this.#queues.set(project, queue);
    return queue;
  }
}

/** The bytes of an upload's parts. Where an older version began to count them, it counted too few. */
function received(counter: Deno.KvU64 | null): number {
  return counter === null ? 0 : Math.max(0, Number(BigInt.asIntN(64, counter.value)));
}
