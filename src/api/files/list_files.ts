import { errors } from "../../http/http_error.ts";
import { boundedJson, pagingOf } from "../../http/responses/json_response.ts";
import type { Query } from "../../http/request_target.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { MAX_CONTENT_TYPE } from "../../rules/content_type.ts";
import { byteLength, compareNames, MAX_FILE_NAME, MAX_LIST } from "../../rules/names.ts";
import type { Listed, ListedFile, ListPage, ListQuery } from "../../store/listing/listing.ts";
import type { SearchOptions } from "../../store/listing/search.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { fileJson } from "./attributes.ts";

/** The JSON size in bytes at which a page ends early. 1000 names of 1 KiB fit, unless most characters are escaped. */
export const MAX_PAGE = 4 * 2 ** 20;

/** Estimated memory for reading and writing one entry with a name of common length, in bytes. */
export const ENTRY_MEMORY = 1024;

const entryName = { type: "string", minLength: 1, maxLength: MAX_FILE_NAME };

const details = {
  size: count("Bytes.", 48_213),
  content_type: { type: "string", maxLength: MAX_CONTENT_TYPE, examples: ["image/jpeg"] },
  etag: {
    type: "string",
    minLength: 1,
    description: "The version, without the quotes of `ETag`.",
  },
  created: schema("Time"),
  modified: schema("Time"),
  expires: schema("Deadline"),
  mtime: schema("ClientTime"),
  thumbnail: {
    type: "boolean",
    const: true,
    description: "There is a thumbnail: `showThumbnail`.",
  },
  properties: {
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "What WebDAV clients keep with the file, up to 4 KB: XML elements by their names, `{namespace}name`.",
  },
} as const;

/** Details that not every file has. */
const MAYBE = ["expires", "mtime", "thumbnail", "properties"];

/** `GET /files`: names in the order of their UTF-8 bytes. "At most 1000 names are returned by default." */
export const listFiles = driveEndpoint({
  id: "listFiles",
  tag: "Files",
  summary: "List files",
  description:
    "Lists names in the order of their UTF-8 bytes, or searches them with `contains`. A drive without any files is " +
    "listed as empty. A key that is limited to names with a prefix sees only these.",
  parameters: ["Limit", "Prefix", "Contains", "Last", "Recursive", "Details"],
  success: {
    200: jsonResponse("The names, and `paging` if there is a next page.", "FileList", {
      example: {
        names: ["pets/cat.jpg", "pets/dog.jpg"],
        paging: { size: 2, last: "pets/dog.jpg" },
      },
    }),
  },
  schemas: {
    FileList: closed({
      names: listOf(entryName, {
        maxItems: MAX_LIST,
        uniqueItems: true,
        description: 'In the order of their UTF-8 bytes. A directory ends with "/".',
      }),
      files: listOf(schema("ListedEntry"), {
        maxItems: MAX_LIST,
        description: "With `details=true`: the details of each of `names`, in the same order.",
      }),
      paging: schema("Paging"),
    }, { optional: ["files", "paging"] }),
    FileDetails: closed({ name: schema("FileName"), ...details }, { optional: MAYBE }),
    // One schema for both: of alternatives, clients that are generated choose the one with fewer fields.
    ListedEntry: closed({ name: entryName, ...details }, {
      optional: Object.keys(details),
      description: "The details of a file. A directory has only its name.",
    }),
  },
}, list);

async function list(call: DriveCall, deps: Deps): Promise<Response> {
  const { project, drive, query } = call;
  const asked = query.page();
  const recursive = query.flag("recursive", true);
  const details = query.flag("details", false);
  const contains = containsOf(query);
  if (contains !== "" && !recursive) throw errors.searchInFolder();
  const options = { estimate: asked.limit * ENTRY_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
    const listed = { project, drive, ...asked };
    const page = await (contains === ""
      ? visiblePage(call, deps, listed, recursive)
      : visibleMatches(call, deps, listed, { contains, details }));
    const entries = withinPage(page.entries, details);
    const isCut = entries.length < page.entries.length;
    const names = entries.map(({ name }) =>
      name
    );
    return {
      names,
      ...(details ? { files: entries.map(detailsOf) } : {}),
      ...pagingOf(names, page.more || isCut, isCut ? undefined : page.last),
    };
  });
}

/** A page of what the sender may see. Above the name prefix of the key, it has only the directory that leads to it. */
export async function visiblePage(
  { rights }: Pick<DriveCall, "rights">,
  { store }: Pick<Deps, "store">,
  query: ListQuery,
  recursive: boolean,
): Promise<ListPage> {
  const prefix = rights.visiblePrefix(query.prefix);
  if (prefix === undefined) return { entries: [], more: false };
  const slash = prefix.indexOf("/", query.prefix.length);
  if (recursive || slash === -1) return await store.list({ ...query, prefix }, { recursive });
  const directory = prefix.slice(0, slash + 1);
  if (compareNames(directory, query.last) <= 0) return { entries: [], more: false };
  const { entries } = await store.list({ ...query, prefix, last: "", limit: 1 }, { recursive });
  // The list leaves out the marker of the prefix itself.
  const isShown = entries.length > 0 ||
    await store.folders.get({ project: query.project, drive: query.drive, name: prefix });
  return { entries: isShown ? [{ name: directory }] : [], more: false };
}

/** A page of the names that match a search, of those that the sender may see. */
async function visibleMatches(
  { rights }: DriveCall,
  { store }: Deps,
  query: ListQuery,
  options: SearchOptions,
): Promise<ListPage> {
  const prefix = rights.visiblePrefix(query.prefix);
  if (prefix === undefined) return { entries: [], more: false };
  return await store.search({ ...query, prefix }, options);
}

/** The text to search for, empty if there is none. @throws {HttpError} 400 if it is longer than any name. */
function containsOf(query: Query): string {
  const contains = query.one("contains") ?? "";
  const bytes = byteLength(contains);
  if (bytes > MAX_FILE_NAME) throw errors.badContains(bytes, MAX_FILE_NAME);
  return contains;
}

/** The maximum JSON size of an entry's details without its name and type, in bytes. */
const DETAILS = 250;

/** The length of a text in JSON with its comma, in bytes of UTF-8. */
function lengthInJson(text: string): number {
  if (PLAIN.test(text)) return text.length + 3;
  return byteLength(JSON.stringify(text)) + 1;
}

function propertiesLength(record: ListedFile | undefined): number {
  const { properties } = record ?? {};
  return properties === undefined ? 0 : byteLength(JSON.stringify(properties));
}

/** Text whose characters take one byte each in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The leading entries that fit into a page, at least one. */
export function withinPage(entries: Listed[], details: boolean): Listed[] {
  let bytes = 0;
  const end = entries.findIndex(({ name, record }, index) => {
    const times = details ? 2 : 1;
    bytes += times * lengthInJson(name) +
      (details ? DETAILS + lengthInJson(record?.type ?? "") + propertiesLength(record) : 0);
    return index > 0 && bytes > MAX_PAGE;
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** Directories have only their name. */
function detailsOf({ name, record }: Listed): Record<string, unknown> {
  return record === undefined ? { name } : fileJson(name, record);
}
