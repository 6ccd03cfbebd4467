import { preconditionsOf } from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { boundedJson, json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import type { OperationDescription } from "../../openapi/operation.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { driveNameProblem, fileNameProblem, MAX_FILE_NAME } from "../../rules/names.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import type { MemoryShare } from "../../store/engine/memory_budget.ts";
import { placeId } from "../../store/engine/records.ts";
import type { CopyKind, CopyRequest } from "../../store/files/copies.ts";
import {
  type DriveCall,
  driveEndpoint,
  failureFields,
  type ItemFailure,
  itemFailure,
  writeFailures,
} from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import {
  copyPage,
  PAGE_FIELDS,
  pageFields,
  pageMemory,
  type PrefixCopy,
  prefixCopyIn,
} from "./prefixes.ts";

/** Files that one call may copy or move. */
const MAX_ITEMS = 1000;

/** The largest body: two names of 1024 bytes for each item, each character as a `\u` escape of six bytes. */
const MAX_JSON_BODY = MAX_ITEMS * (2 * MAX_FILE_NAME * 6 + 32) + 4096;

const SINGLE = ["to", "to_drive", "overwrite"];
const MANY = ["items", "to_drive", "overwrite"];
const OF_PREFIX = ["from_prefix", "to_prefix", "to_drive", "overwrite", ...PAGE_FIELDS];
const ALL = [...new Set(["from", "to", ...MANY, ...OF_PREFIX])];

/** Of an item whose name or drive is not valid, nothing is changed and the whole call is refused. */
const failures: OperationDescription["failures"] = {
  ...writeFailures,
  BadRequest: "The body is not such JSON, a name is not valid, or source and target are the same.",
  NotFound: "There is no file with the source's name, or no such project (administrator).",
  Conflict: "The target exists and `overwrite` is not set, or the drive is being removed.",
  PreconditionFailed: "The source does not match `If-Match`: nothing was changed.",
  BodyTimeout: "The body stopped coming, or came too slowly: nothing was changed.",
  TooLarge: "The body is larger than any valid one.",
};

const itemFields = { from: schema("FileName"), to: schema("FileName") };
const targetFields = {
  to_drive: {
    ...schema("DriveName"),
    description: "The drive of the targets, in the same project; the same drive if absent.",
  },
  overwrite: { type: "boolean", description: "Whether existing targets are replaced." },
};

const body = jsonBody(
  `One file; 1 to ${MAX_ITEMS} files as \`items\`, which are handled in their order; or all files and kept folders whose ` +
    "names begin with `from_prefix`, a page of them in each call.",
  { oneOf: [schema("CopyRequest"), schema("CopyManyRequest"), schema("CopyPrefixRequest")] },
);

const result = {
  oneOf: [schema("StoredFile"), schema("CopyResult")],
};

const schemas: OperationDescription["schemas"] = {
  CopyRequest: closed({ ...itemFields, ...targetFields }, { optional: ["to_drive", "overwrite"] }),
  CopyManyRequest: closed({
    items: listOf(closed(itemFields), { minItems: 1, maxItems: MAX_ITEMS }),
    ...targetFields,
  }, { optional: ["to_drive", "overwrite"] }),
  CopyPrefixRequest: closed({
    from_prefix: schema("NamePrefix"),
    to_prefix: {
      ...schema("NamePrefix"),
      description:
        "What the names begin with in place of `from_prefix`. In the same drive, it may not begin with that.",
    },
    ...targetFields,
    ...pageFields,
  }, { optional: ["to_drive", "overwrite", ...PAGE_FIELDS] }),
  CopyResult: closed({
    done: listOf({ type: "string", minLength: 1 }, {
      description: "The sources, in the order of the request. A folder ends with a slash.",
    }),
    failed: listOf(
      closed({
        name: { type: "string", minLength: 1, description: "The source." },
        ...failureFields,
      }),
    ),
    paging: schema("Paging"),
  }, { optional: ["paging"] }),
};

/** `POST /files/copy`: copies files without copying bytes. */
export const copyFiles = driveEndpoint({
  id: "copyFiles",
  tag: "Files",
  summary: "Copy files",
  description:
    "Copies a file in one atomic operation, in the time of a small write and without further disk space. " +
    "The copy keeps content type and digest, has its own `ETag`, and is created now.",
  parameters: ["IfMatch", "ContentDigest"],
  body,
  success: {
    200: jsonResponse(
      "With `items` or a prefix: what was copied, and what was not; `paging` if the prefix has more.",
      "CopyResult",
    ),
    201: jsonResponse("The file was copied.", "StoredFile"),
  },
  failures,
  schemas,
}, (call, deps) => handle("copy", call, deps));

/** `POST /files/move`: gives files other names. */
export const moveFiles = driveEndpoint({
  id: "moveFiles",
  tag: "Files",
  summary: "Move and rename files",
  description:
    "Moves a file in one atomic operation: at every moment exactly one of the two names exists. " +
    "The file keeps its content type, times, digest and `ETag`.",
  parameters: ["IfMatch", "ContentDigest"],
  body,
  success: {
    200: {
      ...jsonResponse("What was moved.", "CopyResult"),
      content: { "application/json": { schema: result } },
    },
  },
  failures,
}, (call, deps) => handle("move", call, deps));

interface Asked {
  items: CopyRequest[];
  isSingle: boolean;
  prefix?: never;
}

async function handle(kind: CopyKind, call: DriveCall, deps: Deps): Promise<Response> {
  using memory = await deps.store.memory.json.reserve(call.project, 0);
  const asked = await readRequest(kind, call, deps, memory);
  if (asked.prefix !== undefined) return await runPrefix(asked.prefix, call, deps, memory);
  const { items, isSingle } = asked;
  const [first] = items;
  if (isSingle && first !== undefined) {
    await runOne(kind, first, deps);
    const { name, project, drive } = first.to;
    const status = kind === "copy" ? 201 : 200;
    return json(status, { name, project_id: project, drive_name: drive });
  }
  const outcomes = await runInOrder(items, (item) => runOne(kind, item, deps));
  if (outcomes.every((error) => error instanceof StoreUnavailable)) throw outcomes[0];
  const answer = resultOf(items.map(({ from }) => from.name), outcomes, call, deps);
  // The response repeats names of the request, whose memory another request may wait for.
  memory.shrink(memory.bytes);
  return await boundedJson(call, deps, { isRepeatable: true }, () => Promise.resolve(answer));
}

async function runPrefix(
  copy: PrefixCopy,
  call: DriveCall,
  deps: Deps,
  memory: MemoryShare,
): Promise<Response> {
  await memory.extend(pageMemory(copy.page));
  const run = (request: CopyRequest) => runOne(copy.kind, request, deps);
  const { names, errors, paging } = await copyPage(copy, call, deps, run);
  const answer = { ...resultOf(names, errors, call, deps), ...paging };
  memory.shrink(memory.bytes);
  return await boundedJson(call, deps, { isRepeatable: true }, () => Promise.resolve(answer));
}

/** Copies or moves one file. @throws {HttpError} 400, 404, 409 or 412. */
async function runOne(kind: CopyKind, request: CopyRequest, { store }: Deps): Promise<void> {
  const { from, to } = request;
  if (placeId(from) === placeId(to)) throw errors.sameFile(from.name);
  switch (await store.files.copies.run(kind, request)) {
    case "absent":
      throw errors.fileNotFound(from.name);
    case "refused":
      throw errors.preconditionFailed();
    case "taken":
      throw errors.targetExists(to.name);
    default:
  }
}

/**
 * Runs tasks at the same time as long as they concern different files; tasks of the same file run in their order. Returns
 * the error of each, or `undefined`.
 */
async function runInOrder(
  items: readonly CopyRequest[],
  task: (item: CopyRequest) => Promise<void>,
): Promise<unknown[]> {
  const last = new Map<string, Promise<unknown>>();
  const all = items.map((item) => {
    const files = [placeId(item.from), placeId(item.to)];
    const before = Promise.all(files.map((file) => last.get(file)));
    const outcome = before.then(() => task(item)).then(() => undefined, (error: unknown) => error);
    for (const file of files) last.set(file, outcome);
    return outcome;
  });
  return await Promise.all(all);
}

/** @param outcomes The error of each source; `undefined` for those that are done. */
function resultOf(
  names: readonly string[],
  outcomes: readonly unknown[],
  call: DriveCall,
  deps: Deps,
): { done: string[]; failed: ({ name: string } & ItemFailure)[] } {
  const done: string[] = [];
  const failed: ({ name: string } & ItemFailure)[] = [];
  for (const [i, name] of names.entries()) {
    if (outcomes[i] === undefined) done.push(name);
    else failed.push({ name, ...itemFailure(outcomes[i], call, deps) });
  }
  return { done, failed };
}

/** @throws {RightMissing} if the key is not for the drive of the targets, or for one of the names. */
async function readRequest(
  kind: CopyKind,
  call: DriveCall,
  deps: Deps,
  memory: MemoryShare,
): Promise<Asked | { prefix: PrefixCopy }> {
  const fields = await Fields.read(call, deps, ALL, { limit: MAX_JSON_BODY, memory });
  const isPrefix = fields.has("from_prefix") || fields.has("to_prefix");
  const isMany = isPrefix || fields.has("items");
  const form = isPrefix ? OF_PREFIX : fields.has("items") ? MANY : ["from", ...SINGLE];
  const other = ALL.find((field) => fields.has(field) && !form.includes(field));
  if (other !== undefined) throw errors.unknownField(other, form);
  const { ifMatch } = preconditionsOf(call.request);
  if (isMany && ifMatch !== null) {
    throw errors.ifMatchOfMany();
  }
  const drive = fields.optionalText("to_drive", driveNameProblem) ?? call.drive;
  const overwrite = fields.flagOr("overwrite", false);
  const condition: CopyRequest["condition"] = (current) => allowsWrite({ ifMatch }, current);
  const { project, rights } = call;
  rights.requireDrive(drive);
  if (isPrefix) return { prefix: prefixCopyIn(fields, kind, call, { drive, overwrite }) };
  const nameOf = (item: Fields, field: "from" | "to"): string => {
    const name = item.text(field, fileNameProblem);
    rights.requireName(name);
    return name;
  };
  const itemOf = (item: Fields): CopyRequest => ({
    from: { project, drive: call.drive, name: nameOf(item, "from") },
    to: { project, drive, name: nameOf(item, "to") },
    overwrite,
    condition,
  });
  const listed = fields.list("items", MAX_ITEMS);
  if (listed === undefined) return { items: [itemOf(fields)], isSingle: true };
  return { items: listed.map((item) => itemOf(Fields.of(item, ["from", "to"]))), isSingle: false };
}
