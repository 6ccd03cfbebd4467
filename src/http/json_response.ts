import type { DriveCall } from "../api/drive_call.ts";
import type { Deps } from "../api/router.ts";
import type { MemoryBudget, MemoryShare } from "../store/engine/memory_budget.ts";
import { CHUNK_SIZE } from "../store/engine/records.ts";
import { READER_PATIENCE, streamPieces } from "./response_stream.ts";

const encoder = new TextEncoder();

/** An answer in JSON. It is about one moment and one key's project, so nothing on the way may keep it. */
export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Response {
  const body = encodeJson(value);
  return jsonResponse(status, body, body.byteLength, headers);
}

/** A value as JSON in UTF-8. */
function encodeJson(value: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(value));
}

/** An answer in JSON from its bytes. */
function jsonResponse(
  status: number,
  body: BodyInit | null,
  length: number,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(length),
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Who asks, and for what. */
type JsonRequest = Pick<DriveCall, "project" | "request" | "visit">;

/** What answering takes. */
interface JsonResources extends Pick<Deps, "idleTimeout"> {
  store: { memory: Pick<MemoryBudget, "json"> };
}

/** How an answer is made. */
export interface BuildOptions {
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
  call: JsonRequest,
  { store, idleTimeout }: JsonResources,
  { estimate = 0, isRepeatable }: BuildOptions,
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
  return byteLength > CHUNK_SIZE;
}

/** Whether the memory is enough for the answer, or can be made so at once; what is too much is given back. */
function hasRoom(memory: MemoryShare, bytes: number): boolean {
  const missing = bytes - memory.bytes;
  if (missing > 0) return memory.grow(1, missing) === 1;
  memory.shrink(-missing);
  return true;
}

function streamed(
  body: Bytes,
  memory: MemoryShare,
  { visit }: JsonRequest,
  idle: number,
): Response {
  const stream = streamPieces(cut(body), {
    idle: idle * READER_PATIENCE,
    onEnd: () => memory[Symbol.dispose](),
    onError: () => {},
    visit,
  });
  return jsonResponse(200, stream, body.byteLength);
}

async function* cut(body: Bytes): AsyncGenerator<Bytes> {
  for (let at = 0; at < body.byteLength; at += CHUNK_SIZE) {
    yield await Promise.resolve(body.subarray(at, at + CHUNK_SIZE));
  }
}

/** "`size` … Number of file names in this response. `last` … Last file name in this response." */
export interface Paging {
  paging?: { size: number; last: string };
}

/** The paging object of a list, if and only if there is a further page. */
export function pagingOf(names: readonly string[], more: boolean): Paging {
  const last = names.at(-1);
  return more && last !== undefined ? { paging: { size: names.length, last } } : {};
}
