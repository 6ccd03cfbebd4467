import type { Caller } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { decodeSegment } from "../../http/request_target.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import type { ListedSession } from "../../store/sessions/sign_ins.ts";
import { changeFailures, keyEndpoint } from "../admin/admin_call.ts";
import type { Deps } from "../endpoint.ts";
import { sessionHeaders } from "./session.ts";
import { sessionResponse } from "./session_call.ts";

/** `GET /dashboard/sessions`: the browsers that are signed in with the sender's key or token. */
export const listSessions = keyEndpoint({
  id: "listSessions",
  tag: "The server",
  summary: "List the sessions of a key",
  description:
    "Lists the browsers that are signed in to the dashboard with the sender's key or token, the newest first.",
  success: {
    200: jsonResponse("The sessions.", "SessionList", { headers: sessionHeaders }),
  },
  schemas: {
    SessionList: closed({
      sessions: listOf(closed({
        id: { type: "string", minLength: 1 },
        created: schema("Second"),
        last_used: { ...schema("Second"), description: "Accurate to an hour." },
        expires: schema("Second"),
        address: { type: "string", description: "The client's address at the sign-in." },
        browser: { type: "string", examples: ["Firefox on Linux"] },
        current: { type: "boolean", description: "Whether this request used it." },
      })),
    }),
  },
}, async (_routed, { store }, { hash, session }) => {
  const sessions = await store.signIns.list(hash);
  return sessionResponse({ sessions: sessions.map((one) => listedJson(one, session?.id)) });
});

function listedJson(
  { id, created, lastUsed, expires, address, browser }: ListedSession,
  current: string | undefined,
): Record<string, unknown> {
  return {
    id,
    created: isoSeconds(created),
    last_used: isoSeconds(lastUsed),
    expires: isoSeconds(expires),
    address,
    browser,
    current: id === current,
  };
}

/** `DELETE /dashboard/sessions`: signs out everywhere. */
export const endSessions = keyEndpoint({
  id: "endSessions",
  tag: "The server",
  summary: "End all sessions of a key",
  description:
    "Ends all sessions with the sender's key or token, also the one that the request used.",
  success: {
    200: jsonResponse("The sessions are ended.", "EndedSessions", { headers: sessionHeaders }),
  },
  failures: changeFailures,
}, (_routed, deps, caller) => end(deps, caller));

/** `DELETE /dashboard/sessions/{id}`: ends one session. */
export const endSession = keyEndpoint({
  id: "endSession",
  tag: "The server",
  summary: "End a session",
  success: {
    200: jsonResponse("The session is ended.", "EndedSessions", { headers: sessionHeaders }),
  },
  failures: { ...changeFailures, NotFound: "The key has no such session." },
}, (routed, deps, caller) => end(deps, caller, decodeSegment(routed.params["session"] ?? "")));

async function end({ store }: Deps, { hash }: Caller, id?: string): Promise<Response> {
  const deleted = await store.signIns.endAll(hash, id);
  if (id !== undefined && deleted === 0) throw errors.sessionNotFound(id);
  return sessionResponse({ deleted });
}
