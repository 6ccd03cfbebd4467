import { createHash } from "node:crypto";
import type { Database } from "../engine/database.ts";
import { isCorruption } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  bytesVersion,
  CHUNK_SIZE,
  type FileRecord,
  type ManifestPage,
  type Place,
} from "../engine/records.ts";
import {
  checksumPages,
  contentProblem,
  digest,
  OTHER_BYTES,
  thumbnailProblem,
  VersionCheck,
} from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { isPresent, UNREADABLE_RECORD } from "../files/file_record.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import type { OpenVersions } from "../bytes/open_versions.ts";

/** Chunks that are read at a time: half a MiB, so that requests wait for the disk a millisecond and not longer. */
const BATCH = 8;

type Bytes = Uint8Array<ArrayBuffer>;

/** Called after every batch with the number of its bytes. What it throws ends the check. */
export type Rest = (bytes: number) => Promise<void>;

export type CheckOutcome =
  /** The file was replaced or deleted during the check. */
  | { kind: "gone" }
  /** All bytes are right. `converted`: the record had no digest, and has it now. */
  | { kind: "whole"; version: string; converted: boolean }
  | { kind: "damaged"; version: string; problem: string };

type StoredFile = Deno.KvEntry<FileRecord>;

/** Bytes in the chunks of one version: a file, or a part of one. */
interface CheckedVersion {
  version: string;
  size: number;
  /** The SHA-256 that a record has of these bytes, in base64. */
  sha256: string | undefined;
  /** How a problem with it begins. */
  label: string;
}

/** A problem with the file, as the end of a sentence. */
class Damaged extends Error {}

/** The file was replaced or deleted during the check. */
class Gone extends Error {}

/**
 * Reads all bytes of a file and compares them with their checksums and digests. A record without a digest gets one; the
 * version, the entity tag and the times of the file stay.
 */
export class FileCheck {
  constructor(
    private readonly deps: { db: Database; openVersions: OpenVersions },
    private readonly place: Place,
    private readonly rest: Rest,
  ) {}

  /** Checks the present version, and keeps the sweeper of this process from deleting it until then. */
  async run(): Promise<CheckOutcome> {
    const file = await this.deps.db.diskReader.get<FileRecord>(keys.file(this.place));
    if (isUnreadable(file)) {
      return { kind: "damaged", version: file.versionstamp ?? "", problem: UNREADABLE_RECORD };
    }
    if (file.value === null || !isPresent(file.value, Date.now())) return { kind: "gone" };
    const { version } = file.value;
    const close = this.deps.openVersions.hold(bytesVersion(file.value));
    try {
      const sha256 = file.value.layout.kind === "inline"
        ? await this.#checkContent(file.value)
        : await this.#checkChunks(file.value);
      const converted = await this.#addDigest(file, sha256);
      await this.#checkThumbnail(file.value);
      return { kind: "whole", version, converted };
    } catch (error) {
      if (error instanceof Gone) return { kind: "gone" };
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      // Another process may have replaced the file and deleted the bytes.
      const isUnchanged = await this.#isUnchanged(file);
      return isUnchanged ? { kind: "damaged", version, problem } : { kind: "gone" };
    } finally {
      close();
    }
  }

