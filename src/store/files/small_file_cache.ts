import { setImmediate } from "node:timers";
import type { ChangeProbe } from "../disk/file_probes.ts";
import type { CacheMemory } from "../engine/memory_budget.ts";
import type { FileRecord } from "../engine/records.ts";

/** A file as it was read. */
export interface FoundFile {
  record: FileRecord;
  /** The bytes, where they lie in one value; they were compared with their digest. */
  content: Uint8Array<ArrayBuffer> | undefined;
}

type Read = () => Promise<FoundFile | undefined>;

interface Asked {
  read: Read;
  found: PromiseWithResolvers<FoundFile | undefined>;
}

/** What a file takes beside its bytes: its record and its name. */
const OVERHEAD = 1024;

/**
 * Reads files for all who ask at the same time. Those who ask for one file within a turn of the event loop share a read,
 * which begins after each of them has asked. Small files are kept for as long as nobody has committed anything to the
 * store since: one commit of whomever, and all of them are forgotten. So what it gives is what the store would give.
 */
export class SmallFileCache {
  readonly #probe: ChangeProbe | undefined;
  readonly #files = new Map<string, FoundFile>();
  readonly #memory: CacheMemory;
  #asked = new Map<string, Asked>();
  #state: number | undefined;

  /**
   * @param probe Without one nothing is kept.
   * @param memory For this cache alone.
   */
  constructor(probe: ChangeProbe | undefined, memory: CacheMemory) {
    this.#probe = probe;
    this.#memory = memory;
  }

  /**
   * The file of that id as it is now; `undefined` without one.
   *
   * @param read Reads it from the store.
   */
  get(id: string, read: Read): Promise<FoundFile | undefined> {
    const known = this.#asked.get(id);
    if (known !== undefined) return known.found.promise;
    const found = Promise.withResolvers<FoundFile | undefined>();
    if (this.#asked.size === 0) setImmediate(() => this.#answer());
    this.#asked.set(id, { read, found });
    return found.promise;
  }

  #answer(): void {
    const asked = this.#asked;
    this.#asked = new Map();
    const state = this.#probe?.state();
    if (state === undefined || state !== this.#state) this.#forget();
    this.#state = state;
    for (const [id, { read, found }] of asked) {
      const hot = this.#files.get(id);
      found.resolve(hot ?? this.#read(id, read, state));
    }
  }

  async #read(id: string, read: Read, state: number | undefined): Promise<FoundFile | undefined> {
    const file = await read();
    // Where the store has changed since, as far as anybody has looked, the file may have as well.
    if (file !== undefined && state !== undefined && state === this.#state) this.#keep(id, file);
    return file;
  }

  #keep(id: string, file: FoundFile): void {
    if (file.content === undefined || this.#files.has(id)) return;
    const bytes = file.content.byteLength + OVERHEAD;
    if (this.#memory.used + bytes > this.#memory.limit) this.#forget();
    this.#files.set(id, file);
    this.#memory.used += bytes;
  }

  #forget(): void {
    if (this.#memory.used === 0) return;
    this.#files.clear();
    this.#memory.used = 0;
  }
}
