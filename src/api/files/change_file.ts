import { preconditionsOf } from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { orNull, schema } from "../../openapi/schemas.ts";
import { contentTypeProblem, MAX_CONTENT_TYPE } from "../../rules/content_type.ts";
import { MAX_EXPIRES_IN, SECOND } from "../../rules/units.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import type { FileChanges } from "../../store/files/expiry.ts";
import { type DriveCall, driveEndpoint, placeOf, writeFailures } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { fileJson } from "./attributes.ts";

const CHANGEABLE = ["expires_in", "content_type"];

/** `PATCH /files`: changes when a file expires, and its content type. */
export const changeFile = driveEndpoint({
  id: "changeFile",
  tag: "Files",
  summary: "Change a file",
  description:
    "Changes when a file expires, its content type, or both, and leaves its bytes as they are. A new deadline keeps the " +
    "version. Another content type makes a new version, with a new `ETag` and time of modification, as caches have the " +
    "former type.",
  parameters: ["FileName", "IfMatch", "IfNoneMatch"],
  body: jsonBody("What changes. At least one field is required.", schema("FileChange")),
  success: { 200: jsonResponse("The file with its new details.", "FileDetails") },
  failures: {
    ...writeFailures,
    BadRequest: "The name is missing or invalid, or the body is not such JSON.",
    NotFound: "The file does not exist, or (to the administrator) the project does not.",
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: nothing was changed.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was changed.",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    FileChange: {
      type: "object",
      properties: {
        expires_in: {
          ...orNull(schema("ExpiresIn")),
          description:
            "The number of seconds until the file expires, from now on; `null` for never.",
        },
        content_type: { type: "string", minLength: 1, maxLength: MAX_CONTENT_TYPE },
      },
      additionalProperties: false,
      minProperties: 1,
      examples: [{ expires_in: 86_400 }, { expires_in: null, content_type: "image/jpeg" }],
    },
  },
}, change);

async function change(call: DriveCall, deps: Deps): Promise<Response> {
  const { store } = deps;
  const place = placeOf(call);
  const changes = changesIn(await Fields.read(call, deps, CHANGEABLE));
  const conditions = preconditionsOf(call.request);
  const changed = await store.changeFile(
    place,
    changes,
    (current) => allowsWrite(conditions, current),
  );
  if (changed === "absent") throw errors.fileNotFound(place.name);
  if (changed === "refused") throw errors.preconditionFailed();
  return json(200, fileJson(place.name, changed));
}

/** @throws {HttpError} 400 if a field has a wrong value, or there is none. */
function changesIn(fields: Fields): FileChanges {
  if (!CHANGEABLE.some((name) => fields.has(name))) throw errors.nothingToChange(CHANGEABLE);
  const seconds = fields.isNull("expires_in")
    ? null
    : fields.wholeNumber("expires_in", 1, MAX_EXPIRES_IN);
  const type = fields.has("content_type") ? fields.text("content_type", typeProblem) : undefined;
  return {
    lifetime: typeof seconds === "number" ? seconds * SECOND : seconds,
    type: type?.trim(),
  };
}

function typeProblem(type: string): string | undefined {
  return type.trim() === "" ? "is blank: it must be like text/plain" : contentTypeProblem(type);
}