  async #checkContent(record: FileRecord): Promise<string> {
    const key = keys.content(bytesVersion(record));
    const { value: content } = await this.deps.db.diskReader.get<Bytes>(key);
    const problem = contentProblem(record, content);
    if (problem !== undefined || content === null) throw new Damaged(problem);
    await this.rest(record.size);
    return record.sha256 ?? digest(content);
  }

  /** A thumbnail may be replaced at any time, which leaves the version of the file as it is. */
  async #checkThumbnail({ thumbnail }: FileRecord): Promise<void> {
    if (thumbnail === undefined) return;
    const { diskReader } = this.deps.db;
    const { value } = await diskReader.get<Bytes>(keys.content(thumbnail.version));
    const problem = thumbnailProblem(thumbnail, value);
    if (problem === undefined) return;
    const now = await diskReader.get<FileRecord>(keys.file(this.place));
    if (now.value?.thumbnail?.version === thumbnail.version) throw new Damaged(problem);
  }

  /** Returns the SHA-256 of the whole file, in base64. */
  async #checkChunks(record: FileRecord): Promise<string> {
    const { layout, size, sha256 } = record;
    if (layout.kind === "chunks") {
      const version = bytesVersion(record);
      return await this.#checkVersion({ version, size, sha256, label: "" });
    }
    const whole = createHash("sha256");
    for await (const part of this.#parts(record)) {
      await this.#checkVersion(part, (chunk) => void whole.update(chunk));
    }
    const found = whole.digest("base64");
    if (sha256 !== undefined && found !== sha256) throw new Damaged(OTHER_BYTES);
    return found;
  }

  async *#parts(record: FileRecord): AsyncGenerator<CheckedVersion> {
    const { size, layout } = record;
    if (layout.kind !== "manifest") return;
    let start = 0;
    let count = 0;
    const pages = { prefix: prefixes.all("manifest", bytesVersion(record)) };
    for await (const { key, value } of this.deps.db.diskReader.list<ManifestPage>(pages)) {
      if (key.at(-1) !== start) throw new Damaged(`its list of parts has a gap at byte ${start}`);
      for (const [i, part] of value.versions.entries()) {
        const size = value.sizes[i] ?? 0;
        start += size;
        yield { version: part, size, sha256: undefined, label: `of its part ${++count}, ` };
      }
    }
    if (count !== layout.parts) {
      throw new Damaged(`its list of parts has ${count} instead of ${layout.parts}`);
    }
    if (start !== size) throw new Damaged(`its parts have ${start} bytes instead of ${size}`);
  }

  /** Checks one version. Returns the SHA-256 of its bytes, in base64. */
  async #checkVersion(
    { version, size, sha256, label }: CheckedVersion,
    onChunk: (chunk: Bytes) => void = () => {},
  ): Promise<string> {
    const pages = await this.#checksumPages(version, size);
    const check = new VersionCheck({ size, pages, sha256 });
    for await (const [index, chunk] of this.#chunks(version, size)) {
      throwIfDamaged(check.add(index, chunk), label);
      onChunk(chunk);
    }
    throwIfDamaged(check.end(), label);
    return check.sha256;
  }

  async #checksumPages(version: string, size: number): Promise<unknown[]> {
    const pages: unknown[] = [];
    for (let number = 0; number < checksumPages(chunkCount(size)); number++) {
      const { value } = await this.deps.db.bytes.diskReader.get(keys.checksums(version, number));
      pages.push(value);
    }
    return pages;
  }

  async *#chunks(version: string, size: number): AsyncGenerator<[index: number, chunk: Bytes]> {
    const count = chunkCount(size);
    for (let from = 0; from < count; from += BATCH) {
      const to = Math.min(from + BATCH, count);
      const range = ranges.chunks(version, from, to);
      const batch = await Array.fromAsync(
        this.deps.db.bytes.diskReader.list<Bytes>(range, { batchSize: to - from }),
      );
      for (const { key, value } of batch) yield [Number(key.at(-1)), value];
      // `VersionCheck` notices a missing chunk at the next one, or at the end.
      await this.rest(Math.min(batch.length * CHUNK_SIZE, size));
    }
  }

  /** Adds the digest to a record without one. Returns whether it had none. */
  async #addDigest(file: StoredFile, sha256: string): Promise<boolean> {
    let { value, versionstamp } = file;
    while (value.sha256 === undefined) {
      const operation = new Operation()
        .check(file.key, versionstamp)
        .set(file.key, { ...value, sha256 } satisfies FileRecord)
        .delete(keys.undigested(this.place));
      if ((await this.deps.db.commit(operation)).ok) return true;
      // The record of the same version may have a new deadline, or copies that share its bytes.
      const now = await this.deps.db.diskReader.get<FileRecord>(file.key);
      if (now.versionstamp === null || now.value.version !== value.version) throw new Gone();
      ({ value, versionstamp } = now);
    }
    return false;
  }

  async #isUnchanged({ key, value }: StoredFile): Promise<boolean> {
    const now = await this.deps.db.diskReader.get<FileRecord>(key);
    return now.value?.version === value.version;
  }
}

function throwIfDamaged(problem: string | undefined, label: string): void {
  if (problem !== undefined) throw new Damaged(label + problem);
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof Damaged) return error.message;
  return isCorruption(error) ? `the database cannot be read there: ${error.message}` : undefined;
}
