import { announcedSize, assertDigest, expectedDigest, readBody } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import { MAX_PARTS, MAX_PAYLOAD } from "../../rules/payloads.ts";
import { type DriveCall, placeOf, typeOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";
import { uploadAnswer } from "./start_upload.ts";

/** `POST /uploads/{upload_id}/parts`: "`part` (integer, required, starts at 1)". */
export async function putPart(call: DriveCall, deps: Deps): Promise<Response> {
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
    await call.reauthorize();
  };
  await slots.run(place.project, async () => {
    using _room = await store.reserveDisk(announced ?? MAX_PAYLOAD);
    await store.uploads.putPart(place, { id, part, type, announced }, body, accept);
  });
  return json(200, { ...uploadAnswer(place, id), part });
}

function partOf({ query }: DriveCall): number {
  const text = query.required("part");
  const part = query.positive("part") ?? 0;
  if (part <= MAX_PARTS) return part;
  throw errors.badParameter("part", text, `a whole number from 1 to ${MAX_PARTS}`);
}
