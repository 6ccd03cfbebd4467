import { json } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { bytesBody } from "../../openapi/operation.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { parameter } from "../../openapi/types.ts";
import { driveEndpoint, placeOf, typeOf, writeFailures } from "../drive_call.ts";
import { uploadJson } from "./upload_json.ts";

/** `POST /uploads`: opens an upload in parts. A body is ignored. */
export const startUpload = driveEndpoint({
  id: "startUpload",
  tag: TAGS.uploads,
  summary: "Start an upload",
  description:
    "Opens an upload in parts. The file becomes visible only when the upload is completed. " +
    "Its content type is that of this request, if it has one, otherwise that of part 1.",
  parameters: [parameter("FileName")],
  body: bytesBody("Ignored."),
  success: { 202: jsonResponse("The upload is open.", "Upload") },
  failures: {
    ...writeFailures,
    BadRequest: "The name is missing or invalid, or the content type is too long.",
    Conflict:
      "The project has as many open uploads as the server allows: complete or abort one. Or the drive is being removed.",
  },
}, async (call, { store }) => {
  const place = placeOf(call);
  using _reserved = await store.reserveDisk(0);
  const id = await store.uploads.start(place, typeOf(call));
  return json(202, uploadJson(place, id));
});
