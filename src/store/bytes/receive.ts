/**
 * The write path of bytes: body, chunks, commits.
 *
 * `BodyReceiver` cuts a body into chunks. A body of one chunk stays in memory and is stored beside its record when it
 * is published. A larger one goes through a `ChunkWriter` into the store, under a fresh version and a `WriteLease`;
 * publishing it is one atomic commit that refers to the version. Until then no reader can see the bytes.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { MIB } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { encodedLength, keys } from "../engine/keys.ts";
import type { MemoryPart, MemoryShare } from "../engine/memory_budget.ts";
import { MAX_COMMIT_BYTES } from "../engine/operation.ts";
import type { CachedProject } from "../engine/project_cache.ts";
import { CHUNK_SIZE, type Place } from "../engine/records.ts";
import type { Quotas, Reservation } from "../quotas/quotas.ts";
import { type ChecksumPage, ChecksumWriter, digest } from "./checksums.ts";
import { chunkCount, cutIntoChunks } from "./chunks.ts";
import { newVersion } from "./versions.ts";
import { leaseLost, WriteLease } from "./write_lease.ts";

/** Memory that an upload may always hold: a chunk being filled, and three that wait to be committed together. */
const UPLOAD_MEMORY = 4 * CHUNK_SIZE;

/** Bytes that belong to nothing yet. */
export interface Received {
  size: number;
  /** Base64. */
  sha256: string;
  bytes:
    | { kind: "inline"; content: Uint8Array }
    | { kind: "chunks"; version: string; lease: WriteLease };
}

/**
 * Called with the digest before the bytes are published. If it throws, they are abandoned. It may return what else is
 * to be kept about them.
 */
export type Accept<T> = (received: Received) => Accepted<T> | Promise<Accepted<T>>;

/** Most callers keep nothing else. */
type Accepted<T> = T | void;

export interface BodyWrite<T> {
  /** The project when the write began. */
  begun: CachedProject;
  /** The key of the file or the part that is replaced. */
  replaced: Deno.KvKey;
  /** Size of the body in bytes, if known. */
  announced: number | undefined;
  /** Bytes that the body has at most: `MAX_PAYLOAD` unless given. */
  maxSize: number | undefined;
  /** Whether a body of one chunk stays in memory. */
  inlines: boolean;
  accept: Accept<T>;
}

/** Receives the bodies of files and parts, within the quota of the project and the memory budget. */
export class BodyReceiver {
  /** @param memory For the bodies. How much more than its share a large one takes depends on what is free. */
  constructor(
    private readonly db: Database,
    private readonly quotas: Quotas,
    private readonly memory: MemoryPart,
    private readonly discarded: DiscardedBytes,
  ) {}

  /**
   * Receives a body and returns what `publish` returns. If the body, `accept` or `publish` fails, the bytes are
   * abandoned.
   *
   * @param publish Must publish or abandon the bytes. Called with what `accept` has returned, and with the room that is
   *   reserved for the bytes, for `Quotas.commit`.
   * @throws {QuotaExceeded} before the body is read or while it is.
   * @throws {MemoryExhausted} before the body is read.
   */
  async receive<T, K>(
    place: Place,
    { begun, replaced, announced, maxSize = MAX_PAYLOAD, inlines, accept }: BodyWrite<K>,
    body: AsyncIterable<Uint8Array>,
    publish: (received: Received, kept: K | undefined, room: Reservation | undefined) => Promise<T>,
  ): Promise<T> {
    using room = await this.quotas.reserve(begun, place, replaced, announced);
    const share = Math.min(announced ?? UPLOAD_MEMORY, UPLOAD_MEMORY);
    using memory = await this.memory.reserve(place.project, share);
    let received: Received | undefined;
    try {
      const options = { announced, maxSize, inlines, memory };
      received = await receive(this.db, place, room?.track(body) ?? body, options);
      const kept = await accept(received) ?? undefined;
      return await publish(received, kept, room);
    } catch (error) {
      this.discarded.add(announced ?? 0);
      await cleanUpAfter(error, async () => received && await abandon(received));
      throw error;
    } finally {
      // The lease of bytes that could neither be published nor abandoned ends as well: the sweeper takes them over.
      if (received?.bytes.kind === "chunks") received.bytes.lease.end();
    }
  }
}

