import { errors, type HttpError } from "./http_error.ts";
import type { RequestContext } from "./request_context.ts";

/** How long a sender may let us wait in all. What we do with the bytes does not count. */
export interface Pace {
  /** Milliseconds that may pass before enough came, and that a fast sender can have saved up at the most. */
  grace: number;
  /** Bytes that give the sender another second; without it, `grace` is the time for the whole body. */
  rate?: number;
}

export interface BodyLimits {
  /** Bytes. */
  limit: number;
  /** How long the body may give nothing, in milliseconds. */
  idle: number;
  /** Unless given, a body may take as long as it likes. */
  pace?: Pace | undefined;
  /** The error for more than the limit; that of a file, unless given. */
  tooLarge?: (limit: number) => HttpError;
  /** Whose bytes are counted there. */
  context?: RequestContext;
}

/**
 * The size that a request announces for its body; `undefined` without one.
 *
 * @throws {HttpError} 413 where it is over the limit, before a byte is read.
 */
export function announcedSize(
  headers: Headers,
  limit: number,
  tooLarge: (limit: number) => HttpError = errors.payloadTooLarge,
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
 * @throws {HttpError} 413 over the limit, 408 where the sender falls silent or is too slow, 400 where it leaves before the
 *   end.
 */
export async function* readBody(
  request: Request,
  { limit, idle, pace, tooLarge = errors.payloadTooLarge, context }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const announced = announcedSize(request.headers, limit, tooLarge);
  if (request.body === null) return;
  const reader = request.body.getReader();
  let size = 0;
  let ended = false;
  let credit = pace?.grace ?? Infinity;
  try {
    while (true) {
      const began = performance.now();
      const error = credit < idle ? errors.bodyTooSlow : errors.bodyTimeout;
      const { done, value } = await readWithin(reader, Math.min(idle, credit), { error, context });
      ended = done;
      if (value === undefined) break;
      size += value.byteLength;
      credit = creditAfter(credit - (performance.now() - began), value.byteLength, pace);
      if (context !== undefined) context.received = size;
      if (size > limit) throw tooLarge(limit);
      yield value;
    }
    if (announced !== undefined && announced !== size) throw errors.incompleteBody();
  } finally {
    // The connection may be gone already; then there is nothing left to cancel.
    if (!ended) reader.cancel().catch(() => {});
  }
}

/** The milliseconds that a sender may still let us wait. */
function creditAfter(left: number, bytes: number, pace: Pace | undefined): number {
  const { grace = Infinity, rate } = pace ?? {};
  const earned = rate === undefined ? 0 : bytes / rate * 1000;
  // What has come in time came in time, also where it was noticed late.
  return Math.min(grace, Math.max(0, left) + earned);
}

/** How late a timer may be before that shows that this process was busy, in milliseconds. */
const BUSY = 100;

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  time: number,
  { error, context }: { error: () => HttpError; context: RequestContext | undefined },
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const began = performance.now();
  const onTime = () => {
    const late = performance.now() - began - time;
    // The bytes may be there and were not looked at, as something else took long.
    if (late < BUSY) reject(error());
    else timer = setTimeout(() => reject(error()), late);
  };
  let timer = setTimeout(onTime, time);
  const next = reader.read().catch((error: unknown) => {
    // The runtime's way to say that the sender has left.
    if (context !== undefined) context.isAborted = true;
    throw errors.incompleteBody(error);
  });
  // Whichever loses the race has nobody else to tell.
  next.catch(() => {});
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** A SHA-256 in base64: 32 bytes are 43 characters and one for padding. */
const SHA_256 = /^:([A-Za-z0-9+/]{43}=):$/;

/**
 * The SHA-256 in base64 that `Content-Digest` (RFC 9530) names for the body; `undefined` where it names none. Other
 * algorithms are passed over.
 *
 * @throws {HttpError} 400 where the header is not well formed.
 */
export function expectedDigest(headers: Headers): string | undefined {
  const header = headers.get("content-digest");
  let expected: string | undefined;
  for (const member of header?.split(",") ?? []) {
    const [, algorithm, value = ""] = /^\s*([a-z*][a-z0-9_.*-]*)=(\S+)\s*$/.exec(member) ?? [];
    if (algorithm === undefined || !/^:[A-Za-z0-9+/]*={0,2}:$/.test(value)) {
      throw errors.badDigest();
    }
    if (algorithm !== "sha-256") continue;
    expected = SHA_256.exec(value)?.[1];
    if (expected === undefined) throw errors.badDigest();
  }
  return expected;
}

/** @throws {HttpError} 400 where a digest was named and is not the one of the bytes that came. */
export function assertDigest(expected: string | undefined, actual: string): void {
  if (expected !== undefined && expected !== actual) throw errors.digestMismatch();
}

/** The value of `Repr-Digest` for a SHA-256 in base64. */
export function formatDigest(sha256: string): string {
  return `sha-256=:${sha256}:`;
}
