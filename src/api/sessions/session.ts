import { type Caller, keyRefusal } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { Fields, SMALL_BODY } from "../../http/json_body.ts";
import { dashboardCookie } from "../../http/network/request_secrets.ts";
import { header, jsonBody, jsonResponse } from "../../openapi/messages.ts";
import type { Failures } from "../../openapi/operation.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import type { HeaderObjects } from "../../openapi/types.ts";
import {
  browserName,
  cookieScope,
  currentSession,
  requireSameOrigin,
  SESSION_SCHEMAS,
  sessionJson,
  sessionResponse,
  sessionsOfCookies,
  type SignedIn,
} from "./session_call.ts";
import { hashSecret, MAX_KEY_HEADER } from "../../rules/secrets.ts";
import type { Store } from "../../store/store.ts";
import {
  type BrowserClient,
  type ListedSession,
  looksLikeSignInCode,
} from "../../store/sessions/sign_ins.ts";
import { type Deps, publicEndpoint, type RoutedRequest } from "../endpoint.ts";
import {
  administratorEndpoint,
  changeFailures,
  jsonFailures,
  keyEndpoint,
} from "../admin/admin_call.ts";
import { json } from "../../http/responses/json_response.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { decodeSegment } from "../../http/request_target.ts";

/** The headers of every successful response about sessions. */
export const sessionHeaders: HeaderObjects = {
  "X-Content-Type-Options": header("NoSniff"),
  "Cross-Origin-Resource-Policy": header("ResourcePolicy"),
};

/** The 403 of what pages of other origins may not do. */
const originFailures: Failures = {
  Forbidden: "The request comes from a page of another origin.",
};

/** `GET /dashboard/session`: who is signed in. */
export const showSession = publicEndpoint({
  id: "showSession",
  tag: "The server",
  summary: "Show the session of a browser",
  description: "Returns the session that the cookie of the dashboard names; `null` without one.",
  success: {
    200: jsonResponse("The session.", "CurrentSession", { headers: sessionHeaders }),
  },
  schemas: SESSION_SCHEMAS,
}, async (routed, deps) => sessionResponse({ session: await currentSession(routed, deps) }));

/** `POST /dashboard/session`: signs a browser in. */
export const signIn = publicEndpoint({
  id: "signIn",
  tag: "The server",
  summary: "Sign a browser in to the dashboard",
  description:
    "Starts a session with a project key, the administrator's token, or a sign-in code, and sets its cookie. The " +
    "session has the present rights of that key or token, and ends with it, or 30 days after its last use.",
  body: jsonBody("The key, token or code.", schema("SignInRequest")),
  success: {
    200: jsonResponse("The session.", "StartedSession", {
      headers: { ...sessionHeaders, "Set-Cookie": header("SessionCookie") },
    }),
  },
  failures: {
    ...jsonFailures,
    ...originFailures,
    Unauthorized: "The key, token or code is not known.",
    TooManyWrongKeys: "Too many wrong keys came from this network.",
  },
  schemas: {
    SignInRequest: closed({ secret: { type: "string", minLength: 1 } }),
    StartedSession: closed({ session: schema("Session") }),
  },
}, startSession);

/** `DELETE /dashboard/session`: signs a browser out. */
export const signOut = publicEndpoint({
  id: "signOut",
  tag: "The server",
  summary: "Sign a browser out of the dashboard",
  description:
    "Ends the session that the cookie names, if there is one, and removes the cookie. The session ends at once; in " +
    "other server processes within 5 seconds.",
  success: {
    200: jsonResponse("The browser is signed out.", "EndedSessions", {
      headers: { ...sessionHeaders, "Set-Cookie": header("SessionCookie") },
    }),
  },
  failures: { ...originFailures, StorageFull: "The disk is full: nothing was changed." },
  schemas: {
    EndedSessions: closed({
      deleted: { type: "integer", minimum: 0, description: "The sessions that were ended." },
    }),
  },
}, endOwnSessions);

