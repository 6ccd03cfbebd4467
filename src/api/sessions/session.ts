import { keyRefusal } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { Fields, SMALL_BODY } from "../../http/json_body.ts";
import { dashboardCookie } from "../../http/network/request_secrets.ts";
import { header, jsonBody, jsonResponse } from "../../openapi/messages.ts";
import type { Failures } from "../../openapi/operation.ts";
import { closed, schema } from "../../openapi/schemas.ts";
import type { HeaderObjects } from "../../openapi/types.ts";
import { browserName, currentSession, SESSION_SCHEMAS, sessionJson } from "./session_json.ts";
import { hashSecret, MAX_KEY_HEADER } from "../../rules/secrets.ts";
import type { Store } from "../../store/store.ts";
import { type BrowserClient, looksLikeSignInCode } from "../../store/sessions/sign_ins.ts";
import { type Deps, publicEndpoint, type RoutedRequest } from "../endpoint.ts";
import { administratorEndpoint, changeFailures, jsonFailures } from "../admin/admin_call.ts";
import {
  cookieScope,
  requireSameOrigin,
  sessionResponse,
  sessionsOfCookies,
  type SignedIn,
} from "./session_call.ts";
import { json } from "../../http/responses/json_response.ts";
import { isoSeconds } from "../../rules/dates.ts";

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
}, endSession);

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
async function endSession(routed: RoutedRequest, deps: Deps): Promise<Response> {
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
