import { createHash } from "node:crypto";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import type { Database } from "../engine/database.ts";
import { encodedLength, keys } from "../engine/keys.ts";
import type { MemoryPart, MemoryShare } from "../engine/memory_budget.ts";
import { MAX_COMMIT_BYTES, Operation } from "../engine/operation.ts";
import { CHUNK_SIZE, type Place } from "../engine/records.ts";
import { type ChecksumPage, ChecksumWriter } from "./checksums.ts";
import { chunkCount, cutIntoChunks } from "./chunks.ts";
import { newVersion } from "./versions.ts";
import { leaseLost, WriteLease } from "./write_lease.ts";

/** Bulk commits on their way: of one upload, and of the whole process, so that small requests stay quick. */
export const BULK_COMMITS_PER_UPLOAD = 3;

/** Room in an operation for the check of the lease. */
const LEASE_CHECK_BYTES = 1024;

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
    this.#chunksPerCommit = Math.floor(
      (MAX_COMMIT_BYTES - LEASE_CHECK_BYTES) / (CHUNK_SIZE + 2 * key),
    );
    this.#lease = WriteLease.begin(db, place, version, maxChunks);
    // Whoever needs the lease next gets its error.
    this.#lease.catch(() => {});
  }

  /** Takes a chunk, which must not be changed afterwards; waits where enough is on its way. */
  async write(chunk: Uint8Array): Promise<void> {
    const page = this.#checksums.add(chunk);
    if (page !== undefined) await this.#add(this.#entryOf(page));
    const hasMemory = this.#memory === undefined || this.#memory.grow(1, CHUNK_SIZE) === 1;
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
    const granted = this.#granted * CHUNK_SIZE;
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
    const operation = lease.addCheck(new Operation());
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

/** Bytes that came and belong to nothing yet: publish them or `abandon` them, and `release` them in both cases. */
export interface Received {
  size: number;
  /** Base64. */
  sha256: string;
  bytes:
    | { kind: "inline"; content: Uint8Array }
    | { kind: "chunks"; version: string; lease: WriteLease };
}

/** Bytes that an upload may always hold: a chunk that is filled, and three that wait to be committed together. */
const UPLOAD_MEMORY = 4 * CHUNK_SIZE;

/**
 * Memory to receive a body in; how much more a large one takes depends on what is left.
 *
 * @throws {MemoryExhausted} where there is none for too long.
 */
export async function reserveUpload(
  memory: MemoryPart,
  { project }: Place,
  announced = UPLOAD_MEMORY,
): Promise<MemoryShare> {
  return await memory.reserve(project, Math.min(announced, UPLOAD_MEMORY));
}

/**
 * Takes bytes in. What fits into one value is in memory when this returns, more is in the store.
 * Where the body or the store fails, what was written is given up and the failure is thrown.
 *
 * @param body At most `MAX_PAYLOAD` bytes.
 * @param known How many bytes it has, where that is announced, and the memory that was reserved for it.
 */
export async function receive(
  db: Database,
  place: Place,
  body: AsyncIterable<Uint8Array>,
  { announced, memory }: { announced?: number | undefined; memory: MemoryShare },
): Promise<Received> {
  const chunks = cutIntoChunks(body, announced);
  try {
    const first = await chunks.next();
    const second = await chunks.next();
    const head = first.done ? new Uint8Array() : first.value;
    if (second.done) {
      const bytes = { kind: "inline" as const, content: head };
      return { size: head.byteLength, sha256: digest(head), bytes };
    }
    const rest = chain([head, second.value], chunks);
    const writer = new ChunkWriter(db, place, newVersion(), chunkCount(MAX_PAYLOAD), memory);
    return await writeChunks(writer, rest);
  } finally {
    // Ends the body as well where it was not read to its end.
    await chunks.return(undefined);
  }
}

async function writeChunks(
  writer: ChunkWriter,
  chunks: AsyncIterable<Uint8Array>,
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

/** The SHA-256 of bytes, in base64. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** Gives up bytes that were received and are not to be published. */
export async function abandon({ bytes }: Received): Promise<void> {
  if (bytes.kind === "chunks") await bytes.lease.abandon();
}

/** Ends the claim on bytes that were published or abandoned, or that could be neither. */
export function release({ bytes }: Received): void {
  if (bytes.kind === "chunks") bytes.lease.end();
}

/** Cleans up after a failure. Where that fails too, the sweeper does it later, and the first failure is what is told. */
export async function cleanUpAfter(error: unknown, cleanUp: () => Promise<void>): Promise<void> {
  try {
    await cleanUp();
  } catch (second) {
    if (error instanceof Error && error.cause === undefined) error.cause = second;
  }
}

/** Bytes that were given up since the last sweep from which on the next one begins at once: seven parts. */
const SWEEP_FROM_BYTES = 64 * 2 ** 20;

/**
 * Counts bytes that were stored and given up again, by aborts, by parts that were sent again and by writes that failed.
 * They count towards no quota any more, so the sweeper must not leave them on the disk for long where they are many.
 */
export class DiscardedBytes {
  readonly #wake: () => void;
  #bytes = 0;

  /** @param wake Makes the sweeper remove them. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < SWEEP_FROM_BYTES) return;
    this.#bytes = 0;
    this.#wake();
  }
}
