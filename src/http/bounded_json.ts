import { CHUNK, READER_PATIENCE } from "../drive/limits.ts";
import type { MemoryBudget, MemoryShare } from "../store/memory_budget.ts";
import type { Call } from "./drive_call.ts";
import { encodeJson, jsonResponse } from "./json_response.ts";
import type { Deps } from "./router.ts";
import { streamPieces } from "./stream_pieces.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Who asks, and for what. */
type Asked = Pick<Call, "project" | "request" | "visit">;

/** What answering takes. */
interface Answering extends Pick<Deps, "idleTimeout"> {
  store: { memory: Pick<MemoryBudget, "json"> };
}

/** How an answer is made. */
export interface Making {
  /** Bytes that the making takes, as far as that is known before; they are waited for first. */
  estimate?: number;
  /** Whether the answer can be made again. One that cannot has to reserve what it takes by itself. */
  isRepeatable: boolean;
}

/**
 * An answer in JSON that may be large. What is larger than a piece of a file holds memory of the budget until it was sent,
 * and is given up if its reader takes nothing for too long.
 *
 * @param make Makes the answer. It may extend the memory.
 * @throws {MemoryExhausted} where there is no memory for it for too long.
 */
export async function boundedJson(
  call: Asked,
  { store, idleTimeout }: Answering,
  { estimate = 0, isRepeatable }: Making,
  make: (memory: MemoryShare) => Promise<unknown>,
): Promise<Response> {
  const memory = await store.memory.json.reserve(call.project, estimate);
  try {
    let body = encodeJson(await make(memory));
    while (
      isRepeatable && isLarge(body) && !hasRoom(memory, store.memory.json.countOf(body.byteLength))
    ) {
      const wanted = body.byteLength;
      // Nothing is held while memory is waited for: neither this answer, nor memory that others wait for.
      body = new Uint8Array(0);
      memory.shrink(memory.bytes);
      await memory.extend(wanted);
      body = encodeJson(await make(memory));
    }
    if (isLarge(body) && call.request.method !== "HEAD") {
      return streamed(body, memory, call, idleTimeout);
    }
    memory[Symbol.dispose]();
    return jsonResponse(200, body, body.byteLength);
  } catch (error) {
    memory[Symbol.dispose]();
    throw error;
  }
}

function isLarge({ byteLength }: Bytes): boolean {
  return byteLength > CHUNK;
}

/** Whether the memory is enough for the answer, or can be made so at once; what is too much is given back. */
function hasRoom(memory: MemoryShare, bytes: number): boolean {
  const missing = bytes - memory.bytes;
  if (missing > 0) return memory.grow(1, missing) === 1;
  memory.shrink(-missing);
  return true;
}

function streamed(body: Bytes, memory: MemoryShare, { visit }: Asked, idle: number): Response {
  const stream = streamPieces(cut(body), {
    idle: idle * READER_PATIENCE,
    onEnd: () => memory[Symbol.dispose](),
    onError: () => {},
    visit,
  });
  return jsonResponse(200, stream, body.byteLength);
}

async function* cut(body: Bytes): AsyncGenerator<Bytes> {
  for (let at = 0; at < body.byteLength; at += CHUNK) {
    yield await Promise.resolve(body.subarray(at, at + CHUNK));
  }
}
