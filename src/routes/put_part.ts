import { MAX_PARTS, MAX_PAYLOAD } from "../drive/limits.ts";
import { announcedSize, readBody } from "../http/body.ts";
import { assertDigest, expectedDigest } from "../http/content_digest.ts";
import type { Call } from "../http/drive_call.ts";
import { errors } from "../http/http_error.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";
import { placeOf, typeOf } from "./file_name.ts";
import { uploadAnswer } from "./upload_answer.ts";

/** `POST /uploads/{upload_id}/parts`: "`part` (integer, required, starts at 1)". */
export async function putPart(call: Call, deps: Deps): Promise<Response> {
  const { store, slots, idleTimeout, uploadPace } = deps;
  const { id, request, visit } = call;
  const place = placeOf(call);
  const part = partOf(call);
  const type = typeOf(call);
  const digest = expectedDigest(request.headers);
  const announced = announcedSize(request.headers, MAX_PAYLOAD);
  const limits = { limit: MAX_PAYLOAD, idle: idleTimeout, pace: uploadPace, visit };
  const body = readBody(request, limits);
  const accept = async ({ sha256 }: { sha256: string }) => {
    assertDigest(digest, sha256);
    await call.authorizeAgain();
  };
  await slots.run(place.project, async () => {
    using _room = await store.demandRoom(announced ?? MAX_PAYLOAD);
    await store.uploads.putPart(place, { id, part, type, announced }, body, accept);
  });
  return json(200, { ...uploadAnswer(place, id), part });
}

function partOf({ query }: Call): number {
  const text = query.required("part");
  const part = query.positive("part") ?? 0;
  if (part <= MAX_PARTS) return part;
  throw errors.badParameter("part", text, `a whole number from 1 to ${MAX_PARTS}`);
}
