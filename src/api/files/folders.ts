import { Fields } from "../../http/json_body.ts";
import { boundedJson, json, pagingOf } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { folderNameProblem, MAX_FILE_NAME, MAX_LIST } from "../../rules/names.ts";
import type { Place } from "../../store/engine/records.ts";
import { type DriveCall, driveEndpoint, writeFailures } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { ENTRY_MEMORY, withinPage } from "./list_files.ts";

const folderBody = jsonBody("The folder.", schema("FolderRequest"), {
  example: { name: "trip/2026/" },
});

const badRequest = "The body is not such JSON, or the name is not valid.";

const bodyFailures = {
  BodyTimeout: "The body stopped coming, or came too slowly: nothing was changed.",
  TooLarge: "The body is larger than any valid one.",
};

/** `POST /folders`: "keeps a marker, so that an empty folder shows in listings with `recursive=false`". */
export const createFolder = driveEndpoint({
  id: "createFolder",
  tag: "Files",
  summary: "Create a folder",
  description:
    "Keeps a folder in lists with `recursive=false`, even if no file is in it. It is no file: it counts nowhere and cannot be downloaded. " +
    "Folders of files need not be created. The drive need not exist before. A folder that exists stays as it is.",
  body: folderBody,
  success: { 201: jsonResponse("The folder is on disk.", "Folder") },
  failures: { ...writeFailures, ...bodyFailures, BadRequest: badRequest },
  schemas: {
    FolderRequest: closed({ name: schema("FolderName") }),
    Folder: closed({
      name: schema("FolderName"),
      project_id: schema("ProjectId"),
      drive_name: schema("DriveName"),
    }),
    FolderName: {
      type: "string",
      pattern: "^[^\\u0000]*/$",
      minLength: 2,
      maxLength: MAX_FILE_NAME,
      description:
        'As a file name, with "/" at the end: at most 1024 bytes of UTF-8, no NUL, and not blank before that.',
      examples: ["trip/2026/"],
    },
  },
}, async (call, deps) => {
  const place = await folderOf(call, deps);
  using _reserved = await deps.store.reserveDisk(0);
  await deps.store.folders.create(place);
  return folderJson(201, place);
});

/** `DELETE /folders`: "removes the marker alone". */
export const deleteFolder = driveEndpoint({
  id: "deleteFolder",
  tag: "Files",
  summary: "Delete a folder",
  description:
    "Deletes what `createFolder` keeps. Files and folders below it stay, and it shows in lists as long as there are any. " +
    "A folder that does not exist counts as deleted.",
  body: folderBody,
  success: { 200: jsonResponse("The folder is not kept any more.", "Folder") },
  failures: { ...bodyFailures, BadRequest: badRequest },
}, async (call, deps) => {
  const place = await folderOf(call, deps);
  await deps.store.folders.delete(place);
  return folderJson(200, place);
});

/** `GET /folders`: the markers, by which an export keeps empty folders. */
export const listFolders = driveEndpoint({
  id: "listFolders",
  tag: "Files",
  summary: "List folders",
  description:
    "Lists what `createFolder` keeps, in the order of the UTF-8 bytes, with files in it or without. Folders that exist " +
    "only as a part of file names are not in it. A key that is limited to names with a prefix sees only these.",
  parameters: ["Limit", "Prefix", "Last"],
  success: {
    200: jsonResponse("The folders, and `paging` if there is a next page.", "FolderList", {
      example: { folders: ["trip/2026/"] },
    }),
  },
  schemas: {
    FolderList: closed({
      folders: listOf(schema("FolderName"), {
        maxItems: MAX_LIST,
        uniqueItems: true,
        description: "In the order of their UTF-8 bytes.",
      }),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
  },
}, async (call, deps) => {
  const { project, drive, query, rights } = call;
  const { limit, last, ...asked } = query.page();
  const prefix = rights.visiblePrefix(asked.prefix);
  const options = { estimate: limit * ENTRY_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
    if (prefix === undefined) return { folders: [] };
    const page = await deps.store.folders.list({ project, drive, limit, prefix, last });
    const entries = withinPage(page.entries, false);
    const folders = entries.map(({ name }) => name);
    return { folders, ...pagingOf(folders, page.more || entries.length < page.entries.length) };
  });
});

/** The folder that the body names. @throws {HttpError} 400 if it is not a valid one. */
async function folderOf(call: DriveCall, deps: Deps): Promise<Place> {
  const fields = await Fields.read(call, deps, ["name"]);
  const { project, drive, rights } = call;
  const name = fields.text("name", folderNameProblem);
  rights.requireName(name);
  return { project, drive, name };
}

function folderJson(status: number, { project, drive, name }: Place): Response {
  return json(status, { name, project_id: project, drive_name: drive });
}
