import { createHash } from "node:crypto";
import type { Database } from "../engine/database.ts";
import { isCorruption } from "../engine/errors.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE, type FileRecord, type ManifestPage, type Place } from "../engine/records.ts";
import {
  type ChecksumPage,
  checksumPages,
  ChecksumWriter,
  contentProblem,
  digest,
  isPage,
  OTHER_BYTES,
  VersionCheck,
} from "../files/checksums.ts";
import { chunkCount } from "../files/chunks.ts";
import { isDigested } from "../files/garbage.ts";
import type { OpenVersions } from "../files/versions.ts";

/** Chunks that are read at once: half a MiB, so that the reads of others wait for a millisecond and not for more. */
const BATCH = 8;

type Bytes = Uint8Array<ArrayBuffer>;

/** Called behind every batch with its bytes; what it throws ends the check. */
export type Rest = (bytes: number) => Promise<void>;

/**
 * What a check found. `gone`: the file was replaced or deleted meanwhile. `converted`: its digest or its checksums were
 * added, which an older store lacks.
 */
export type CheckOutcome =
  | { kind: "gone" }
  | { kind: "whole"; version: string; converted: boolean }
  | { kind: "damaged"; version: string; problem: string };

type StoredFile = Deno.KvEntry<FileRecord>;

/** Bytes that lie in the chunks of one version. */
interface Version {
  version: string;
  size: number;
  /** Of its bytes, in base64, where a record has it. */
  sha256: string | undefined;
  /** What a problem of it begins with. */
  label: string;
}

/** Ends a check: the end of a sentence on the file. */
class Damaged extends Error {}

/** The file was replaced or deleted meanwhile. */
class Gone extends Error {}

/**
 * Reads all bytes of a file and compares them with their checksums and digests. Adds those that are missing where nothing
 * contradicts them. Version, entity tag and times of the file stay.
 */
export class FileCheck {
  readonly #db: Database;
  readonly #place: Place;
  readonly #readers: OpenVersions;
  readonly #rest: Rest;

  constructor({ db, readers }: { db: Database; readers: OpenVersions }, place: Place, rest: Rest) {
    this.#db = db;
    this.#readers = readers;
    this.#place = place;
    this.#rest = rest;
  }

  /** Checks the version that is there now. The sweeper of this process leaves its bytes alone meanwhile. */
  async run(): Promise<CheckOutcome> {
    const [file, content] = await this.#db.reader.getMany<[FileRecord, Bytes]>([
      keys.file(this.#place),
      keys.content(this.#place),
    ]);
    if (file.value === null) return { kind: "gone" };
    const { version } = file.value;
    const close = this.#readers.hold(version);
    try {
      const sha256 = file.value.layout.kind === "inline"
        ? await this.#checkContent(file.value, content.value)
        : await this.#checkVersions(file);
      return { kind: "whole", version, converted: await this.#complete(file, sha256) };
    } catch (error) {
      if (error instanceof Gone) return { kind: "gone" };
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      // In another process the bytes of a file that was replaced do not wait for this one.
      const isSame = await this.#isUnchanged(file);
      return isSame ? { kind: "damaged", version, problem } : { kind: "gone" };
    } finally {
      close();
    }
  }

  async #checkContent(record: FileRecord, content: Bytes | null): Promise<string> {
    const problem = contentProblem(record, content);
    if (problem !== undefined || content === null) throw new Damaged(problem);
    await this.#rest(record.size);
    return record.sha256 ?? digest(content);
  }

