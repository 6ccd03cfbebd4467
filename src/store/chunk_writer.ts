import { BULK_COMMITS_PER_UPLOAD, CHUNK, MAX_COMMIT_BYTES } from "../drive/limits.ts";
import { type ChecksumPage, ChecksumWriter } from "./checksums.ts";
import type { Database } from "./database.ts";
import { encodedLength, keys } from "./keys.ts";
import type { MemoryShare } from "./memory_budget.ts";
import { Operation } from "./operation.ts";
import type { Place } from "./records.ts";
import { leaseLost, WriteLease } from "./write_lease.ts";

/** Room in an operation for the check of the lease. */
const OVERHEAD = 1024;

/** Chunks that wait to be committed together, however little memory is left. */
const MIN_CHUNKS_PER_COMMIT = 3;

/** A chunk, or a page of checksums, which is smaller. */
interface Entry {
  key: Deno.KvKey;
  value: Uint8Array;
}

/**
 * Writes the chunks of one version and their checksums. They are committed many at a time, with a few commits on their
 * way at once, as far as there is memory for it; with none, few are committed at a time, and one commit after the other.
 * `finish` or `abandon` ends it.
 */
export class ChunkWriter {
  readonly version: string;
  readonly #db: Database;
  readonly #place: Place;
  readonly #chunksPerCommit: number;
  readonly #lease: Promise<WriteLease>;
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  readonly #checksums = new ChecksumWriter();
  readonly #memory: MemoryShare | undefined;
  #waiting: Entry[] = [];
  /** Chunks among the waiting ones for which there was memory beyond what the upload may always hold. */
  #granted = 0;
  #written = 0;

  /**
   * @param maxChunks How many chunks will be written at the most.
   * @param memory Of the upload; it has room for `MIN_CHUNKS_PER_COMMIT` chunks. Without one memory is not bounded by others.
   */
  constructor(
    db: Database,
    place: Place,
    version: string,
    maxChunks: number,
    memory?: MemoryShare,
  ) {
    this.#memory = memory;
    this.version = version;
    this.#db = db;
    this.#place = place;
    const key = encodedLength(keys.checksums(place, version, 0));
    this.#chunksPerCommit = Math.floor((MAX_COMMIT_BYTES - OVERHEAD) / (CHUNK + 2 * key));
    this.#lease = WriteLease.begin(db, place, version, maxChunks);
    // Whoever needs the lease next gets its error.
    this.#lease.catch(() => {});
  }

  /** Takes a chunk, which must not be changed afterwards; waits where enough is on its way. */
  async write(chunk: Uint8Array): Promise<void> {
    const page = this.#checksums.add(chunk);
    if (page !== undefined) await this.#add(this.#entryOf(page));
    const hasMemory = this.#memory === undefined || this.#memory.grow(1, CHUNK) === 1;
    if (hasMemory) this.#granted++;
    const key = keys.chunk(this.#place, this.version, this.#written++);
    await this.#add({ key, value: chunk }, hasMemory);
  }

  #entryOf({ number, value }: ChecksumPage): Entry {
    return { key: keys.checksums(this.#place, this.version, number), value };
  }

  async #add(entry: Entry, hasMemory = true): Promise<void> {
    this.#waiting.push(entry);
    if (this.#waiting.length < (hasMemory ? this.#chunksPerCommit : MIN_CHUNKS_PER_COMMIT)) return;
    await this.#flush();
    if (!hasMemory) await Promise.all(this.#running);
  }

  /**
   * Waits until every chunk and checksum is on disk, and gives the lease to publish them with.
   *
   * @param sha256 The digest of all chunks, in base64.
   */
  async finish(sha256: string): Promise<WriteLease> {
    const page = this.#checksums.finish(sha256);
    if (page !== undefined) await this.#add(this.#entryOf(page));
    if (this.#waiting.length > 0) await this.#flush();
    await Promise.all(this.#running);
    this.#throwFailure();
    return await this.#lease;
  }

  /** Gives up what was written. */
  async abandon(): Promise<void> {
    await Promise.all(this.#running);
    await (await this.#lease).abandon();
  }

  async #flush(): Promise<void> {
    const lease = await this.#lease;
    while (this.#running.size >= BULK_COMMITS_PER_UPLOAD) await Promise.race(this.#running);
    this.#throwFailure();
    const commit = this.#commit(lease, this.#waiting);
    const granted = this.#granted * CHUNK;
    this.#waiting = [];
    this.#granted = 0;
    this.#running.add(commit);
    commit.finally(() => {
      this.#running.delete(commit);
      this.#memory?.shrink(granted);
    });
  }

  /** Never rejects: the failure is thrown where the writer is used next. */
  async #commit(lease: WriteLease, entries: readonly Entry[]): Promise<void> {
    const operation = lease.demand(new Operation());
    for (const { key, value } of entries) operation.set(key, value);
    try {
      const outcome = await this.#db.commitBulk(operation);
      if (!outcome.ok) throw leaseLost();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
