import { errors, type HttpError } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { boundedJson, json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { MAX_CONTENT_TYPE } from "../../rules/content_type.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { fileNameProblem, MAX_LIST } from "../../rules/names.ts";
import type { TrashItem } from "../../store/files/trash.ts";
import {
  type DriveCall,
  driveEndpoint,
  failureFields,
  type ItemFailure,
  itemFailure,
  writeFailures,
} from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { PAGE_FIELDS, pageFields, pageIn, prefixIn } from "./prefixes.ts";

/** Items that one call may restore or delete. */
const MAX_IDS = 1000;

/** Items that one call may restore under other names: as many of the longest names are below 1 MiB. */
const MAX_NAMES = 100;

/** Estimated memory for reading and writing one item, in bytes. */
const ITEM_MEMORY = 2048;

const OF_IDS = ["ids", "overwrite", "names"];
const OF_PREFIX = ["prefix", ...PAGE_FIELDS];
const RESTORE_FIELDS = [...OF_IDS, ...OF_PREFIX];

const ids = listOf(schema("TrashId"), { minItems: 1, maxItems: MAX_IDS });

const paging = closed({
  size: { type: "integer", minimum: 0, maximum: MAX_LIST },
  last: { ...schema("TrashId"), description: "`last` of the next request." },
}, { description: "Present if and only if there may be a next page." });

/** `GET /trash`: the items, newest first. */
export const listTrash = driveEndpoint({
  id: "listTrash",
  tag: "Trash",
  summary: "List the trash",
  description: "Lists deleted and replaced files of the drive, newest first.",
  parameters: ["Limit", "Last", "Prefix"],
  success: { 200: jsonResponse("The items, and `paging` if there may be more.", "TrashList") },
  schemas: {
    TrashId: { type: "string", minLength: 1, examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"] },
    TrashList: closed({
      items: listOf(schema("TrashItem"), { maxItems: MAX_LIST }),
      paging,
    }, { optional: ["paging"] }),
    TrashItem: closed({
      id: schema("TrashId"),
      name: schema("FileName"),
      size: count("Bytes.", 48_213),
      content_type: { type: "string", maxLength: MAX_CONTENT_TYPE, examples: ["image/jpeg"] },
      deleted: schema("Second"),
      expires: { ...schema("Second"), description: "When it is deleted for good." },
      reason: { enum: ["deleted", "replaced"] },
    }),
  },
}, async (call, deps) => {
  const { project, drive, query, rights } = call;
  const { limit, last, ...asked } = query.pageOfIds();
  const prefix = rights.visiblePrefix(asked.prefix);
  if (prefix === undefined) return json(200, { items: [] });
  const memory = { estimate: limit * ITEM_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, memory, async () => {
    const page = await deps.store.trash.list({ project, drive }, { limit, last, prefix });
    const { items } = page;
    return {
      items: items.map(itemJson),
      ...(page.last === undefined ? {} : { paging: { size: items.length, last: page.last } }),
    };
  });
});

function itemJson({ id, name, record, deleted, expires, reason }: TrashItem): unknown {
  const { size, type } = record;
  const times = { deleted: isoSeconds(deleted), expires: isoSeconds(expires) };
  return { id, name, size, content_type: type, ...times, reason };
}

/** `POST /trash/restore`: gives files back their names. */
export const restoreTrash = driveEndpoint({
  id: "restoreTrash",
  tag: "Trash",
  summary: "Restore files from the trash",
  description:
    "Gives files back their names, with their content type, times and `ETag`. A file that has the name now is kept, and " +
    "the restoration fails, unless `overwrite` is set; then it goes to the trash itself. With `prefix`, the newest item of " +
    "each name below it is restored that no file has now, a page of the trash in each call; this needs `list` as well.",
  body: jsonBody("The items to restore, in this order, or all below a prefix.", {
    oneOf: [schema("RestoreRequest"), schema("RestorePrefixRequest")],
  }),
  success: { 200: jsonResponse("What was restored, and what was not.", "RestoreResult") },
  failures: {
    ...writeFailures,
    BadRequest: "The body is not such JSON.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was restored.",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    RestoreRequest: closed({
      ids,
      overwrite: { type: "boolean" },
      names: listOf(schema("FileName"), {
        minItems: 1,
        maxItems: MAX_NAMES,
        description:
          "The names that the files get, one for each id; without it, those that they had.",
      }),
    }, { optional: ["overwrite", "names"] }),
    RestorePrefixRequest: closed({ prefix: schema("NamePrefix"), ...pageFields }, {
      optional: PAGE_FIELDS,
    }),
    RestoreResult: closed({
      restored: listOf(schema("TrashId")),
      failed: listOf(closed({ id: schema("TrashId"), ...failureFields })),
      paging,
    }, { optional: ["paging"] }),
  },
}, restoreItems);

export async function restoreItems(call: DriveCall, deps: Deps): Promise<Response> {
  const fields = await Fields.read(call, deps, RESTORE_FIELDS);
  if (fields.has("prefix")) return await restorePage(fields, call, deps);
  const other = OF_PREFIX.find((name) => fields.has(name));
  if (other !== undefined) throw errors.unknownField(other, OF_IDS);
  const asked = fields.texts("ids", MAX_IDS);
  if (asked === undefined) throw errors.missingField("ids");
  const overwrite = fields.flagOr("overwrite", false);
  const names = newNames(fields, call, asked.length);
  await requireNames(call, deps, asked);
  const restored: string[] = [];
  const failed: ({ id: string } & ItemFailure)[] = [];
  // One after the other: two of them may have the same name.
  for (const [index, id] of asked.entries()) {
    const options = { overwrite, name: names?.[index] };
    const error = await restoreItem(call, deps, id, options).catch((error: unknown) => {
      // What was restored before it is told to the caller.
      if (restored.length === 0) throw error;
      return error;
    });
    if (error === undefined) restored.push(id);
    else failed.push({ id, ...itemFailure(error, call, deps) });
  }
  return json(200, { restored, failed });
}

/** Returns the names that restored files get; `undefined` for those that they had. @throws {RightMissing} */
function newNames(fields: Fields, call: DriveCall, count: number): readonly string[] | undefined {
  const names = fields.texts("names", MAX_NAMES);
  if (names === undefined) return undefined;
  if (names.length !== count) throw errors.badField("names", "needs one name for each id");
  for (const name of names) {
    const problem = fileNameProblem(name);
    if (problem !== undefined) throw errors.badFileName(problem);
    call.rights.requireName(name);
  }
  return names;
}

/**
 * Restores the newest item of each name below a prefix that no file has now. Older items of these names, and those of
 * names in use, stay in the trash.
 */
async function restorePage(fields: Fields, call: DriveCall, deps: Deps): Promise<Response> {
  const other = OF_IDS.find((name) => fields.has(name));
  if (other !== undefined) throw errors.unknownField(other, OF_PREFIX);
  const page = pageIn(fields, prefixIn(fields, "prefix", call));
  using _memory = await deps.store.memory.json.reserve(call.project, page.limit * ITEM_MEMORY);
  const { items, last } = await deps.store.trash.list(call, page);
  const newest = new Map(items.toReversed().map((item) => [item.name, item.id]));
  const ids = items.filter(({ id, name }) => newest.get(name) === id).map(({ id }) => id);
  const outcomes = await Promise.all(
    ids.map((id) =>
      deps.store.trash.restore(call, id, { overwrite: false }).catch((error: unknown) =>
        itemFailure(error, call, deps)
      )
    ),
  );
  return json(200, {
    restored: ids.filter((_, i) => outcomes[i] === "restored"),
    failed: ids.flatMap((id, i) => {
      const outcome = outcomes[i];
      return typeof outcome === "object" ? [{ id, ...outcome }] : [];
    }),
    ...(last === undefined ? {} : { paging: { size: items.length, last } }),
  });
}

/** Restores an item. Returns why it stays in the trash. */
async function restoreItem(
  call: DriveCall,
  { store }: Deps,
  id: string,
  options: { overwrite: boolean; name: string | undefined },
): Promise<HttpError | undefined> {
  switch (await store.trash.restore(call, id, options)) {
    case "absent":
      return errors.trashItemNotFound();
    case "taken":
      return errors.nameTaken();
    default:
      return undefined;
  }
}

/** `DELETE /trash`: deletes items, or all of them, for good. */
export const deleteTrash = driveEndpoint({
  id: "deleteTrash",
  tag: "Trash",
  summary: "Delete files in the trash for good",
  body: jsonBody("The items to delete, or all.", schema("DeleteTrashRequest"), {
    example: { all: true },
  }),
  success: { 200: jsonResponse("How many items were deleted.", "DeletedTrash") },
  failures: {
    BadRequest: "The body is not such JSON: it needs either `ids` or `all`.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was deleted.",
    TooLarge: "The body is larger than any valid one.",
  },
  schemas: {
    DeleteTrashRequest: { oneOf: [closed({ ids }), closed({ all: { const: true } })] },
    DeletedTrash: closed({ deleted: count("Items that existed.", 2) }),
  },
}, async (call, deps) => {
  const { trash } = deps.store;
  const fields = await Fields.read(call, deps, ["ids", "all"]);
  const asked = fields.texts("ids", MAX_IDS);
  const isAll = fields.flagOr("all", false);
  if (isAll === (asked !== undefined)) {
    throw errors.badObject(["ids", "all"], 'it needs either "ids" or "all": true');
  }
  if (asked === undefined) {
    call.rights.requireAllNames();
    return json(200, { deleted: await trash.empty(call) });
  }
  await requireNames(call, deps, asked);
  const outcomes = await Promise.all([...new Set(asked)].map((id) => trash.delete(call, id)));
  return json(200, { deleted: outcomes.filter(Boolean).length });
});

/** @throws {RightMissing} if the key is not for the name of an item. Nothing was changed then. */
async function requireNames(
  call: DriveCall,
  { store }: Deps,
  ids: readonly string[],
): Promise<void> {
  if (call.rights.namePrefix === "") return;
  for (const name of await store.trash.names(call, ids)) {
    if (name !== undefined) call.rights.requireName(name);
  }
}
