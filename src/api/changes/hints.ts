import { HttpResponse } from "../../http/responses/http_response.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import { driveNameProblem } from "../../rules/names.ts";
import { errors } from "../../http/http_error.ts";
import type { ListScope } from "../../store/changes/list_mark.ts";
import { type DriveCall, driveEndpoint } from "../drive_call.ts";
import { EVENT_STREAM, eventStream, Follower, STREAM_HEADERS } from "./event_stream.ts";

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
