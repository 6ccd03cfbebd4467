import { errors } from "../../http/http_error.ts";
import { Fields, type FieldsRequest } from "../../http/json_body.ts";
import { BYTES, header, jsonBody, plainResponse } from "../../openapi/messages.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { fileNameProblem, MAX_FILE_NAME } from "../../rules/names.ts";
import type { MemoryShare } from "../../store/engine/memory_budget.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { MAX_ARCHIVE_ENTRIES } from "./archive_plan.ts";
import { archiveResponse } from "./archive_response.ts";

/** The names, and the prefixes, in one request. */
export const MAX_SELECTED = 1000;

/** The largest body: names and prefixes of 1024 bytes, each character as a `\u` escape of six bytes, and their quotes. */
const MAX_JSON_BODY = 2 * MAX_SELECTED * (MAX_FILE_NAME * 6 + 8) + 1024;

/** The fields that select files. */
const SELECTING = ["names", "prefixes"];

const texts = { maxItems: MAX_SELECTED };

/** `POST /archive`: files as a zip archive. */
export const createArchive = driveEndpoint(
  {
    id: "createArchive",
    tag: "Files",
    summary: "Download files as a zip archive",
    description:
      "Returns files, named one by one or by the beginning of their names, as a zip archive. " +
      "Each is stored in it once, without compression. " +
      `An archive has at most ${MAX_ARCHIVE_ENTRIES} files and folders.`,
    parameters: ["ContentDigest"],
    body: jsonBody("The names and prefixes of the files.", schema("ArchiveSelection")),
    success: {
      200: plainResponse(
        "The archive. An error on the way closes the connection before its end.",
        {
          "Cache-Control": header("NoStore"),
          "Content-Disposition": header("Attachment"),
          "X-Content-Type-Options": header("NoSniff"),
        },
        { "application/zip": BYTES },
      ),
    },
    failures: {
      BadRequest:
        "No names and no prefixes, too many of them, an invalid name, more files than an archive may have, or a body that is not such JSON.",
      NotFound: "One of the names does not exist, or (to the administrator) the project does not.",
      BodyTimeout: "The body stopped coming, or came too slowly.",
      TooLarge: "The body is larger than any valid one.",
    },
    schemas: {
      ArchiveSelection: {
        ...closed({
          names: listOf({ type: "string" }, {
            ...texts,
            description: "Files that must exist. A repeated name counts once.",
          }),
          prefixes: listOf({ type: "string" }, {
            ...texts,
            description:
              "All files whose names begin with one of these. An empty one selects the whole drive.",
          }),
        }, { optional: SELECTING }),
        examples: [{ names: ["old.txt"], prefixes: ["trip/2026/"] }],
      },
    },
  },
  archive,
  "download",
);

async function archive(call: DriveCall, deps: Deps): Promise<Response> {
  const { project, drive, request, requestId, context } = call;
  using memory = await deps.store.memory.json.reserve(project, 0);
  const { names, prefixes } = await selectionOf(call, deps, memory);
  for (const name of names) call.rights.requireName(name);
  if (prefixes.length > 0) call.rights.require("list");
  // As in a listing, a key sees only the names below its own prefix.
  const visible = prefixes.map((prefix) => call.rights.visiblePrefix(prefix))
    .filter((prefix) => prefix !== undefined);
  const answer = { method: request.method, requestId, context, filename: `${drive}.zip` };
  return await archiveResponse({ project, drive, names, prefixes: visible }, answer, deps);
}

export interface Selected {
  names: readonly string[];
  prefixes: readonly string[];
}

/**
 * Reads a JSON object with names and prefixes, and returns it with what it selects.
 *
 * @param others The names of its other fields.
 * @throws {HttpError} 400 if the body is malformed, or a name is invalid.
 */
export async function selectionOf(
  call: FieldsRequest,
  deps: Deps,
  memory: MemoryShare,
  others: readonly string[] = [],
): Promise<Selected & { fields: Fields }> {
  const limits = { limit: MAX_JSON_BODY, memory };
  const fields = await Fields.read(call, deps, [...SELECTING, ...others], limits);
  const [names = [], prefixes = []] = SELECTING.map((field) =>
    fields.texts(field, MAX_SELECTED, { min: 0 }) ?? []
  );
  if (names.length + prefixes.length === 0) {
    throw errors.badObject(SELECTING, 'it has no name like "a.txt", and no prefix like "trip/"');
  }
  const problem = names.map(fileNameProblem).find((one) => one !== undefined);
  if (problem !== undefined) throw errors.badFileName(problem);
  return { names, prefixes, fields };
}
