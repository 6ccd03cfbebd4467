/**
 * The read path of files. Record and content come from `SmallFileCache`, or are read one after the other. A file in chunks
 * is streamed by `readRange`; `OpenVersions` keeps its bytes until the download ends, even if the file is overwritten or
 * deleted. No lock is needed, because the bytes of a version never change.
 *
 * @module
 */
import { crc32 } from "node:zlib";
import type { ByteRange } from "../../rules/byte_range.ts";
import { ChunkCache } from "../bytes/chunk_cache.ts";
import { ChecksumReader, contentProblem } from "../bytes/checksums.ts";
import { crcOfChunks } from "../bytes/crc32.ts";
import { listManifest, type NumberedRange } from "../bytes/manifest.ts";
import { ReadAhead } from "../bytes/read_ahead.ts";
import { readRange } from "../bytes/read_range.ts";
import type { OpenVersions } from "../bytes/open_versions.ts";
import type { Database } from "../engine/database.ts";
import { StoreDamaged, VersionReplaced } from "../engine/errors.ts";
import { type KeyRange, keys } from "../engine/keys.ts";
import type { SharedCheck } from "../engine/operation.ts";
import type { MemoryBudget } from "../engine/memory_budget.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import { bytesVersion, type FileRecord, fileText, type Place, placeId } from "../engine/records.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import { isPresent, present, requireReadable } from "./file_record.ts";
import { type FoundFile, SmallFileCache } from "./small_file_cache.ts";
import { type WholeFile, WholeFiles } from "./whole_files.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Called when a reader meets bytes that are missing or wrong. */
export type OnDamage = (place: Place, version: string, error: StoreDamaged) => void;

/** Entries that are read at the same moment as the record of a file. */
export interface Beside {
  /** Called before each read. */
  begin: () => Promise<void>;
  keys: readonly Deno.KvKey[];
  ranges: readonly KeyRange[];
  /**
   * Called with the current file, with the entries of the keys, and with whether there is a record of a file, which may
   * have expired, or an entry in one of the ranges. Returns what must be unchanged when the write is committed.
   *
   * @throws what refuses to use the file.
   */
  require: (
    current: FileRecord | undefined,
    entries: readonly Deno.KvEntryMaybe<unknown>[],
    isAny: boolean,
  ) => Promise<readonly SharedCheck[]>;
}

/** What reading files needs. */
interface ReaderDeps {
  projects: ProjectCache;
  openVersions: OpenVersions;
  memory: MemoryBudget;
  onDamage: OnDamage;
}

/** A version of a file that is open for reading. Its bytes are kept until `close`. */
export interface OpenFile extends Disposable {
  record: FileRecord;
  /**
   * Returns the bytes of a range, in pieces. Call it once.
   *
   * @param ahead Memory to read into, which the caller disposes of; by default the file reserves some of its own. The
   *     pieces then belong to the caller.
   * @throws {MemoryExhausted} if no memory for another reader becomes free in time.
   */
  read(range: ByteRange, ahead?: ReadAhead): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>>;
  /** Releases the memory of a piece at once, unless other downloads may use it. */
  release(piece: Uint8Array<ArrayBuffer>): void;
  /**
   * Returns the CRC-32 of all bytes, which are not read for it.
   *
   * @throws {StoreDamaged} if checksums of the file are missing.
   */
  crc32(): Promise<number>;
  /** All bytes, if they are stored in one value. */
  content: Uint8Array<ArrayBuffer> | undefined;
  close(): void;
}

export class FileReader {
  readonly #smallFiles: SmallFileCache;
  readonly #chunks: ChunkCache;
  readonly #wholeFiles: WholeFiles;

  constructor(private readonly db: Database, private readonly deps: ReaderDeps) {
    const { memory } = deps;
    this.#smallFiles = new SmallFileCache(db.changes, memory.smallFiles);
    this.#chunks = new ChunkCache(memory.chunks);
    this.#wholeFiles = new WholeFiles(db);
  }

  /** Returns the record of a file; `undefined` if it does not exist or cannot be read. */
  async stat(place: Place): Promise<FileRecord | undefined> {
    if (await this.deps.projects.isHidden(place)) return undefined;
    const { value } = await this.db.reader.get<FileRecord>(keys.file(place));
    return present(value);
  }

