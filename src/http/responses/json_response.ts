import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { KIB } from "../../rules/units.ts";
import { HttpResponse } from "./http_response.ts";
import type { MemoryShare } from "../../store/engine/memory_budget.ts";
import {
  type BoundedRequest,
  type BoundedResources,
  buildBounded,
  type BuildOptions,
  isLarge,
  sendBounded,
} from "./bounded_body.ts";
import type { PieceStream } from "./response_stream.ts";
import { acceptsGzip } from "./static_files.ts";

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

/** With the fastest level, a list of 1000 files becomes 66 of 308 KB in 0.4 ms; level 6 makes it 43 KB in 1.4 ms. */
async function zipped(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await compress(bytes, { level: 1 }));
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
  resources: BoundedResources,
  options: BuildOptions,
  build: (memory: MemoryShare) => Promise<unknown>,
): Promise<Response> {
  const { request, context } = call;
  const encode = async (memory: MemoryShare) => encodeJson(await build(memory));
  const { bytes, memory } = await buildBounded(call, resources, options, encode);
  const respond = (body: Bytes, headers?: Record<string, string>) => {
    const sent = sendBounded({ bytes: body, memory }, call, resources);
    return responseOf(200, sent, body.byteLength, headers);
  };
  if (!isLarge(bytes) || !context.usesSession) return respond(bytes);
  const vary = { "Vary": "Accept-Encoding" };
  if (!acceptsGzip(request.headers)) return respond(bytes, vary);
  try {
    return respond(await zipped(bytes), { ...vary, "Content-Encoding": "gzip" });
  } catch (error) {
    memory[Symbol.dispose]();
    throw error;
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
