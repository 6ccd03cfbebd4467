import { boundedJson } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, listOf } from "../../openapi/schemas.ts";
import { parameter, schema } from "../../openapi/types.ts";
import { MAX_PARTS, MAX_PAYLOAD } from "../../rules/payloads.ts";
import { driveEndpoint, placeOf } from "../drive_call.ts";
import { uploadFailures, uploadJson } from "./upload_json.ts";

/** `GET /uploads/{upload_id}`: the parts that have arrived, so that a client can resume after a crash. */
export const showUpload = driveEndpoint({
  id: "showUpload",
  tag: TAGS.uploads,
  summary: "Show an upload",
  description: "Lists the parts that have arrived, so that a client can resume after a crash.",
  parameters: [parameter("FileName")],
  success: { 200: jsonResponse("The upload, its parts and its deadline.", "UploadState") },
  failures: {
    BadRequest: uploadFailures.otherName,
    NotFound: uploadFailures.notFound,
    Conflict: uploadFailures.completed,
  },
  schemas: {
    UploadState: closed({
      name: schema("FileName"),
      upload_id: schema("UploadId"),
      project_id: schema("ProjectId"),
      drive_name: schema("DriveName"),
      created: schema("Time"),
      expires: schema("Time"),
      parts: listOf(
        closed({
          part: schema("PartNumber"),
          size: { type: "integer", minimum: 0, maximum: MAX_PAYLOAD, description: "Bytes." },
        }),
        {
          maxItems: MAX_PARTS,
          description: "The parts that have arrived, in the order of their numbers.",
        },
      ),
    }),
  },
}, async (call, deps) => {
  const place = placeOf(call);
  return await boundedJson(call, deps, { isRepeatable: true }, async () => {
    const { session, parts } = await deps.store.uploads.get(place, call.id);
    return {
      ...uploadJson(place, call.id),
      created: new Date(session.created).toISOString(),
      expires: new Date(session.expires).toISOString(),
      parts: parts.map(({ part, size }) => ({ part, size })),
    };
  });
});
