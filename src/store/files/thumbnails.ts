/**
 * Thumbnails: small pictures that callers make and store with a version of a file. They are a part of its record, so what
 * copies, moves, keeps or deletes the record does so with them. Another upload has none.
 *
 * @module
 */
import { contentProblem, digest } from "../bytes/checksums.ts";
import { newVersion } from "../bytes/versions.ts";
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import {
  type FileRecord,
  type Place,
  thumbnailBytes,
  type ThumbnailRecord,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { present, requireReadable, validators, type WriteCondition } from "./file_record.ts";
import { setFile } from "./names.ts";
import { release } from "./shared_bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A thumbnail that was read. */
export interface Thumbnail {
  /** Its own version, which every replacement changes. */
  version: string;
  bytes: Bytes;
  record: FileRecord;
}

/** Stores and reads the thumbnails of all files. */
export class Thumbnails {
  constructor(
    private readonly db: Database,
    private readonly deps: { projects: ProjectCache; quotas: Quotas },
  ) {}

  /**
   * Stores the thumbnail of a file in place of an earlier one. The file keeps its version and its times.
   *
   * @param bytes At most those of one value of the store.
   * @returns `absent` if there is no such file, `refused` if the condition does not hold.
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   * @throws {QuotaExceeded}
   */
  async put(
    place: Place,
    bytes: Bytes,
    condition: WriteCondition,
  ): Promise<FileRecord | "absent" | "refused"> {
    const { projects, quotas } = this.deps;
    const thumbnail: ThumbnailRecord = {
      version: newVersion(),
      size: bytes.byteLength,
      sha256: digest(bytes),
    };
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      if (tries > 0) projects.forget(place.project);
      const project = await projects.requireWritable(place);
      const [file] = await this.db.reads.get<[FileRecord]>([keys.file(place)]);
      requireReadable(place, file);
      const current = present(file.value);
      if (current === undefined) return "absent";
      if (!condition(validators(current))) return "refused";
      const record: FileRecord = { ...current, thumbnail };
      const operation = new Operation().share(project.unchanged)
        .unchanged(file)
        .set(keys.content(thumbnail.version), bytes);
      setFile(operation, project, place, file, record);
      if (current.thumbnail !== undefined) {
        release(operation, place, thumbnailBytes(current.thumbnail));
      }
      if ((await quotas.commit(project, place, operation)).ok) return record;
    }
    throw new StoreUnavailable("Too many concurrent changes of the same file");
  }

  /**
   * Reads the thumbnail of a file. One that is damaged counts as none, as callers can make it again; the scrub reports it.
   *
   * @returns `absent` if there is no such file, `undefined` if it has no thumbnail.
   */
  async get(place: Place): Promise<Thumbnail | "absent" | undefined> {
    if (await this.deps.projects.isHidden(place)) return "absent";
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const [file, content] = await this.db.reads.getReferenced<FileRecord, Bytes>(
        keys.file(place),
        ({ thumbnail }) => thumbnail && keys.content(thumbnail.version),
      );
      const record = present(file.value);
      if (record === undefined) return "absent";
      const { thumbnail } = record;
      if (thumbnail === undefined) return undefined;
      const bytes = content?.value ?? null;
      if (bytes !== null && contentProblem(thumbnail, bytes) === undefined) {
        return { version: thumbnail.version, bytes, record };
      }
      if (await this.#isStill(place, thumbnail)) {
        this.db.meter.damageRead();
        return undefined;
      }
    }
    throw new StoreUnavailable("Too many concurrent changes of the same file");
  }

  /** A content is deleted with what names it, which may have happened between the two reads. */
  async #isStill(place: Place, { version }: ThumbnailRecord): Promise<boolean> {
    const [{ value }] = await this.db.reads.get<[FileRecord]>([keys.file(place)]);
    return value?.thumbnail?.version === version;
  }
}