/**
 * Receives a body. If it is inlined and has one chunk, it is in memory when this returns, otherwise in the store. If the
 * body or the store fails, the bytes are abandoned and the failure is thrown.
 */
async function receive(
  db: Database,
  place: Place,
  body: AsyncIterable<Uint8Array>,
  { announced, maxSize, inlines, memory }: {
    announced: number | undefined;
    maxSize: number;
    inlines: boolean;
    memory: MemoryShare;
  },
): Promise<Received> {
  const chunks = cutIntoChunks(body, announced);
  try {
    const head: Uint8Array<ArrayBuffer>[] = [];
    for (let next = 0; inlines && next < 2; next++) {
      const { done, value } = await chunks.next();
      if (!done) head.push(value);
    }
    if (inlines && head.length < 2) {
      const content = head[0] ?? new Uint8Array();
      return {
        size: content.byteLength,
        sha256: digest(content),
        bytes: { kind: "inline", content },
      };
    }
    const writer = new ChunkWriter(db, place, newVersion(), chunkCount(maxSize), memory);
    return await writeChunks(writer, chain(head, chunks));
  } finally {
    // Also ends a body that was not read completely.
    await chunks.return(undefined);
  }
}

async function writeChunks(
  writer: ChunkWriter,
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
): Promise<Received> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.byteLength;
      await writer.write(chunk);
    }
    const sha256 = hash.digest("base64");
    const lease = await writer.finish(sha256);
    const bytes = { kind: "chunks" as const, version: writer.version, lease };
    return { size, sha256, bytes };
  } catch (error) {
    await cleanUpAfter(error, () => writer.abandon());
    throw error;
  }
}

async function* chain<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

/** Turns received bytes into garbage. */
export async function abandon({ bytes }: Received): Promise<void> {
  if (bytes.kind === "chunks") await bytes.lease.abandon();
}

/**
 * Cleans up after a failure. If that fails too, its error becomes the cause of the first one, and the sweeper cleans up
 * later.
 */
async function cleanUpAfter(error: unknown, cleanUp: () => Promise<void>): Promise<void> {
  try {
    await cleanUp();
  } catch (second) {
    if (error instanceof Error && error.cause === undefined) error.cause = second;
  }
}

/**
 * One upload's share of the bulk commits that the store runs at the same time. Waiting for a slot, further ones would
 * hold memory and gain nothing.
 */
const SHARE_OF_BULK_COMMITS = 1 / 2;

/** Returns how many bulk commits of one upload may be in flight, while the chunks of the next are received. */
export function bulkCommitsPerUpload(db: Database): number {
  return Math.max(1, Math.floor(db.commits.bulk * SHARE_OF_BULK_COMMITS));
}

/** Room in an operation for the check of the lease, in bytes. */
const LEASE_CHECK_BYTES = 1024;

/** Chunks that are committed together when no memory is left. `UPLOAD_MEMORY` holds them. */
const MIN_CHUNKS_PER_COMMIT = 3;

/** A chunk, or a page of checksums, which is smaller. */
interface Entry {
  key: Deno.KvKey;
  value: Uint8Array<ArrayBuffer>;
}

/**
 * Writes the chunks of one version and their checksums. As long as there is memory, many chunks share a commit, and
 * more are received during a commit; otherwise few chunks share a commit, and each commit is waited for. Ends with
 * `finish` or `abandon`.
 */
export class ChunkWriter {
  readonly version: string;
  readonly #chunksPerCommit: number;
  readonly #maxRunning: number;
  readonly #lease: Promise<WriteLease>;
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  readonly #checksums = new ChecksumWriter();
  #waiting: Entry[] = [];
  /** Waiting chunks with memory beyond what the upload may always hold. */
  #granted = 0;
  #written = 0;

