import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { KIB } from "../rules/units.ts";
import { HttpResponse } from "./http_response.ts";
import type { MemoryBudget, MemoryShare } from "../store/engine/memory_budget.ts";
import { CHUNK_SIZE } from "../store/engine/records.ts";
import type { RequestContext } from "./request_context.ts";
import { PieceStream, READER_PATIENCE } from "./files/response_stream.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** A response in JSON, which may be compressed, unlike a stored file of the same type. */
class JsonResponse extends HttpResponse {}

/** A JSON response. It is valid for one moment and one caller, so caches must not store it. */
export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Response {
  const body = encodeJson(value);
  return responseOf(status, body, body.byteLength, headers);
}

/** A value as JSON in UTF-8. */
export function encodeJson(value: unknown): Bytes {
  return encoder.encode(JSON.stringify(value));
}

function responseOf(
  status: number,
  body: BodyInit | PieceStream | null,
  length: number,
  headers: Record<string, string> = {},
): Response {
  return new JsonResponse(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(length),
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

/** JSON of up to so many bytes is not compressed: it fits into few packets. */
const MIN_COMPRESSED = 4 * KIB;

const compress = promisify(gzip);

/** A coding of `Accept-Encoding` with its weight (RFC 9110, 12.5.3). A weight of 0 excludes it. */
const ACCEPTS_GZIP =
  /(?:^|,)[ \t]*gzip[ \t]*(?:;[ \t]*q=(?!0(?:\.0*)?[ \t]*(?:,|$))[^,]*)?(?:,|$)/i;

/**
 * Compresses a larger JSON response whose body is in memory, if the caller accepts that. For the pages of the dashboard:
 * the responses to programs stay as they are.
 */
export async function compressJson(response: Response, requested: Headers): Promise<Response> {
  if (!(response instanceof JsonResponse) || response.content === undefined) return response;
  const { content, status, headers } = response;
  if (headers.has("Content-Encoding") || content.byteLength <= MIN_COMPRESSED) return response;
  headers.append("Vary", "Accept-Encoding");
  if (!acceptsGzip(requested)) return response;
  const body = await zipped(content);
  headers.set("Content-Encoding", "gzip");
  headers.set("Content-Length", String(body.byteLength));
  return new HttpResponse(body, { status, headers });
}

function acceptsGzip(requested: Headers): boolean {
  return ACCEPTS_GZIP.test(requested.get("accept-encoding") ?? "");
}

/** With the fastest level, a list of 1000 files becomes 66 of 308 KB in 0.4 ms; level 6 makes it 43 KB in 1.4 ms. */
async function zipped(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await compress(bytes, { level: 1 }));
}

/** The request that a bounded response answers. */
interface BoundedRequest {
  project: string;
  request: Request;
  context: RequestContext;
}

/** What a bounded response needs of the server. */
interface BoundedResources {
  store: { memory: Pick<MemoryBudget, "json"> };
  /** How long a reader may take no byte, in milliseconds, before `READER_PATIENCE`. */
  idleTimeout: number;
}

/** How the value of a bounded response is built. */
export interface BuildOptions {
  /** Estimated memory for building the value, in bytes. It is reserved first. */
  estimate?: number;
  /** Whether the value can be built again. If not, `build` itself must reserve the memory for a large value. */
  isRepeatable: boolean;
}

/**
 * A JSON response that may be large. One that is larger than a chunk holds memory of the budget until it is sent, and is
 * aborted if its reader takes nothing for too long.
 *
 * @param build Returns the value. It may extend the memory.
 * @throws {MemoryExhausted} if the memory does not become available in time.
 */
export async function boundedJson(
  call: BoundedRequest,
  { store, idleTimeout }: BoundedResources,
  { estimate = 0, isRepeatable }: BuildOptions,
  build: (memory: MemoryShare) => Promise<unknown>,
): Promise<Response> {
  const memory = await store.memory.json.reserve(call.project, estimate);
  try {
    let body = encodeJson(await build(memory));
    while (
      isRepeatable && isLarge(body) && !adjust(memory, store.memory.json.countOf(body.byteLength))
    ) {
      const needed = body.byteLength;
      // While it waits, the request holds neither the value nor memory that other requests wait for.
      body = new Uint8Array(0);
      memory.shrink(memory.bytes);
      await memory.extend(needed);
      body = encodeJson(await build(memory));
    }
    const { request, context } = call;
    const vary = context.usesSession ? { "Vary": "Accept-Encoding" } : {};
    const isZipped = isLarge(body) && context.usesSession && acceptsGzip(request.headers);
    if (isZipped) body = await zipped(body);
    const headers = isZipped ? { ...vary, "Content-Encoding": "gzip" } : vary;
    if (isLarge(body) && request.method !== "HEAD") {
      return streamed(body, memory, { context, idleTimeout, headers });
    }
    memory[Symbol.dispose]();
    return responseOf(200, body, body.byteLength, isZipped ? headers : {});
  } catch (error) {
    memory[Symbol.dispose]();
    throw error;
  }
}

function isLarge({ byteLength }: Bytes): boolean {
  return byteLength > CHUNK_SIZE;
}

/** Grows or shrinks the memory to this size without waiting. Returns whether that was possible. */
function adjust(memory: MemoryShare, bytes: number): boolean {
  const missing = bytes - memory.bytes;
  if (missing > 0) return memory.grow(1, missing) === 1;
  memory.shrink(-missing);
  return true;
}

function streamed(
  body: Bytes,
  memory: MemoryShare,
  { context, idleTimeout, headers }: {
    context: RequestContext;
    idleTimeout: number;
    headers: Record<string, string>;
  },
): Response {
  const stream = new PieceStream(piecesOf(body), {
    idle: idleTimeout * READER_PATIENCE,
    onEnd: () => memory[Symbol.dispose](),
    onError: () => {},
    context,
  });
  return responseOf(200, stream, body.byteLength, headers);
}

async function* piecesOf(body: Bytes): AsyncGenerator<Bytes> {
  for (let at = 0; at < body.byteLength; at += CHUNK_SIZE) {
    yield await Promise.resolve(body.subarray(at, at + CHUNK_SIZE));
  }
}

/**
 * "`size` … Number of file names in this response. `last` … Last file name in this response", or of a search the last one
 * that it looked at.
 */
export interface Paging {
  paging?: { size: number; last: string };
}

/**
 * The paging object of a list, if and only if there is a next page.
 *
 * @param last The name after which that page continues.
 */
export function pagingOf(names: readonly string[], more: boolean, last = names.at(-1)): Paging {
  return more && last !== undefined ? { paging: { size: names.length, last } } : {};
}
