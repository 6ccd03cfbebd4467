import { createHash } from "node:crypto";
import { monotonicUlid } from "@std/ulid";
import { CHUNK, MAX_PAYLOAD } from "../drive/limits.ts";
import { ChunkWriter } from "./chunk_writer.ts";
import { chunkCount, cutIntoChunks } from "./chunks.ts";
import type { Database } from "./database.ts";
import type { MemoryPart, MemoryShare } from "./memory_budget.ts";
import type { Place } from "./records.ts";
import type { WriteLease } from "./write_lease.ts";

/** Bytes that came and belong to nothing yet: publish them or `abandon` them, and `release` them in both cases. */
export interface Received {
  size: number;
  /** Base64. */
  sha256: string;
  bytes:
    | { kind: "inline"; content: Uint8Array }
    | { kind: "chunks"; version: string; lease: WriteLease };
}

/** A version that sorts behind all that this process made before. */
export function newVersion(): string {
  return monotonicUlid();
}

export const VERSION_LENGTH = 26;

/** Whether a text can be a version, or the id of an upload, which is made in the same way. */
export function isVersion(text: string): boolean {
  return text.length === VERSION_LENGTH && /^[0-9A-Z]+$/.test(text);
}

/** Bytes that an upload may always hold: a chunk that is filled, and three that wait to be committed together. */
const UPLOAD_MEMORY = 4 * CHUNK;

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
