import { errors } from "../../http/http_error.ts";
import type { Query } from "../../http/request_target.ts";
import { boundedJson } from "../../http/responses/json_response.ts";
import { header, jsonResponse, plainResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { MAX_CONTENT_TYPE } from "../../rules/content_type.ts";
import { driveNameProblem, MAX_LIST } from "../../rules/names.ts";
import { KIB, MIB, SECOND } from "../../rules/units.ts";
import type { Change, ChangesPage, ChangesQuery } from "../../store/changes/change_feed.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { EVENT_STREAM, eventStream, Follower, STREAM_HEADERS } from "./event_stream.ts";
import { ENTRY_MEMORY } from "../files/list_files.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import type { ListScope } from "../../store/changes/change_signals.ts";

const DEFAULT_CHANGES = 100;

/** The longest wait for a change, in seconds. */
const MAX_WAIT = 60;

/** The size of a page at which it ends early, in bytes, and the same for callers that wait: many may have one each. */
const MAX_PAGE = MIB;
const MAX_WAITING_PAGE = 48 * KIB;

/** `GET /changes`: what happened to the names of a drive, in the order of the commits. */
export const listChanges = driveEndpoint({
  id: "listChanges",
  tag: "Files",
  summary: "List changes",
  description:
    "Lists what happened to the names of a drive, the oldest change first, for the days that the project's `change_days` " +
    "sets. Without `since` it returns the present cursor and no changes. With `Accept: text/event-stream` it sends the same " +
    "as server-sent events, without an end. A key that is limited to names with a prefix sees only these: " +
    "a file that is moved out of them counts as deleted.",
  parameters: ["Since", "ChangeLimit", "Wait", "LastEventId"],
  success: {
    200: {
      ...jsonResponse("The changes, and the cursor after them.", "ChangeList", {
        headers: { "X-Accel-Buffering": header("NoBuffering") },
      }),
      content: {
        "application/json": { schema: schema("ChangeList") },
        [EVENT_STREAM]: { schema: { type: "string" } },
      },
    },
  },
  failures: {
    Conflict: "The project keeps no changes.",
    Gone: "Changes after the cursor are no longer kept: list the drive again.",
  },
  schemas: {
    ChangeList: closed({
      changes: listOf(schema("Change"), { maxItems: MAX_LIST }),
      last: { ...schema("Cursor"), description: "The cursor after these changes." },
      more: { type: "boolean", description: "Whether there are more changes now." },
    }),
    Cursor: { type: "string", minLength: 1, examples: ["mX3k9QyJqC4v0N1b7ZsT2uRfHd8A"] },
    Change: closed({
      id: schema("Cursor"),
      at: { type: "string", format: "date-time", examples: ["2021-04-22T11:50:08.123Z"] },
      type: {
        type: "string",
        enum: ["put", "delete", "move"],
        description:
          "`put`: the name has another version. `delete`: it has none any more. `move`: the file of `from` has the name.",
      },
      name: schema("FileName"),
      from: { ...schema("FileName"), description: "The name before a move." },
      etag: { type: "string", minLength: 1 },
      size: count("Bytes.", 48_213),
      content_type: { type: "string", maxLength: MAX_CONTENT_TYPE, examples: ["image/jpeg"] },
    }, { optional: ["from", "etag", "size", "content_type"] }),
  },
}, (call, deps) => {
  const { headers, method } = call.request;
  const isStream = accepts(headers, EVENT_STREAM);
  const query = queryOf(call, isStream ? headers.get("last-event-id") : null);
  const wait = waitOf(call.query) * SECOND;
  if (isStream && method === "GET") return streamChanges(call, deps, query);
  return answerChanges(call, deps, query, wait);
});

function queryOf(
  { project, drive, query, rights }: DriveCall,
  lastEvent: string | null,
): ChangesQuery {
  const limit = Math.min(query.positive("limit") ?? DEFAULT_CHANGES, MAX_LIST);
  const since = query.one("since");
  return {
    project,
    drive,
    prefix: rights.namePrefix,
    // A browser that connects again sends the address of the first time.
    since: lastEvent || since || undefined,
    limit,
    maxBytes: MAX_PAGE,
  };
}

/** Returns how long to wait, in seconds. @throws {HttpError} 400 unless it is a whole number from 0 to `MAX_WAIT`. */
function waitOf(query: Query): number {
  const text = query.one("wait") ?? "0";
  if (!/^\d{1,3}$/.test(text) || Number(text) > MAX_WAIT) {
    throw errors.badParameter("wait", text, `a whole number of seconds from 0 to ${MAX_WAIT}`);
  }
  return Number(text);
}

function accepts(headers: Headers, type: string): boolean {
  const accepted = headers.get("accept")?.toLowerCase() ?? "";
  return accepted.split(",").some((range) => range.split(";")[0]?.trim() === type);
}

async function answerChanges(
  call: DriveCall,
  deps: Deps,
  query: ChangesQuery,
  wait: number,
): Promise<Response> {
  const waits = wait > 0 && query.since !== undefined;
  let found = waits ? await waitForChange(call, deps, query, wait) : undefined;
  const options = { estimate: query.limit * ENTRY_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
    const page = found ?? await deps.store.changes.page(query);
    found = undefined;
    return { ...page, changes: page.changes.map(changeJson) };
  });
}

