import { Fields } from "../../http/json_body.ts";
import { boundedJson, json } from "../../http/responses/json_response.ts";
import { errors } from "../../http/http_error.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { fileNameProblem, folderNameProblem, MAX_FILE_NAME, MAX_LIST } from "../../rules/names.ts";
import type { Store } from "../../store/store.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import { ENTRY_MEMORY } from "./list_files.ts";

/** Files that one call measures at most: some tenths of a second. */
const MAX_MEASURED = 20_000;

/** Files that are read at a time. */
const MEASURED_BATCH = 1000;

/** Names that one call looks up at the same time, of up to `MAX_LIST`. */
const LOOKED_UP = 50;

/** The largest body: 1000 names of 1024 bytes, each character as a `\u` escape of six bytes, and their quotes. */
const MAX_JSON_BODY = MAX_LIST * (MAX_FILE_NAME * 6 + 8) + 1024;

/** `GET /files/size`: how many files are below a prefix, and their bytes. */
export const measureFiles = driveEndpoint({
  id: "measureFiles",
  tag: "Files",
  summary: "Measure a folder",
  description:
    `Counts the files whose names begin with a prefix, and their bytes: up to ${MAX_MEASURED} files in each call. ` +
    "With `paging` there are more, which a call with `last` counts.",
  parameters: ["Prefix", "Last"],
  success: {
    200: jsonResponse("The files and their bytes, and `paging` if there are more.", "FilesSize", {
      example: { files: 12, bytes: 1_048_576 },
    }),
  },
  schemas: {
    FilesSize: closed({
      files: count("The number of files.", 12),
      bytes: count("Their total size.", 1_048_576),
      paging: closed({
        size: { type: "integer", minimum: 0, maximum: MAX_MEASURED },
        last: schema("FileName"),
      }, { description: "Present if and only if there are more files." }),
    }, { optional: ["paging"] }),
  },
}, async ({ project, drive, query, rights }, { store }) => {
  const { last, prefix } = query.page();
  const within = rights.visiblePrefix(prefix);
  if (within === undefined) return json(200, { files: 0, bytes: 0 });
  using _memory = await store.memory.json.reserve(project, MEASURED_BATCH * ENTRY_MEMORY);
  const found = { files: 0, bytes: 0, last };
  let more = true;
  while (more && found.files < MAX_MEASURED) {
    const page = { project, drive, prefix: within, last: found.last, limit: MEASURED_BATCH };
    const { entries, ...listed } = await store.list(page, { recursive: true });
    found.files += entries.length;
    for (const { record } of entries) found.bytes += record?.size ?? 0;
    found.last = entries.at(-1)?.name ?? found.last;
    more = listed.more;
  }
  const { files, bytes } = found;
  return json(200, {
    files,
    bytes,
    ...(more ? { paging: { size: files, last: found.last } } : {}),
  });
});

/** `POST /files/exist`: which names are in use. */
export const findExisting = driveEndpoint({
  id: "findExisting",
  tag: "Files",
  summary: "Find which names exist",
  description:
    `Returns those of up to ${MAX_LIST} names that exist, in the order of the request. A name with a slash at its end is that of a ` +
    "folder: it exists if something is in it, or if it is kept.",
  body: jsonBody("The names.", schema("NamesToFind"), {
    example: { names: ["pets/cat.jpg", "trip/"] },
  }),
  success: { 200: jsonResponse("The names that exist.", "ExistingNames") },
  failures: {
    BadRequest: "The body is not such JSON, or a name is not valid.",
    BodyTimeout: "The body stopped coming, or came too slowly.",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    NamesToFind: closed({
      names: listOf({ type: "string", minLength: 1 }, { minItems: 1, maxItems: MAX_LIST }),
    }),
    ExistingNames: closed({
      names: listOf({ type: "string", minLength: 1 }, { maxItems: MAX_LIST, uniqueItems: true }),
    }),
  },
}, async (call, deps) => {
  // The response repeats the names, so the memory reserved for the body suffices for it.
  return await boundedJson(call, deps, { isRepeatable: false }, async (memory) => {
    const limits = { limit: MAX_JSON_BODY, memory };
    const fields = await Fields.read(call, deps, ["names"], limits);
    const asked = fields.texts("names", MAX_LIST);
    if (asked === undefined) throw errors.missingField("names");
    for (const name of asked) {
      const problem = isFolder(name) ? folderNameProblem(name) : fileNameProblem(name);
      if (problem !== undefined) throw errors.badItem("names", name, problem);
      call.rights.requireName(name);
    }
    const names = [...new Set(asked)];
    const existing: string[] = [];
    for (let i = 0; i < names.length; i += LOOKED_UP) {
      const batch = names.slice(i, i + LOOKED_UP);
      const found = await Promise.all(batch.map((name) => exists(deps.store, call, name)));
      existing.push(...batch.filter((_, i) => found[i]));
    }
    return { names: existing };
  });
});

function isFolder(name: string): boolean {
  return name.endsWith("/");
}

async function exists(
  store: Store,
  { project, drive }: Pick<DriveCall, "project" | "drive">,
  name: string,
): Promise<boolean> {
  const place = { project, drive, name };
  if (isFolder(name)) return await store.folderExists(place);
  return await store.files.reader.stat(place) !== undefined;
}
