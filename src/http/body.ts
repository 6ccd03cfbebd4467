import { errors, HttpError } from "./http_error.ts";
import type { RequestContext } from "./request_context.ts";

/** Reads a body without a stream of the runtime, which takes longer than the rest of a small upload. */
interface BodyPieces {
  /** Returns the next bytes, or `undefined` at the end; a promise only if they have not arrived. */
  next(): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

/** A request as the server of `http1/` passes it on, or as the runtime does. */
interface ReceivedRequest extends Request {
  readonly pieces?: BodyPieces | undefined;
}

/** Returns whether a request has a body. Reading `request.body` would make a stream of it. */
export function hasBody(request: ReceivedRequest): boolean {
  return "pieces" in request ? request.pieces !== undefined : request.body !== null;
}

function piecesOf(request: ReceivedRequest): BodyPieces | undefined {
  if ("pieces" in request) return request.pieces;
  const reader = request.body?.getReader();
  return reader && {
    next: async () => (await reader.read()).value,
    cancel: () => reader.cancel(),
  };
}

/** How slowly a body may arrive. Only the time spent waiting for the sender counts. */
export interface Pace {
  /** Milliseconds of waiting that are allowed at first, and that a fast sender can accumulate at most. */
  grace: number;
  /** Bytes for which the sender is allowed another second; absent if `grace` is for the whole body. */
  rate?: number;
}

export interface BodyLimits {
  /** The largest allowed body, in bytes. */
  limit: number;
  /** How long the sender may send nothing, in milliseconds. */
  idle: number;
  /** Absent if a body may take any time. */
  pace?: Pace | undefined;
  /** The error for a body over the limit; `payloadTooLarge` if absent. */
  tooLarge?: (limit: number) => HttpError;
  /** Receives the number of bytes. */
  context?: RequestContext;
}

/**
 * The size in `Content-Length`; `undefined` without one.
 *
 * @throws {HttpError} 413 if it is over the limit.
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
 * The bytes of a request body as they arrive. When the reader stops early, the body is cancelled.
 *
 * @throws {HttpError} 413 over the limit, 408 if the sender is silent or too slow, 400 if it disconnects early.
 */
export async function* readBody(
  request: Request,
  { limit, idle, pace, tooLarge = errors.payloadTooLarge, context }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const announced = announcedSize(request.headers, limit, tooLarge);
  const pieces = piecesOf(request);
  if (pieces === undefined) return;
  let size = 0;
  let ended = false;
  let credit = pace?.grace ?? Infinity;
  try {
    while (true) {
      const began = performance.now();
      const error = credit < idle ? errors.bodyTooSlow : errors.bodyTimeout;
      const value = await nextWithin(pieces, Math.min(idle, credit), { error, context });
      ended = value === undefined;
      if (value === undefined) break;
      size += value.byteLength;
      credit = creditAfter(credit - (performance.now() - began), value.byteLength, pace);
      if (context !== undefined) context.received = size;
      if (size > limit) throw tooLarge(limit);
      yield value;
    }
    if (announced !== undefined && announced !== size) throw errors.incompleteBody();
  } finally {
    // If the connection is already gone, there is nothing left to cancel.
    if (!ended) pieces.cancel().catch(() => {});
  }
}

/** How long the sender may be waited for from now on, in milliseconds. */
function creditAfter(left: number, bytes: number, pace: Pace | undefined): number {
  const { grace = Infinity, rate } = pace ?? {};
  const earned = rate === undefined ? 0 : bytes / rate * 1000;
  // Bytes that arrived in time count as such, even if this process noticed them late.
  return Math.min(grace, Math.max(0, left) + earned);
}

/** A timer that is later than this, in milliseconds, shows that this process was busy. */
const BUSY = 100;

/** Reads with a timeout. `@std/async/deadline` is not used: it would blame the sender when this process was busy. */
async function nextWithin(
  pieces: BodyPieces,
  time: number,
  { error, context }: { error: () => HttpError; context: RequestContext | undefined },
): Promise<Uint8Array | undefined> {
  const incomplete = (cause: unknown): never => {
    // The server itself has ended the body.
    if (cause instanceof HttpError) throw cause;
    // The runtime reports a disconnected sender this way.
    if (context !== undefined) context.isAborted = true;
    throw errors.incompleteBody(cause);
  };
  const next = nextOf(pieces, incomplete);
  // Bytes that have arrived need no timer, which would take longer than the read.
  if (!(next instanceof Promise)) return next;
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const began = performance.now();
  const onTime = () => {
    const late = performance.now() - began - time;
    // The bytes may have arrived unnoticed while this process was busy: wait as long again.
    if (late < BUSY) reject(error());
    else timer = setTimeout(() => reject(error()), late);
  };
  let timer = setTimeout(onTime, time);
  const piece = next.catch(incomplete);
  // After a timeout the late failure has no other handler.
  piece.catch(() => {});
  try {
    return await Promise.race([piece, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function nextOf(
  pieces: BodyPieces,
  onFailure: (cause: unknown) => never,
): ReturnType<BodyPieces["next"]> {
  try {
    return pieces.next();
  } catch (cause) {
    return onFailure(cause);
  }
}

/** A digest of `Content-Digest`: its algorithm and base64. Parameters may follow (RFC 8941); they have no meaning here. */
const DIGEST = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):(?:;.*)?$/;

/** A SHA-256 in base64: 32 bytes are 43 characters and one for padding, which may be missing (RFC 8941). */
const SHA_256 = /^[A-Za-z0-9+/]{43}=?$/;

/**
 * The SHA-256 of the body in base64, from `Content-Digest` (RFC 9530); `undefined` without one. Other algorithms are
 * ignored.
 *
 * @throws {HttpError} 400 if the header is malformed.
 */
export function expectedDigest(headers: Headers): string | undefined {
  const header = headers.get("content-digest");
  let expected: string | undefined;
  for (const member of header?.split(",") ?? []) {
    const [, algorithm, value = ""] = DIGEST.exec(member.trim()) ?? [];
    if (algorithm === undefined) throw errors.badDigest();
    if (algorithm !== "sha-256") continue;
    if (!SHA_256.test(value)) throw errors.badDigest();
    expected = value.padEnd(44, "=");
  }
  return expected;
}

/** @throws {HttpError} 400 if a digest is expected and the actual one differs. */
export function assertDigest(expected: string | undefined, actual: string): void {
  if (expected !== undefined && expected !== actual) throw errors.digestMismatch();
}

/** The value of `Repr-Digest` for a SHA-256 in base64. */
export function formatDigest(sha256: string): string {
  return `sha-256=:${sha256}:`;
}