/**
 * Waits until there is a change, at most for a time in milliseconds. Returns the page that was read last; `undefined` if
 * there was no need to wait.
 */
async function waitForChange(
  call: DriveCall,
  deps: Deps,
  query: ChangesQuery,
  time: number,
): Promise<ChangesPage | undefined> {
  const end = performance.now() + time;
  if (!isEmpty(await deps.store.changes.page({ ...query, limit: 1 }))) return undefined;
  const waiting = deps.store.changeSignals.watch(query.project, query.drive);
  using follower = new Follower(call, waiting);
  const waitingQuery = { ...query, maxBytes: MAX_WAITING_PAGE };
  while (true) {
    const page = await pageAfter(follower, deps, waitingQuery);
    const left = end - performance.now();
    if (!isEmpty(page) || left <= 0 || follower.hasEnded) {
      await call.reauthorize();
      return page;
    }
    await follower.wait(left);
  }
}

function isEmpty({ changes, more }: ChangesPage): boolean {
  return changes.length === 0 && !more;
}

/** Returns the page after a cursor, which callers that ask the same read together. */
async function pageAfter(
  follower: Follower,
  { store }: Deps,
  query: ChangesQuery,
): Promise<ChangesPage> {
  const { since, limit, prefix } = query;
  return await follower.read(
    JSON.stringify([since, limit, prefix]),
    () => store.changes.page(query),
  );
}

/** Answers with server-sent events, which end when the server shuts down or the key no longer opens the drive. */
async function streamChanges(
  call: DriveCall,
  deps: Deps,
  query: ChangesQuery,
): Promise<Response> {
  const streamed = { ...query, limit: DEFAULT_CHANGES, maxBytes: MAX_WAITING_PAGE };
  // The cursor is checked before the response begins.
  const first = await deps.store.changes.page({ ...streamed, limit: 1 });
  const waiting = deps.store.changeSignals.watch(query.project, query.drive);
  const follower = new Follower(call, waiting);
  let since = query.since ?? first.last;
  // A client that is cut off before the first change knows where to go on.
  return eventStream(call, deps, follower, {
    head: `: changes\nid: ${since}\n\n`,
    read: async () => {
      const { changes, more, last } = await pageAfter(follower, deps, { ...streamed, since });
      since = last;
      return { text: changes.map(eventText).join(""), more };
    },
  });
}

function eventText(change: Change): string {
  return `id: ${change.id}\nevent: ${change.type}\ndata: ${JSON.stringify(changeJson(change))}\n\n`;
}

function changeJson({ id, at, ...change }: Change): Record<string, unknown> {
  return { id, at: new Date(at).toISOString(), ...change };
}

/** `GET /v1/{project_id}/hints`: that something has changed, for lists that follow what others do. */
export const followLists = driveEndpoint({
  id: "followLists",
  tag: "Files",
  summary: "Follow changes without their contents",
  description:
    "Sends a server-sent event soon after something has changed in a drive, or in any drive of the project: a file, a " +
    "folder, the trash, an upload or a link. It tells nothing else, and needs no feed of changes. There are at most two " +
    "events a second. The `id` of an event is a mark: with it as `since`, the first event follows at once if something " +
    "has changed since then.",
  parameters: ["HintDrive", "HintSince"],
  success: {
    200: plainResponse(
      "The events, without an end.",
      { "Cache-Control": header("NoStore"), "X-Accel-Buffering": header("NoBuffering") },
      { [EVENT_STREAM]: { schema: { type: "string" } } },
    ),
  },
}, async (call, deps) => {
  const scope = scopeOf(call);
  const since = call.query.one("since");
  if (call.request.method === "HEAD") return new HttpResponse(null, { headers: STREAM_HEADERS });
  const { changeSignals } = deps.store;
  const follower = new Follower(call, changeSignals.watchLists(scope));
  const read = () => follower.read("mark", () => changeSignals.markOf(scope));
  let mark: string;
  try {
    mark = await read();
  } catch (error) {
    follower[Symbol.dispose]();
    throw error;
  }
  const head = `: hints\n${since && since !== mark ? changeEvent(mark) : `id: ${mark}\n\n`}`;
  return eventStream(call, deps, follower, {
    head,
    read: async () => {
      const before = mark;
      mark = await read();
      return { text: mark === before ? "" : changeEvent(mark), more: false };
    },
  });
});

function changeEvent(mark: string): string {
  return `id: ${mark}\nevent: change\ndata:\n\n`;
}

/** @throws {RightMissing} if the key is not for the drive. */
function scopeOf({ project, query, rights }: DriveCall): ListScope {
  const drive = query.one("drive");
  if (!drive) return { project, drives: rights.drives };
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  rights.requireDrive(drive);
  return { project, drives: [drive] };
}
