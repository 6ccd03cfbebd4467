import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, schema } from "../../openapi/schemas.ts";
import { driveNameProblem } from "../../rules/names.ts";
import { driveEndpoint, writeFailures } from "../drive_call.ts";

/** `POST /v1/{project_id}/drives`: a drive without files. */
export const createDrive = driveEndpoint({
  id: "createDrive",
  tag: "Files",
  summary: "Create a drive",
  description:
    "Creates an empty drive, which is kept and listed until it is deleted. Drives need not be created: the first file " +
    "does it, too.",
  body: jsonBody("The name of the drive.", schema("DriveRequest"), {
    example: { name: "photos" },
  }),
  success: { 201: jsonResponse("The drive is on disk.", "Drive") },
  failures: {
    ...writeFailures,
    Conflict: "There is a drive of this name, or it is being removed.",
    BadRequest: "The body is not such JSON, or the name is not valid.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was changed.",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    DriveRequest: closed({ name: schema("DriveName") }),
    Drive: closed({ project_id: schema("ProjectId"), drive_name: schema("DriveName") }),
  },
}, async (call, { store, idleTimeout }) => {
  const { project, rights } = call;
  const fields = await Fields.read(call, idleTimeout, ["name"]);
  const name = fields.text("name", driveNameProblem);
  rights.requireDrive(name);
  using _reserved = await store.reserveDisk(0);
  await call.reauthorize();
  const outcome = await store.buckets.create(project, name);
  if (outcome === "exists") throw errors.driveExists(name);
  return json(201, { project_id: project, drive_name: name });
});
