import { type BodyLimits, readBody } from "./body.ts";
import { assertDigest, expectedDigest } from "./content_digest.ts";
import type { HttpError } from "./http_error.ts";
import { createHash } from "node:crypto";

/** How long a body in JSON may take to come, in milliseconds: the largest one takes 50 s over 1 Mbit/s. */
const JSON_BODY_TIME = 60_000;

/** What a body in JSON may be. */
export interface JsonLimits extends BodyLimits {
  /** The error that tells what is wrong with one. */
  bad: (problem: string) => HttpError;
}

/**
 * The JSON value of a request's body; `undefined` where the body is empty.
 *
 * @throws {HttpError} 400 where it is not JSON or not what `Content-Digest` says, 413 where it is too large,
 *   408 where it takes too long to come.
 */
export async function readJson(request: Request, limits: JsonLimits): Promise<unknown> {
  const expected = expectedDigest(request.headers);
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  const pace = limits.pace ?? { grace: Math.max(JSON_BODY_TIME, limits.idle) };
  for await (const piece of readBody(request, { ...limits, pace })) {
    hash.update(piece);
    text += decode(decoder, limits, piece);
  }
  text += decode(decoder, limits);
  assertDigest(expected, hash.digest("base64"));
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw limits.bad("it is not JSON");
  }
}

function decode(decoder: TextDecoder, { bad }: JsonLimits, piece?: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    throw bad("it is not UTF-8");
  }
}
