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

type Read = () => Promise<FoundFile | undefined>;

interface Lookup {
  read: Read;
  found: PromiseWithResolvers<FoundFile | undefined>;
}

/** Memory of a cached file besides its bytes: record and name. */
const OVERHEAD = 1024;

/**
 * Cache of small files, valid while the store does not change.
 *
 * - Requests for a file in the same turn of the event loop share one read, which begins after all of them were made.
 * - Small files stay cached until the next commit of any process, which clears the whole cache. Every answer is
 *   therefore what the store itself would return.
 */
export class SmallFileCache {
  readonly #changes: ChangeProbe | undefined;
  readonly #files = new Map<string, FoundFile>();
  readonly #memory: CacheMemory;
  #pending = new Map<string, Lookup>();
  #state: number | undefined;

  /**
   * @param changes Detects commits. Without it nothing is cached.
   * @param memory Memory of this cache.
   */
  constructor(changes: ChangeProbe | undefined, memory: CacheMemory) {
    this.#changes = changes;
    this.#memory = memory;
  }

  /**
   * Returns the current file of an id; `undefined` if there is none.
   *
   * @param read Reads the file from the store.
   */
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
    const state = this.#changes?.state();
    if (state === undefined || state !== this.#state) this.#clear();
    this.#state = state;
    for (const [id, { read, found }] of lookups) {
      const cached = this.#files.get(id);
      found.resolve(cached ?? this.#read(id, read, state));
    }
  }

  async #read(id: string, read: Read, state: number | undefined): Promise<FoundFile | undefined> {
    const file = await read();
    // If a later lookup has found another state, the file may have changed as well.
    if (file !== undefined && state !== undefined && state === this.#state) this.#keep(id, file);
    return file;
  }

  #keep(id: string, file: FoundFile): void {
    if (file.content === undefined || this.#files.has(id)) return;
    const bytes = file.content.byteLength + OVERHEAD;
    if (this.#memory.used + bytes > this.#memory.limit) this.#clear();
    this.#files.set(id, file);
    this.#memory.used += bytes;
  }

  #clear(): void {
    if (this.#memory.used === 0) return;
    this.#files.clear();
    this.#memory.used = 0;
  }
}
