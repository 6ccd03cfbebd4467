import { announcedSize, type BodyLimits, readBody } from "./body.ts";
import { assertDigest, expectedDigest } from "./content_digest.ts";
import type { HttpError } from "./http_error.ts";
import type { MemoryShare } from "../store/memory_budget.ts";
import { createHash } from "node:crypto";

/** How long a body in JSON may take to come, in milliseconds: the largest one takes 50 s over 1 Mbit/s. */
const JSON_BODY_TIME = 60_000;

/** What a body in JSON may be. */
export interface JsonLimits extends BodyLimits {
  /** The error that tells what is wrong with one. */
  bad: (problem: string) => HttpError;
  /** Extended for the bytes of the body before they are read; needed where the limit is more than a piece of a file. */
  memory?: MemoryShare;
}

/**
 * The JSON value of a request's body; `undefined` where the body is empty.
 *
 * @throws {HttpError} 400 where it is not JSON or not what `Content-Digest` says, 413 where it is too large,
 *   408 where it takes too long to come.
 * @throws {MemoryExhausted} where there is no memory for it, before it is read or before more than `UNANNOUNCED` is.
 */
export async function readJson(request: Request, limits: JsonLimits): Promise<unknown> {
  const expected = expectedDigest(request.headers);
  const pace = limits.pace ?? { grace: Math.max(JSON_BODY_TIME, limits.idle) };
  const bytes = await gather(request, { ...limits, pace });
  assertDigest(expected, createHash("sha256").update(bytes).digest("base64"));
  if (bytes.byteLength === 0) return undefined;
  const text = decode(bytes, limits);
  try {
    return JSON.parse(text);
  } catch {
    throw limits.bad("it is not JSON");
  }
}

/** Bytes for which memory is reserved at first where the size is not announced: nearly all bodies have fewer. */
const UNANNOUNCED = 16_384;

/** The bytes of the body in one buffer, into which the pieces are copied as they come: none of them is kept. */
async function gather(request: Request, limits: JsonLimits): Promise<Uint8Array> {
  const { limit, memory } = limits;
  const announced = announcedSize(request.headers, limit, limits.tooLarge);
  let reserved = Math.min(limit, announced ?? UNANNOUNCED);
  await memory?.extend(reserved);
  let buffer = new Uint8Array(0);
  let size = 0;
  for await (const piece of readBody(request, limits)) {
    const needed = size + piece.byteLength;
    if (needed > reserved) {
      // All at once, and holding nothing: two bodies that each wait for the rest would wait for each other.
      memory?.shrink(reserved);
      await memory?.extend(limit);
      reserved = limit;
    }
    if (needed > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(needed, Math.min(reserved, 2 * needed)));
      larger.set(buffer.subarray(0, size));
      buffer = larger;
    }
    buffer.set(piece, size);
    size = needed;
  }
  return buffer.subarray(0, size);
}

function decode(bytes: Uint8Array, { bad }: JsonLimits): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bad("it is not UTF-8");
  }
}
