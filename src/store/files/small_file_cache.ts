import { setImmediate } from "node:timers";
import type { ChangeProbe } from "../disk/file_probes.ts";
import type { CacheMemory } from "../engine/memory_budget.ts";
import type { FileRecord } from "../engine/records.ts";

/** A file as it was read from the store. */
export interface FoundFile {
  record: FileRecord;
  /** The bytes if they are stored in one value. They have been compared with their digest. */
  content?: Uint8Array<ArrayBuffer>;
}

/**
 * Reads the current file of an id; `undefined` if there is none.
 *
 * @param known The file as it was read before. If it still has the same bytes, they need not be read again.
 */
type Read = (known: FoundFile | undefined) => Promise<FoundFile | undefined>;

interface Lookup {
  read: Read;
  found: PromiseWithResolvers<FoundFile | undefined>;
}

interface CachedFile {
  file: FoundFile;
  /** The state of the store before the file was read, if known. */
  state: number | undefined;
}

/** Memory of a cached file besides its bytes: record and name. */
const OVERHEAD = 1024;

/**
 * Cache of small files.
 *
 * - Requests for a file in the same turn of the event loop share one read, which begins after all of them were made.
 * - A cached file is the answer until the next commit of any process. After that its record is read again, and its bytes
 *   are used if the record still has them. Every answer is therefore what the store itself would return.
 * - Files that were used least recently make room for others.
 */
export class SmallFileCache {
  #pending = new Map<string, Lookup>();
  /** Files used since this generation began. */
  #recent = new Map<string, CachedFile>();
  #recentBytes = 0;
  /** Files of the generation before that were not used since. */
  #older = new Map<string, CachedFile>();

  /**
   * @param changes Detects commits. Without it each record is read for each answer.
   * @param memory Memory of this cache.
   */
  constructor(
    private readonly changes: ChangeProbe | undefined,
    private readonly memory: CacheMemory,
  ) {}

  /** Returns the current file of an id; `undefined` if there is none. */
  get(id: string, read: Read): Promise<FoundFile | undefined> {
    const pending = this.#pending.get(id);
    if (pending !== undefined) return pending.found.promise;
    const found = Promise.withResolvers<FoundFile | undefined>();
    if (this.#pending.size === 0) setImmediate(() => this.#runPending());
    this.#pending.set(id, { read, found });
    return found.promise;
  }

  #runPending(): void {
    const lookups = this.#pending;
    this.#pending = new Map();
    const state = this.changes?.state();
    for (const [id, { read, found }] of lookups) {
      const cached = this.#recent.get(id) ?? this.#older.get(id);
      const isCurrent = state !== undefined && cached?.state === state;
      if (isCurrent && !this.#recent.has(id)) this.#keep(id, cached);
      found.resolve(isCurrent ? cached.file : this.#read(id, read, cached?.file, state));
    }
  }

  async #read(
    id: string,
    read: Read,
    known: FoundFile | undefined,
    state: number | undefined,
  ): Promise<FoundFile | undefined> {
    const file = await read(known);
    if (file?.content === undefined) this.#remove(id);
    else this.#keep(id, { file, state });
    return file;
  }

  #keep(id: string, cached: CachedFile): void {
    this.#remove(id);
    const bytes = bytesOf(cached);
    const limit = this.memory.limit / 2;
    if (bytes > limit) return;
    if (this.#recentBytes + bytes > limit) this.#beginGeneration();
    this.#recent.set(id, cached);
    this.#recentBytes += bytes;
    this.memory.used += bytes;
  }

  #remove(id: string): void {
    const recent = this.#recent.get(id);
    const cached = recent ?? this.#older.get(id);
    if (cached === undefined) return;
    const bytes = bytesOf(cached);
    this.memory.used -= bytes;
    if (recent === undefined) this.#older.delete(id);
    else {
      this.#recent.delete(id);
      this.#recentBytes -= bytes;
    }
  }

  #beginGeneration(): void {
    this.#older = this.#recent;
    this.memory.used = this.#recentBytes;
    this.#recent = new Map();
    this.#recentBytes = 0;
  }
}

/** Returns the memory that a cached file takes, in bytes. */
function bytesOf({ file }: CachedFile): number {
  return (file.content?.byteLength ?? 0) + OVERHEAD;
}