  /**
   * Opens the current version of a file; `undefined` if it does not exist. Record and content are one read.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async open(place: Place): Promise<OpenFile | undefined> {
    if (await this.deps.projects.isHidden(place)) return undefined;
    const found = await this.#smallFiles.get(
      placeId(place),
      (known) => this.#find(place, known),
    );
    return this.#openFound(place, found);
  }

  /**
   * Opens the current version like `open`, without keeping it in the cache: for callers that read many files once each.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async openUncached(place: Place): Promise<OpenFile | undefined> {
    if (await this.deps.projects.isHidden(place)) return undefined;
    return this.#openFound(place, await this.#find(place));
  }

  /** A file that comes from the cache may have expired. */
  #openFound(place: Place, found?: FoundFile): OpenFile | undefined {
    if (found === undefined || !isPresent(found.record, Date.now())) return undefined;
    return this.#opened(place, found);
  }

  /**
   * Returns the parts that a file is made of. A file that was not made of parts has one.
   *
   * @param from The number of the first one, from 1 on.
   */
  async parts(
    record: FileRecord,
    { from, limit }: { from: number; limit: number },
  ): Promise<NumberedRange[]> {
    if (record.layout.kind === "manifest") {
      return await listManifest(this.db.reader, bytesVersion(record), { from, limit });
    }
    return from > 1 || limit < 1 ? [] : [{ part: 1, start: 0, size: record.size }];
  }

  /** Keeps the chunks of a version until the returned function is called, for `openVersion`. */
  hold(record: FileRecord): () => void {
    return this.deps.openVersions.hold(bytesVersion(record));
  }

  /**
   * Opens the version of a record. If it is in chunks, it must be held since it was read. If it is in one value, the
   * result is `undefined` once the file was deleted or overwritten.
   *
   * @throws {StoreDamaged} if the content does not match the record.
   */
  async openVersion(place: Place, record: FileRecord): Promise<OpenFile | undefined> {
    const found = await this.#findVersion(place, record);
    return found === undefined ? undefined : this.#opened(place, found);
  }

  /**
   * Reads the version of a record for which `isWhole` holds; `undefined` if any byte is missing or wrong. Other
   * functions tell why: the bytes may be damaged, or the file has others now.
   */
  async readWhole(record: FileRecord): Promise<WholeFile | undefined> {
    return await this.#wholeFiles.read(record);
  }

  /**
   * Reserves memory for reading several files of a project one after another.
   *
   * @param more Bytes that the caller needs besides.
   * @throws {MemoryExhausted} if no memory for another reader becomes free in time.
   */
  async readAhead(project: string, more: number): Promise<ReadAhead> {
    return await ReadAhead.open(this.deps.memory.downloads, project, more);
  }

  /** @param known The file as it was before. Its bytes are read only if it has others now. */
  async #find(place: Place, known?: FoundFile): Promise<FoundFile | undefined> {
    const { reads } = this.db;
    const [file, content] = await reads.getReferenced<FileRecord, Bytes>(
      keys.file(place),
      (found) => hasBytesOf(found, known) ? undefined : contentKey(found),
    );
    const { value: record } = file;
    if (isUnreadable(file)) this.db.meter.damageRead();
    requireReadable(place, file);
    if (record === null) return undefined;
    if (known !== undefined && hasBytesOf(record, known)) return { ...known, record };
    if (content === undefined) return { record };
    return await this.#checked(place, record, content.value) ?? await this.#find(place);
  }

  /** Reads the version of a record that was read before; `undefined` if the file is gone or has other bytes now. */
  async #findVersion(place: Place, record: FileRecord): Promise<FoundFile | undefined> {
    const key = contentKey(record);
    if (key === undefined) return { record };
    const [{ value }] = await this.db.reads.get<[Bytes]>([key]);
    return await this.#checked(place, record, value);
  }

  /** Compares the content of a version with its record; `undefined` if the file is gone or has other bytes now. */
  async #checked(
    place: Place,
    record: FileRecord,
    content: Bytes | null,
  ): Promise<FoundFile | undefined> {
    const problem = contentProblem(record, content);
    if (problem === undefined && content !== null) return { record, content };
    // A content is deleted with its record, which may have happened between the two reads.
    const now = (await this.readRecord(place)).value;
    if (now === null || bytesVersion(now) !== bytesVersion(record)) return undefined;
    throw await this.#noteDamage(
      place,
      now.version,
      new StoreDamaged(fileText(place), problem ?? ""),
    );
  }

  #opened(place: Place, { record, content }: FoundFile): OpenFile {
    // A content is in memory by now; chunks are read until the file is closed.
    const releaseVersion = content === undefined ? this.hold(record) : () => {};
    let ahead: ReadAhead | undefined;
    let isClosed = false;
    const close = () => {
      isClosed = true;
      releaseVersion();
      ahead?.[Symbol.dispose]();
    };
    const { reader, bytes } = this.db;
    const checksums = record.layout.kind === "chunks"
      ? new ChecksumReader(bytes.reads, place, bytesVersion(record), record.size)
      : undefined;
    const onDamage = (error: StoreDamaged) => this.#noteDamage(place, record.version, error);
    const read = async (range: ByteRange, shared?: ReadAhead) => {
      const used = shared ?? await ReadAhead.open(this.deps.memory.downloads, place.project);
      if (shared === undefined) ahead = used;
      // The file may have been closed during the wait for memory.
      if (isClosed) close();
      const cache = shared === undefined ? this.#chunks : undefined;
      const source = { reader, bytes, cache, checksums, ahead: used, onDamage };
      return readRange(source, place, record, content, range);
    };
    const crc = async () => {
      if (content !== undefined) return crc32(content);
      try {
        return await crcOfChunks({ reader, bytes, checksums }, place, record);
      } catch (error) {
        throw error instanceof StoreDamaged ? await onDamage(error) : error;
      }
    };
    const release = (piece: Uint8Array<ArrayBuffer>) => {
      // Buffers that wait for the garbage collector take more memory and time.
      if (!this.#chunks.isShared(piece)) piece.buffer.transfer(0);
    };
    return { record, content, read, release, crc32: crc, close, [Symbol.dispose]: close };
  }

  /**
   * Returns what a read fails with that met missing or wrong bytes. A process that is suspended loses its lease on a
   * version that another one replaces: then the reader has met no damage.
   */
  async #noteDamage(place: Place, version: string, error: StoreDamaged): Promise<Error> {
    const { value } = await this.readRecord(place);
    if (value?.version !== version) return new VersionReplaced(fileText(place));
    this.db.meter.damageRead();
    this.deps.onDamage(place, version, error);
    return error;
  }

  async readRecord(place: Place): Promise<Deno.KvEntryMaybe<FileRecord>> {
    const [current] = await this.db.reads.get<[FileRecord]>([keys.file(place)]);
    return current;
  }

  /**
   * Reads the record of a file that is to be written, and what must be unchanged when the write is committed.
   *
   * @throws what `beside` requires and does not find.
   */
  async readForWrite(
    place: Place,
    beside?: Beside,
  ): Promise<{ current: Deno.KvEntryMaybe<FileRecord>; unchanged: readonly SharedCheck[] }> {
    if (beside === undefined) return { current: await this.readRecord(place), unchanged: [] };
    await beside.begin();
    const all = [keys.file(place), ...beside.keys];
    const [[file, ...entries], isAny] = await this.db.reads.getAround(all, beside.ranges);
    const current = file as Deno.KvEntryMaybe<FileRecord>;
    return { current, unchanged: await beside.require(present(current.value), entries, isAny) };
  }
}

/** Returns whether a file has the bytes of one that was read before. The bytes of a version never change. */
function hasBytesOf(record: FileRecord, known: FoundFile | undefined): boolean {
  return known?.content !== undefined && bytesVersion(record) === bytesVersion(known.record);
}

/** The key of a file's content; `undefined` if its bytes are in chunks. */
function contentKey(record: FileRecord): Deno.KvKey | undefined {
  return record.layout.kind === "inline" ? keys.content(bytesVersion(record)) : undefined;
}
