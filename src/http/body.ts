import { errors, type HttpError } from "./http_error.ts";
import type { Visit } from "./visit.ts";

export interface BodyLimits {
  /** Bytes. */
  limit: number;
  /** How long the body may give nothing, in milliseconds. */
  idle: number;
  /** The error for more than the limit; that of a file, unless given. */
  tooLarge?: (limit: number) => HttpError;
  /** Whose bytes are counted there. */
  visit?: Visit;
}

/**
 * The size that a request announces for its body; `undefined` without one.
 *
 * @throws {HttpError} 413 where it is over the limit, before a byte is read.
 */
export function announcedSize(
  headers: Headers,
  limit: number,
  tooLarge: (limit: number) => HttpError = errors.tooLarge,
): number | undefined {
  const text = headers.get("content-length");
  if (text === null) return undefined;
  const size = Number(text);
  if (size > limit) throw tooLarge(limit);
  return size;
}

/**
 * The bytes of a request as they come. Whoever stops reading ends the body.
 *
 * @throws {HttpError} 413 over the limit, 408 where the sender falls silent, 400 where it leaves before the end.
 */
export async function* readBody(
  request: Request,
  { limit, idle, tooLarge = errors.tooLarge, visit }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const announced = announcedSize(request.headers, limit, tooLarge);
  if (request.body === null) return;
  const reader = request.body.getReader();
  let size = 0;
  let ended = false;
  try {
    while (true) {
      const { done, value } = await readWithin(reader, idle, visit);
      ended = done;
      if (value === undefined) break;
      size += value.byteLength;
      if (visit !== undefined) visit.received = size;
      if (size > limit) throw tooLarge(limit);
      yield value;
    }
    if (announced !== undefined && announced !== size) throw errors.brokenBody();
  } finally {
    // The connection may be gone already; then there is nothing left to cancel.
    if (!ended) reader.cancel().catch(() => {});
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idle: number,
  visit: Visit | undefined,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(errors.silentBody()), idle);
  const next = reader.read().catch((error: unknown) => {
    // The runtime's way to say that the sender has left.
    if (visit !== undefined) visit.isAborted = true;
    throw errors.brokenBody(error);
  });
  // Whichever loses the race has nobody else to tell.
  next.catch(() => {});
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}
