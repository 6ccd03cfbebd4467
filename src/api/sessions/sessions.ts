import { errors } from "../../http/http_error.ts";
import { decodeSegment } from "../../http/request_target.ts";
import { forOwner } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import type { Access } from "../../openapi/operation.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import type { ListedSession } from "../../store/sessions/sign_ins.ts";
import { authenticate, authenticationFailures, changeFailures } from "../admin/admin_call.ts";
import type { Deps, Endpoint, RoutedRequest } from "../endpoint.ts";
import { sessionHeaders } from "./session.ts";
import { sessionResponse } from "./session_call.ts";

const access: Access = { security: forOwner, failures: authenticationFailures };

/** `GET /dashboard/sessions`: the browsers that are signed in with the sender's key or token. */
export const listSessions: Endpoint = {
  operation: {
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
  },
  access,
  async handle(routed, deps) {
    const { hash, session } = await authenticate(routed, deps);
    const sessions = await deps.store.signIns.list(hash);
    return sessionResponse({ sessions: sessions.map((one) => listedJson(one, session?.id)) });
  },
};

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
export const endSessions: Endpoint = {
  operation: {
    id: "endSessions",
    tag: "The server",
    summary: "End all sessions of a key",
    description:
      "Ends all sessions with the sender's key or token, also the one that the request used.",
    success: {
      200: jsonResponse("The sessions are ended.", "EndedSessions", { headers: sessionHeaders }),
    },
    failures: changeFailures,
  },
  access,
  handle: (routed, deps) => end(routed, deps),
};

/** `DELETE /dashboard/sessions/{id}`: ends one session. */
export const endSession: Endpoint = {
  operation: {
    id: "endSession",
    tag: "The server",
    summary: "End a session",
    success: {
      200: jsonResponse("The session is ended.", "EndedSessions", { headers: sessionHeaders }),
    },
    failures: { ...changeFailures, NotFound: "The key has no such session." },
  },
  access,
  async handle(routed, deps) {
    return await end(routed, deps, decodeSegment(routed.params["session"] ?? ""));
  },
};

async function end(routed: RoutedRequest, deps: Deps, id?: string): Promise<Response> {
  const { hash } = await authenticate(routed, deps);
  const deleted = await deps.store.signIns.endAll(hash, id);
  if (id !== undefined && deleted === 0) throw errors.sessionNotFound(id);
  return sessionResponse({ deleted });
}
