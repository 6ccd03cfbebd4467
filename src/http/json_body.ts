import { type BodyLimits, readBody } from "./body.ts";
import { assertDigest, expectedDigest } from "./content_digest.ts";
import type { HttpError } from "./http_error.ts";
import { createHash } from "node:crypto";

/** What a body in JSON may be. */
export interface JsonLimits extends BodyLimits {
  /** The error that tells what is wrong with one. */
  bad: (problem: string) => HttpError;
}

/**
 * The JSON value of a request's body; `undefined` where the body is empty.
 *
 * @throws {HttpError} 400 where it is not JSON or not what `Content-Digest` says, 413 where it is too large.
 */
export async function readJson(request: Request, limits: JsonLimits): Promise<unknown> {
  const expected = expectedDigest(request.headers);
  const bytes = await gather(request, limits);
  assertDigest(expected, createHash("sha256").update(bytes).digest("base64"));
  if (bytes.byteLength === 0) return undefined;
  const text = decode(bytes, limits);
  try {
    return JSON.parse(text);
  } catch {
    throw limits.bad("it is not JSON");
  }
}

/** The bytes of the body in one buffer, into which the pieces are copied as they come: none of them is kept. */
async function gather(request: Request, limits: JsonLimits): Promise<Uint8Array> {
  let buffer = new Uint8Array(0);
  let size = 0;
  for await (const piece of readBody(request, limits)) {
    const needed = size + piece.byteLength;
    if (needed > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(needed, Math.min(limits.limit, 2 * needed)));
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