async function startSession(routed: RoutedRequest, deps: Deps): Promise<Response> {
  requireSameOrigin(routed, deps);
  const { request, address, context } = routed;
  const { store, wrongKeys } = deps;
  const fields = await Fields.read({ ...routed, reauthorize: async () => {} }, deps, ["secret"], {
    limit: SMALL_BODY,
  });
  const secret = fields.text("secret", () => undefined).trim();
  const client = { address: address(), browser: browserName(request.headers.get("user-agent")) };
  const started = await startWith(store, secret, client);
  if (started === undefined) {
    throw keyRefusal(errors.unknownSecret(), request.headers, { wrongKeys, address });
  }
  // The browser forgets the token of an earlier session, which would stay open.
  await endAll(await sessionsOfCookies(routed, deps), deps);
  const session = await sessionJson(started, routed.origin(), deps);
  context.key = started.session.key?.prefix ?? "admin";
  const cookie = dashboardCookie(started.token, cookieScope(routed, deps));
  return sessionResponse({ session }, { "Set-Cookie": cookie });
}

/** Starts a session with a key, a token or a code, which are told apart by looking them up by their SHA-256. */
async function startWith(
  { signIns, keys, adminToken }: Store,
  secret: string,
  client: BrowserClient,
): Promise<SignedIn | undefined> {
  if (secret === "" || secret.length > MAX_KEY_HEADER) return undefined;
  const hash = hashSecret(secret);
  if (looksLikeSignInCode(secret)) {
    const started = await signIns.start({ code: hash }, client);
    if (started !== undefined) return started;
  }
  if (await adminToken.hasHash(hash)) return await signIns.start({ owner: { hash } }, client);
  const key = await keys.find(hash);
  if (key === undefined) return undefined;
  return await signIns.start({ owner: { hash, project: key.project } }, client);
}

/** It needs the cookie only, so that a page can sign out that has lost everything else. */
async function endOwnSessions(routed: RoutedRequest, deps: Deps): Promise<Response> {
  requireSameOrigin(routed, deps);
  const found = await sessionsOfCookies(routed, deps);
  await endAll(found, deps);
  const cookie = dashboardCookie("", cookieScope(routed, deps));
  return sessionResponse({ deleted: found.length }, { "Set-Cookie": cookie });
}

async function endAll(found: readonly SignedIn[], { store }: Deps): Promise<void> {
  for (const { session } of found) await store.signIns.end(session);
}

/**
 * Returns the address of the dashboard that a code signs in to. Servers do not receive what follows the `#`.
 *
 * @param server The server's address, without a slash at its end.
 */
export function signInUrl(server: string, code: string): string {
  return `${server}/#code=${code}`;
}

/** `POST /admin/v1/sign-in-codes`: a code that signs the administrator in once. */
export const createSignInCode = administratorEndpoint({
  id: "createSignInCode",
  tag: "The server",
  summary: "Create a sign-in code",
  description:
    "Creates a code that signs one browser in to the dashboard as the administrator, within 15 minutes and once. It is " +
    "returned only in this response.",
  success: { 201: jsonResponse("The code.", "SignInCode") },
  failures: changeFailures,
  schemas: {
    SignInCode: closed({
      code: { type: "string", pattern: "^once_[A-Za-z0-9]{32}$" },
      url: { type: "string", format: "uri", description: "Opens the dashboard and signs in." },
      expires: schema("Second"),
    }),
  },
}, async ({ credential, actor, origin }, { store, basePath }) => {
  const made = await store.signIns.createCode({ hash: credential }, actor);
  // The token was renewed in the meantime.
  if (made === undefined) throw errors.unknownToken();
  const { code, expires } = made;
  return json(201, {
    code,
    url: signInUrl(origin() + basePath, code),
    expires: isoSeconds(expires),
  });
});

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
