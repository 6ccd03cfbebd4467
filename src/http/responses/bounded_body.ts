import type { MemoryBudget, MemoryShare } from "../../store/engine/memory_budget.ts";
import { CHUNK_SIZE } from "../../store/engine/records.ts";
import type { RequestContext } from "../request_context.ts";
import { PieceStream, READER_PATIENCE, releaseMemory } from "./response_stream.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The request that a bounded body answers. */
export interface BoundedRequest {
  project: string;
  request: Request;
  context: RequestContext;
}

/** What a bounded body needs of the server. */
export interface BoundedResources {
  store: { memory: Pick<MemoryBudget, "json"> };
  /** How long a reader may take no byte, in milliseconds, before `READER_PATIENCE`. */
  idleTimeout: number;
}

/** How a bounded body is built. */
export interface BuildOptions {
  /** Estimated memory for building it, in bytes. It is reserved first. */
  estimate?: number;
  /** Whether it can be built again. If not, `build` itself must reserve the memory for a large body. */
  isRepeatable: boolean;
}

/** The body of a response in memory. One that is larger than a chunk holds memory of the budget until it is sent. */
export interface BoundedBody {
  bytes: Bytes;
  memory: MemoryShare;
}

/**
 * Builds a body. Once it is built, it must be passed to `sendBounded`, or its memory released.
 *
 * @param build Returns the bytes. It may extend the memory.
 * @throws {MemoryExhausted} if the memory does not become available in time.
 */
export async function buildBounded(
  { project }: BoundedRequest,
  { store: { memory: { json } } }: BoundedResources,
  { estimate = 0, isRepeatable }: BuildOptions,
  build: (memory: MemoryShare) => Promise<Bytes>,
): Promise<BoundedBody> {
  const memory = await json.reserve(project, estimate);
  try {
    let bytes = await build(memory);
    while (isRepeatable && isLarge(bytes) && !adjust(memory, json.countOf(bytes.byteLength))) {
      const needed = bytes.byteLength;
      // While it waits, the request holds neither the bytes nor memory that other requests wait for.
      bytes = new Uint8Array(0);
      memory.shrink(memory.bytes);
      await memory.extend(needed);
      bytes = await build(memory);
    }
    return { bytes, memory };
  } catch (error) {
    memory[Symbol.dispose]();
    throw error;
  }
}

/** Returns what is sent of a body. A large one is aborted if its reader takes nothing for too long. */
export function sendBounded(
  { bytes, memory }: BoundedBody,
  { request, context }: BoundedRequest,
  { idleTimeout }: BoundedResources,
): Bytes | PieceStream {
  if (!isLarge(bytes) || request.method === "HEAD") {
    memory[Symbol.dispose]();
    return bytes;
  }
  return new PieceStream(piecesOf(bytes), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: () => memory[Symbol.dispose](),
    onError: () => {},
    context,
    release: releaseLast,
  });
}

/** Whether a body is larger than a chunk. */
export function isLarge({ byteLength }: Bytes): boolean {
  return byteLength > CHUNK_SIZE;
}

/** Grows or shrinks the memory to this size without waiting. Returns whether that was possible. */
function adjust(memory: MemoryShare, bytes: number): boolean {
  const missing = bytes - memory.bytes;
  if (missing > 0) return memory.grow(1, missing) === 1;
  memory.shrink(-missing);
  return true;
}

async function* piecesOf(bytes: Bytes): AsyncGenerator<Bytes> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK_SIZE) {
    yield await Promise.resolve(bytes.subarray(at, at + CHUNK_SIZE));
  }
}

/** Releases the memory of all pieces with the last one. */
function releaseLast(piece: Bytes): void {
  if (piece.byteOffset + piece.byteLength === piece.buffer.byteLength) releaseMemory(piece);
}