  /**
   * @param maxChunks Maximum number of chunks.
   * @param memory Memory of the upload, with room for `MIN_CHUNKS_PER_COMMIT` chunks. Without it memory is not bounded.
   */
  constructor(
    private readonly db: Database,
    place: Place,
    version: string,
    private readonly maxChunks: number,
    private readonly memory?: MemoryShare,
  ) {
    this.version = version;
    this.#maxRunning = bulkCommitsPerUpload(db);
    const key = encodedLength(keys.checksums(version, 0));
    this.#chunksPerCommit = Math.floor(
      (MAX_COMMIT_BYTES - LEASE_CHECK_BYTES) / (CHUNK_SIZE + 2 * key),
    );
    this.#lease = WriteLease.begin(db, place, version, maxChunks);
    // Thrown where the lease is used next.
    this.#lease.catch(() => {});
  }

  /**
   * Adds a chunk, whose memory is released once it is committed. Waits while enough commits are in flight.
   *
   * @throws {RangeError} for more chunks than the journal says: they would never be deleted.
   */
  async write(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#written === this.maxChunks) {
      throw new RangeError(`The body has more than ${this.maxChunks * CHUNK_SIZE} bytes`);
    }
    const page = this.#checksums.add(chunk);
    if (page !== undefined) await this.#add(this.#entryOf(page));
    const hasMemory = this.memory === undefined || this.memory.grow(1, CHUNK_SIZE) === 1;
    if (hasMemory) this.#granted++;
    const key = keys.chunk(this.version, this.#written++);
    await this.#add({ key, value: chunk }, hasMemory);
  }

  #entryOf({ number, value }: ChecksumPage): Entry {
    return { key: keys.checksums(this.version, number), value };
  }

  async #add(entry: Entry, hasMemory = true): Promise<void> {
    this.#waiting.push(entry);
    if (this.#waiting.length < (hasMemory ? this.#chunksPerCommit : MIN_CHUNKS_PER_COMMIT)) return;
    await this.#flush();
    if (!hasMemory) await Promise.all(this.#running);
  }

  /**
   * Waits until all chunks and checksums are on disk. Returns the lease with which they are published.
   *
   * @param sha256 Digest of all chunks, in base64.
   */
  async finish(sha256: string): Promise<WriteLease> {
    const page = this.#checksums.finish(sha256);
    if (page !== undefined) await this.#add(this.#entryOf(page));
    if (this.#waiting.length > 0) await this.#flush();
    await Promise.all(this.#running);
    this.#throwFailure();
    return await this.#lease;
  }

  /** Turns the written chunks into garbage. */
  async abandon(): Promise<void> {
    await Promise.all(this.#running);
    await (await this.#lease).abandon();
  }

  async #flush(): Promise<void> {
    const lease = await this.#lease;
    while (this.#running.size >= this.#maxRunning) await Promise.race(this.#running);
    this.#throwFailure();
    const commit = this.#commit(lease, this.#waiting);
    const granted = this.#granted * CHUNK_SIZE;
    this.#waiting = [];
    this.#granted = 0;
    this.#running.add(commit);
    commit.finally(() => {
      this.#running.delete(commit);
      this.memory?.shrink(granted);
    });
  }

  /** Never rejects: a failure is thrown by the next call of a method. */
  async #commit(lease: WriteLease, entries: readonly Entry[]): Promise<void> {
    try {
      const operation = lease.beginChunks();
      for (const { key, value } of entries) operation.set(key, value);
      const outcome = await this.db.commitBytes(operation);
      if (!outcome.ok) throw leaseLost();
      // Buffers that wait for the garbage collector take memory that the budget does not count.
      for (const { value } of entries) value.buffer.transfer(0);
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** Discarded bytes after which a sweep starts at once: seven parts. */
const SWEEP_FROM_BYTES = 64 * MIB;

/**
 * Counts bytes that were stored and discarded again: by aborts, replaced parts and failed writes. They count towards no
 * quota, so a caller could otherwise fill the disk between two sweeps.
 */
export class DiscardedBytes {
  #bytes = 0;

  /** @param wake Starts a sweep. */
  constructor(private readonly wake: () => void) {}

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < SWEEP_FROM_BYTES) return;
    this.#bytes = 0;
    this.wake();
  }
}
