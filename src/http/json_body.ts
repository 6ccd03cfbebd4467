import { MAX_JSON_BODY } from "../drive/limits.ts";
import { readBody } from "./body.ts";
import { assertDigest, expectedDigest } from "./content_digest.ts";
import { errors } from "./http_error.ts";
import { createHash } from "node:crypto";

/**
 * The JSON value of a request's body; `undefined` where the body is empty.
 *
 * @throws {HttpError} 400 where it is not JSON or not what `Content-Digest` says, 413 where it is too large.
 */
export async function readJson(request: Request, idle: number): Promise<unknown> {
  const expected = expectedDigest(request.headers);
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const piece of readBody(request, { limit: MAX_JSON_BODY, idle })) {
    hash.update(piece);
    text += decode(decoder, piece);
  }
  text += decode(decoder);
  assertDigest(expected, hash.digest("base64"));
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw errors.badJson("it is not JSON");
  }
}

function decode(decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    throw errors.badJson("it is not UTF-8");
  }
}
