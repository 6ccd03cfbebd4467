import { contentTypeOf } from "../drive/content_type.ts";
import { MAX_PAYLOAD } from "../drive/limits.ts";
import { allowsWrite } from "../drive/preconditions.ts";
import { announcedSize, readBody } from "../http/body.ts";
import { preconditionsOf } from "../http/conditional_headers.ts";
import { assertDigest, expectedDigest } from "../http/content_digest.ts";
import type { Call } from "../http/drive_call.ts";
import { errors } from "../http/http_error.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";
import { validators } from "../store/file_version.ts";
import { placeOf, typeOf } from "./file_name.ts";

/** `POST /files`: "Stores a file in a single request. Overwrites any file with the same name." */
export async function putFile(
  call: Call,
  { store, slots, idleTimeout, uploadPace }: Deps,
): Promise<Response> {
  const { headers } = call.request;
  const place = placeOf(call);
  const type = typeOf(call) ?? contentTypeOf(place.name);
  const digest = expectedDigest(headers);
  const asked = preconditionsOf(headers);
  const announced = announcedSize(headers, MAX_PAYLOAD);
  if (asked.ifMatch !== null || asked.ifNoneMatch !== null) {
    // Decided for good with the write; asked before, it spares a body that would be refused.
    const current = await store.files.stat(place);
    if (!allowsWrite(asked, current && validators(current))) throw errors.preconditionFailed();
  }
  const body = readBody(call.request, {
    limit: MAX_PAYLOAD,
    idle: idleTimeout,
    pace: uploadPace,
    visit: call.visit,
  });
  const stored = await slots.run(place.project, async () => {
    using _room = await store.demandRoom(announced ?? MAX_PAYLOAD);
    return await store.files.put(place, body, {
      type,
      announced,
      condition: (current) => allowsWrite(asked, current),
      accept: async ({ sha256 }) => {
        assertDigest(digest, sha256);
        await call.authorizeAgain();
      },
    });
  });
  if (stored === "refused") throw errors.preconditionFailed();
  const { name, project, drive } = place;
  return json(201, { name, project_id: project, drive_name: drive });
}