  /** Returns the SHA-256 of the whole file, in base64. */
  async #checkVersions(file: StoredFile): Promise<string> {
    const { layout, sha256 } = file.value;
    if (layout.kind === "chunks") {
      const { version } = layout;
      return await this.#checkVersion(file, { version, size: file.value.size, sha256, label: "" });
    }
    const whole = createHash("sha256");
    for await (const part of this.#parts(file.value)) {
      await this.#checkVersion(file, part, (chunk) => void whole.update(chunk));
    }
    const found = whole.digest("base64");
    if (sha256 !== undefined && found !== sha256) throw new Damaged(OTHER_BYTES);
    return found;
  }

  async *#parts({ version, size, layout }: FileRecord): AsyncGenerator<Version> {
    if (layout.kind !== "manifest") return;
    let start = 0;
    let count = 0;
    const pages = { prefix: prefixes.manifest(this.#place, version) };
    for await (const { key, value } of this.#db.reader.list<ManifestPage>(pages)) {
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

  /** Checks one version and adds its checksums where it has none. Returns the SHA-256 of its bytes, in base64. */
  async #checkVersion(
    file: StoredFile,
    { version, size, sha256, label }: Version,
    onChunk: (chunk: Bytes) => void = () => {},
  ): Promise<string> {
    const { layout } = file.value;
    const isChecked = layout.kind !== "inline" && layout.checksums === true;
    const pages = await this.#pages(version, size, isChecked);
    const check = new VersionCheck({ size, pages, sha256 });
    const writer = pages === undefined ? new ChecksumWriter() : undefined;
    const added: (ChecksumPage | undefined)[] = [];
    for await (const [index, chunk] of this.#chunks(version, size)) {
      demand(check.add(index, chunk), label);
      onChunk(chunk);
      added.push(writer?.add(chunk));
    }
    demand(check.end(), label);
    added.push(writer?.finish(check.sha256));
    const missing = added.filter((page) => page !== undefined);
    if (missing.length > 0) await this.#setPages(file, version, missing);
    return check.sha256;
  }

  /** `undefined` where the version never had any: a conversion that was interrupted has left all of a version or none. */
  async #pages(version: string, size: number, isChecked: boolean): Promise<unknown[] | undefined> {
    const chunks = chunkCount(size);
    const pages: unknown[] = [];
    for (let number = 0; number < checksumPages(chunks); number++) {
      const { value } = await this.#db.reader.get(keys.checksums(this.#place, version, number));
      if (!isChecked && !isPage(value, number, chunks)) return undefined;
      pages.push(value);
    }
    return pages;
  }

  async *#chunks(version: string, size: number): AsyncGenerator<[index: number, chunk: Bytes]> {
    const count = chunkCount(size);
    for (let from = 0; from < count; from += BATCH) {
      const to = Math.min(from + BATCH, count);
      const range = ranges.chunks(this.#place, version, from, to);
      const batch = await Array.fromAsync(
        this.#db.reader.list<Bytes>(range, { batchSize: to - from }),
      );
      for (const { key, value } of batch) yield [Number(key.at(-1)), value];
      // What is missing is seen at the next chunk or at the end.
      await this.#rest(Math.min(batch.length * CHUNK_SIZE, size));
    }
  }

  /** Adds the checksums of one version, of which one operation takes those of 10 GiB, if the file is still the same. */
  async #setPages(
    { key, versionstamp }: StoredFile,
    version: string,
    pages: readonly ChecksumPage[],
  ): Promise<void> {
    const operation = new Operation().check(key, versionstamp);
    for (const { number, value } of pages) {
      operation.set(keys.checksums(this.#place, version, number), value);
    }
    if (!(await this.#db.commitBulk(operation)).ok) throw new Gone();
  }

  /** Adds to the record what it lacks. Returns whether it lacked something. */
  async #complete({ key, value, versionstamp }: StoredFile, sha256: string): Promise<boolean> {
    if (isDigested(value)) return false;
    const layout = value.layout.kind === "inline"
      ? value.layout
      : { ...value.layout, checksums: true as const };
    const operation = new Operation()
      .check(key, versionstamp)
      .set(key, { ...value, sha256, layout } satisfies FileRecord)
      .delete(keys.undigested(this.#place));
    if (!(await this.#db.commit(operation)).ok) throw new Gone();
    return true;
  }

  async #isUnchanged({ key, value }: StoredFile): Promise<boolean> {
    const now = await this.#db.reader.get<FileRecord>(key);
    return now.value?.version === value.version;
  }
}

function demand(problem: string | undefined, label: string): void {
  if (problem !== undefined) throw new Damaged(label + problem);
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof Damaged) return error.message;
  return isCorruption(error) ? `the database cannot be read there: ${error.message}` : undefined;
}
