/**
 * Copies and moves. Neither touches bytes: a copy is a new record that shares the bytes of another, a move is the same
 * record under another name. Each is one atomic operation that checks both records and both drives.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { CachedProject, ProjectCache } from "../engine/project_cache.ts";
import { type FileRecord, type Place, placeId } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { changeFile, setExpiry } from "./expiry.ts";
import {
  copiedRecord,
  type FileDescription,
  isPresent,
  movedRecord,
  requireReadable,
  unguarded,
  validators,
  type WriteCondition,
  type WriteGuard,
} from "./file_record.ts";
import { moveFile, setFile } from "./names.ts";
import { shareBytes } from "./shared_bytes.ts";
import { retire } from "./trash.ts";

/** What happens to the source. */
export type CopyKind = "copy" | "move";

/** A copy or move within one project. */
export interface CopyRequest {
  from: Place;
  to: Place;
  /** Whether an existing target is replaced. */
  overwrite: boolean;
  /** Decides on the source's current version. */
  condition: WriteCondition;
  guard?: WriteGuard | undefined;
  /** Decides on the target's, of which there may be none. */
  targetCondition?: WriteCondition | undefined;
  /** The description of a copy; that of its source unless given. */
  replace?: FileDescription | undefined;
}

/**
 * The record of the target, or why there is none. `absent`: there is no source. `refused`: a condition does not hold.
 * `taken`: the target exists and is not to be replaced.
 */
export type CopyOutcome = FileRecord | "absent" | "refused" | "taken";

type Stored = Deno.KvEntry<FileRecord>;
type Current = Deno.KvEntryMaybe<FileRecord>;

/** Copies and moves files within their project. */
export class Copies {
  constructor(
    private readonly db: Database,
    private readonly deps: {
      projects: ProjectCache;
      quotas: Quotas;
    },
  ) {}

  /**
   * Copies or moves a file. A copy may replace the description of a file in place, which makes a new version.
   *
   * @throws {RangeError} if source and target are the same otherwise.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the target's drive is being deleted.
   * @throws {QuotaExceeded} if the project would have too many bytes or files.
   */
  async run(kind: CopyKind, request: CopyRequest): Promise<CopyOutcome> {
    const { from, to, overwrite, condition, guard = unguarded, replace } = request;
    const { targetCondition = () => true } = request;
    if (placeId(from) === placeId(to)) {
      if (replace === undefined) {
        throw new RangeError("A file cannot be copied or moved onto itself");
      }
      const both: WriteCondition = (current) => condition(current) && targetCondition(current);
      const parts = { db: this.db, projects: this.deps.projects, quotas: this.deps.quotas };
      return await changeFile(parts, to, { replace }, both);
    }
    const begun = await this.deps.projects.requireWritable(to);
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const project = tries === 0 ? begun : await this.deps.projects.requireWritable(to, begun);
      const [source, target] = await this.#read(from, to);
      const now = Date.now();
      requireReadable(from, source);
      if (source.value === null || !isPresent(source.value, now)) return "absent";
      if (project.deleting.includes(from.drive)) return "absent";
      if (!condition(validators(source.value))) return "refused";
      const replaced = target.value !== null && isPresent(target.value, now)
        ? validators(target.value)
        : undefined;
      if (!targetCondition(replaced)) return "refused";
      if (replaced !== undefined && !overwrite) return "taken";
      const operation = new Operation().share(project.unchanged, ...await guard())
        .unchanged(source, target);
      const files = { from, to, source, target, replace };
      const record = this.#addChanges(operation, kind, project, files);
      if ((await this.deps.quotas.commit(project, to, operation)).ok) return record;
      this.deps.projects.forget(to.project);
    }
    throw new StoreUnavailable("Too many concurrent writes of the same files");
  }

  async #read(from: Place, to: Place): Promise<[Current, Current]> {
    return await this.db.reads.get<[FileRecord, FileRecord]>([keys.file(from), keys.file(to)]);
  }

  /** Returns the record of the target. */
  #addChanges(
    operation: Operation,
    kind: CopyKind,
    project: CachedProject,
    { from, to, source, target, replace }: Pick<CopyRequest, "from" | "to" | "replace"> & {
      source: Stored;
      target: Current;
    },
  ): FileRecord {
    const { value } = source;
    let record: FileRecord;
    if (kind === "copy") {
      record = copiedRecord(shareBytes(operation, source.key, value), target.value, replace);
      setFile(operation, project, to, target, record);
    } else {
      record = movedRecord(value);
      moveFile(operation, project, { from, to, source, target }, record);
      if (value.sha256 === undefined) operation.delete(keys.undigested(from));
    }
    setExpiry(operation, to, record);
    if (target.value !== null) retire(operation, project, to, target.value, "replaced");
    if (record.sha256 === undefined) operation.set(keys.undigested(to), record.version);
    return record;
  }
}
