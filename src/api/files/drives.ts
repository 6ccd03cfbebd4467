import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { boundedJson, json, pagingOf } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { driveNameProblem, MAX_LIST } from "../../rules/names.ts";
import { driveEndpoint, writeFailures } from "../drive_call.ts";

/** Estimated memory for reading and writing one drive, in bytes. */
const DRIVE_MEMORY = 512;

/** `GET /v1/{project_id}`: the drives of a project with their usage. */
export const listDrives = driveEndpoint({
  id: "listDrives",
  tag: "Files",
  summary: "List drives",
  description:
    "Lists the drives of a project in the order of their names' UTF-8 bytes, with their number of files and total size. " +
    "A key that is limited to some drives " +
    "sees only these. One that is limited to names with a prefix sees `null` for the counts, which would tell about " +
    "other names.",
  parameters: ["Limit", "Prefix", "Last"],
  success: { 200: jsonResponse("The drives, and `paging` if there is a next page.", "DriveList") },
  schemas: {
    DriveList: closed({
      project_id: schema("ProjectId"),
      drives: listOf(
        closed({
          drive_name: schema("DriveName"),
          files: orNull(count("The number of files in the drive.", 12)),
          bytes: orNull(count("Their total size.", 1_048_576)),
        }),
        { maxItems: MAX_LIST, description: "In the order of their names' UTF-8 bytes." },
      ),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
  },
}, (call, deps) => {
  const { project, rights: { namePrefix, drives: among }, query } = call;
  const page = query.page();
  const options = { estimate: page.limit * DRIVE_MEMORY, isRepeatable: true };
  return boundedJson(call, deps, options, async () => {
    const { drives, more } = await deps.store.listDrives({ project, among, ...page });
    const seesCounts = namePrefix === "";
    return {
      project_id: project,
      drives: drives.map(({ name, files, bytes }) => ({
        drive_name: name,
        files: seesCounts ? files : null,
        bytes: seesCounts ? bytes : null,
      })),
      ...pagingOf(drives.map(({ name }) => name), more),
    };
  });
});

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
}, async (call, deps) => {
  const { store } = deps;
  const { project, rights } = call;
  const fields = await Fields.read(call, deps, ["name"]);
  const name = fields.text("name", driveNameProblem);
  rights.requireDrive(name);
  using _reserved = await store.reserveDisk(0);
  const outcome = await store.projects.createDrive(project, name);
  if (outcome === "exists") throw errors.driveExists(name);
  return json(201, { project_id: project, drive_name: name });
});
