import { errors } from "../../http/http_error.ts";
import { Fields, MAX_JSON_VALUES } from "../../http/json_body.ts";
import { boundedJson } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, NOT_BLANK, schema } from "../../openapi/schemas.ts";
import { fileNameProblem, isBlank, MAX_DELETE_NAMES, MAX_FILE_NAME } from "../../rules/names.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import type { MemoryShare } from "../../store/engine/memory_budget.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { MAX_PAGE } from "./list_files.ts";
import {
  deleteEntry,
  forEachBelow,
  PAGE_FIELDS,
  pageFields,
  pageIn,
  pageMemory,
  prefixIn,
  type PrefixPage,
} from "./prefixes.ts";

/** The largest body: 1000 names of 1024 bytes, each character as a `\u` escape of six bytes, and their quotes. */
const MAX_JSON_BODY = MAX_DELETE_NAMES * (MAX_FILE_NAME * 6 + 8) + 1024;

const FIELDS = ["names", "prefix", ...PAGE_FIELDS];

const names = { maxItems: MAX_DELETE_NAMES, uniqueItems: true };

const deleted = listOf({ type: "string" }, {
  ...names,
  description: "In the order of the request, including names that did not exist.",
});

/** `DELETE /files`: "A name that did not exist is reported under `deleted`." */
export const deleteFiles = driveEndpoint({
  id: "deleteFiles",
  tag: "Files",
  summary: "Delete files",
  description:
    `Deletes 1 to ${MAX_DELETE_NAMES} files, named either in the body or in the query, not in both. With \`prefix\` it ` +
    "deletes all files and kept folders whose names begin with it, a page of them in each call, and needs the " +
    "permission `list` as well.",
  parameters: ["Names", "ContentDigest"],
  body: jsonBody(
    "The names to delete, if the query has none.",
    { oneOf: [schema("NamesToDelete"), schema("PrefixToDelete")] },
    { required: false },
  ),
  success: {
    200: jsonResponse("The names that were deleted, and those that could not be.", "Deletion", {
      example: { deleted: ["pets/cat.jpg", "old.txt"], failed: [] },
    }),
  },
  failures: {
    BadRequest:
      "No names, too many names, only blank names, names in both query and body, or a body that is not such JSON.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was deleted.",
    TooLarge: "The body is larger than any valid list of names.",
  },
  schemas: {
    NamesToDelete: {
      ...closed({
        names: listOf({ type: "string" }, {
          minItems: 1,
          maxItems: MAX_DELETE_NAMES,
          contains: { pattern: NOT_BLANK },
          description: "Not all of them blank. A repeated name counts once.",
        }),
      }),
      examples: [{ names: ["pets/cat.jpg", "old.txt"] }],
    },
    PrefixToDelete: closed({
      prefix: { ...schema("NamePrefix"), minLength: 1 },
      ...pageFields,
    }, { optional: PAGE_FIELDS }),
    Deletion: { oneOf: [schema("DeletedNames"), schema("DeletedNamesWithReasons")] },
    DeletedNames: closed({
      deleted,
      failed: listOf({ type: "string" }, {
        ...names,
        description: "Existing files that could not be deleted.",
      }),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
    DeletedNamesWithReasons: closed({
      deleted,
      paging: schema("Paging"),
      failed: {
        type: "object",
        additionalProperties: { type: "string" },
        description:
          "Existing files that could not be deleted and why, with the server's setting `--failed-reasons`.",
      },
    }, { optional: ["paging"] }),
  },
}, deleteNamed);

export async function deleteNamed(call: DriveCall, deps: Deps): Promise<Response> {
  // The response repeats the names, so the memory reserved for the body suffices for it.
  return await boundedJson(call, deps, { isRepeatable: false }, async (memory) => {
    const fields = await Fields.read(call, deps, FIELDS, {
      limit: MAX_JSON_BODY,
      memory,
    });
    if (fields.has("prefix")) return await deletePage(pageOf(fields, call), call, deps, memory);
    const names = namesOf(call, fields);
    for (const name of names) call.rights.requireName(name);
    const results = await Promise.all(names.map((name) => deleteFile(call, deps, name)));
    if (results.every((error) => error instanceof StoreUnavailable)) throw results[0];
    return resultOf(names, results, call, deps);
  });
}

/** @param results The error of each name; `undefined` for those that were deleted. */
function resultOf(
  names: readonly string[],
  results: readonly unknown[],
  { requestId }: DriveCall,
  { failedReasons, onError }: Deps,
): { deleted: string[]; failed: string[] | Record<string, string> } {
  const deleted = names.filter((_, i) => results[i] === undefined);
  const failures = names.flatMap((name, i) => {
    if (results[i] === undefined) return [];
    onError(results[i], requestId);
    return [[name, "The store could not delete it: try again"] as const];
  });
  const failed = failedReasons ? Object.fromEntries(failures) : failures.map(([name]) => name);
  return { deleted, failed };
}

/** The error that prevented a deletion; `undefined` if the file is gone or never existed. */
async function deleteFile(
  { project, drive }: DriveCall,
  { store }: Deps,
  name: string,
): Promise<unknown> {
  // No file can have an invalid name.
  if (fileNameProblem(name) !== undefined) return undefined;
  try {
    await store.files.delete({ project, drive, name });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Deletes a page of what is below a prefix, the folders that are kept there included. */
async function deletePage(
  page: PrefixPage,
  call: DriveCall,
  deps: Deps,
  memory: MemoryShare,
): Promise<unknown> {
  // For the names, and for the response, which has at most `MAX_PAGE` of them.
  await memory.extend(pageMemory(page) + MAX_PAGE);
  const outcome = await forEachBelow(call, deps, page, (place) => deleteEntry(deps.store, place));
  return { ...resultOf(outcome.names, outcome.errors, call, deps), ...outcome.paging };
}

/** @throws {HttpError} 400 if the prefix is empty: who means the whole drive deletes that. */
function pageOf(fields: Fields, call: DriveCall): PrefixPage {
  const isOther = fields.has("names") || call.query.all("names").length > 0;
  if (isOther) throw errors.badNames("there is a prefix as well; send one of both");
  const prefix = prefixIn(fields, "prefix", call);
  if (prefix === "") {
    throw errors.badField(
      "prefix",
      "is empty, which would be all files: delete the drive in place of them",
    );
  }
  return pageIn(fields, prefix);
}

/** The distinct names from the body or the query, in their order. */
function namesOf(call: DriveCall, fields: Fields): string[] {
  const inQuery = call.query.all("names");
  const other = PAGE_FIELDS.find((name) => fields.has(name));
  if (other !== undefined) throw errors.unknownField(other, ["names"]);
  const inBody = fields.texts("names", MAX_JSON_VALUES, { min: 0 });
  if (inQuery.length > 0 && inBody !== undefined) {
    throw errors.badNames("they are in the query and in the body; send them in one of both");
  }
  const names = [...new Set(inBody ?? inQuery)];
  if (names.length === 0) throw errors.badNames("there is none");
  if (names.length > MAX_DELETE_NAMES) throw errors.badNames(`there are ${names.length}`);
  if (names.every(isBlank)) throw errors.badNames("all of them are blank");
  return names;
}
