import { announcedSize, assertDigest, expectedDigest, readBody } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import { validators } from "../../store/files/file_record.ts";
import { type DriveCall, placeOf, preconditionsOf, typeOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** `POST /files`: "Stores a file in a single request. Overwrites any file with the same name." */
export async function putFile(
  call: DriveCall,
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
    using _room = await store.reserveDisk(announced ?? MAX_PAYLOAD);
    return await store.files.put(place, body, {
      type,
      announced,
      condition: (current) => allowsWrite(asked, current),
      accept: async ({ sha256 }) => {
        assertDigest(digest, sha256);
        await call.reauthorize();
      },
    });
  });
  if (stored === "refused") throw errors.preconditionFailed();
  const { name, project, drive } = place;
  return json(201, { name, project_id: project, drive_name: drive });
}
