import { errors } from "../../http/http_error.ts";
import { readJson } from "../../http/json_body.ts";
import { boundedJson } from "../../http/json_response.ts";
import { fileNameProblem, MAX_DELETE_NAMES, MAX_FILE_NAME } from "../../rules/names.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import type { MemoryShare } from "../../store/engine/memory_budget.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** A JSON body: 1000 names of 1024 bytes, each written as a `\u` escape of six bytes, and their quotes. */
export const MAX_JSON_BODY = MAX_DELETE_NAMES * (MAX_FILE_NAME * 6 + 8) + 1024;

/** `DELETE /files`: "A name that did not exist is reported under `deleted`." */
export async function deleteFiles(call: DriveCall, deps: Deps): Promise<Response> {
  // The answer repeats the names, so the memory of the body is enough for it.
  return await boundedJson(
    call,
    deps,
    { isRepeatable: false },
    (memory) => deleteNamed(call, deps, memory),
  );
}

async function deleteNamed(call: DriveCall, deps: Deps, memory: MemoryShare): Promise<unknown> {
  const names = await namesOf(call, deps.idleTimeout, memory);
  const results = await Promise.all(names.map((name) => deleteFile(call, deps, name)));
  // It is not about the files then, of which nobody knows whether they exist.
  const away = results.find((error) => error instanceof StoreUnavailable);
  if (away !== undefined && results.every((error) => error instanceof StoreUnavailable)) throw away;
  const deleted = names.filter((_, i) => results[i] === undefined);
  const failures = names.flatMap((name, i) => {
    if (results[i] === undefined) return [];
    deps.onError(results[i], call.requestId);
    return [[name, "The store could not delete it: try again"] as const];
  });
  const failed = deps.failedReasons ? Object.fromEntries(failures) : failures.map(([name]) => name);
  return { deleted, failed };
}

/** What kept an existing file from being deleted; `undefined` where it is gone, or never was. */
async function deleteFile(
  { project, drive }: DriveCall,
  { store }: Deps,
  name: string,
): Promise<unknown> {
  // What cannot be a name was never stored under.
  if (fileNameProblem(name) !== undefined) return undefined;
  try {
    await store.files.delete({ project, drive, name });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The distinct names in their order, from the body or the query. */
async function namesOf(
  { request, query, visit }: DriveCall,
  idle: number,
  memory: MemoryShare,
): Promise<string[]> {
  const inQuery = query.all("names");
  const limits = { limit: MAX_JSON_BODY, idle, bad: errors.badJson, visit, memory };
  const body = await readJson(request, limits);
  if (inQuery.length > 0 && body !== undefined) {
    throw errors.badNames("they are in the query and in the body; send them in one of both");
  }
  const names = inQuery.length > 0 ? inQuery : namesInBody(body);
  if (names.length === 0) throw errors.badNames("there is none");
  if (names.length > MAX_DELETE_NAMES) throw errors.badNames(`there are ${names.length}`);
  if (names.every((name) => name.trim() === "")) throw errors.badNames("all of them are blank");
  return [...new Set(names)];
}

function namesInBody(body: unknown): string[] {
  if (body === undefined) throw errors.badJson("it is empty");
  if (typeof body !== "object" || body === null || !("names" in body)) {
    throw errors.badJson('it has no "names"');
  }
  const { names } = body;
  if (!Array.isArray(names)) throw errors.badJson('"names" is not an array');
  if (!names.every((name) => typeof name === "string")) {
    throw errors.badJson('"names" has something else than strings');
  }
  return names;
}
