import { errors, type HttpError } from "../http/http_error.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { errorResponse, gateErrors, isNavigation, redirectResponse } from "./gate_response.ts";
import { isFromOtherSite } from "../http/network/wrong_keys.ts";
import type { RequestContext } from "../http/request_context.ts";
import { NO_BODY } from "../http1/body.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import type { AppInfo } from "../store/accounts/apps.ts";
import type { Store } from "../store/store.ts";
import type { AuthorizationContext } from "./context.ts";
import { type ClientInfo, clientInfoOf, type Peer } from "./forwarded_headers.ts";
import { findRoute, type Route } from "./routing.ts";
import { mayUseSession, SESSION_NAMES, sessionName, sessionTokens } from "./session_cookie.ts";
import {
  type GatePathRequest,
  handleGatePath,
  isGatePath,
  signInFormFor,
  signInPage,
} from "./sign_in.ts";
import type { Upstream } from "./upstreams.ts";

/**
 * How often a running request is authorized again, in milliseconds. With the lifetime of cached keys, one that was
 * revoked in another process stops working within 6 s.
 */
export const REAUTHORIZE_INTERVAL = 1000;

/** Session cookies examined per request. An application has at most two paths, so that browsers send fewer. */
const MAX_SESSIONS = 4;

/** The credentials in a request. Secrets are kept as SHA-256 only. */
interface Credentials {
  /** The key in `X-API-Key`: a project key contains `_`, an application's key does not. */
  key?: { hash: string; isProjectKey: boolean } | undefined;
  /** SHA-256 of session tokens. */
  sessions: readonly string[];
  /** Whether the key is longer than any key can be. */
  isOverlong: boolean;
}

/** The caller that was let in. `key` is the prefix of the key, or `session`. */
export type Access =
  | { allowed: true; caller: "anyone" | "owner" | "session" | "preflight"; key?: string }
  | { allowed: true; caller: "key"; key?: string; keyName: string };

export type AccessDecision = Access | { allowed: false; sentKey: boolean };

/** The stores that access depends on. */
export type AccessStore = Pick<Store, "appKeys" | "keys" | "sessions">;

export interface AuthorizedRequest {
  route: Route;
  target: string;
  upstream: Upstream;
  client: ClientInfo;
  access: Access;
  credentials: () => Credentials;
}

const ANYONE: Access = { allowed: true, caller: "anyone" };
const PREFLIGHT: Access = { allowed: true, caller: "preflight" };

/** What the authorization of one request depends on. */
interface UnauthorizedRequest extends Pick<GatePathRequest, "head" | "readBody"> {
  peer: Peer;
  context: RequestContext;
}

/** Authorizes a request, or returns the gate's own response to it. @throws {HttpError} */
export async function authorizeRequest(
  gate: AuthorizationContext,
  { head, peer, readBody, context }: UnauthorizedRequest,
): Promise<AuthorizedRequest | HttpResponse> {
  const expected = joinedHeader(head.headers, "expect")?.toLowerCase() ?? "100-continue";
  if (expected !== "100-continue") {
    throw gateErrors.badMessage(417, "its Expect is not 100-continue");
  }
  const client = clientInfoOf(head, peer, gate.trustedProxies);
  const directory = { apps: gate.store.apps, hosts: gate.hosts };
  const route = await findRoute(directory, { host: client.host, target: head.target });
  const { app, prefix, target } = route;
  if (route.exists) context.app = `${app.project}/${app.app}`;
  if (target !== undefined && isGatePath(target)) {
    return await handleGatePath(gate, { head, route, client, readBody });
  }
  const credentials = once(() =>
    readCredentials(head.headers, acceptedCookies(head, route, client))
  );
  const decision = await authorize(gate.store, credentials, app);
  const passes = !decision.allowed && !decision.sentKey && route.exists && isPreflight(head);
  const access: AccessDecision = passes ? PREFLIGHT : decision;
  if (!access.allowed) return refusal(gate, head, route, client, access.sentKey);
  context.key = access.key;
  if (!route.exists) throw gateErrors.hostNotFound();
  if (target === undefined) return redirectResponse(308, `${prefix}/${queryOf(head.target)}`);
  if (app.upstream === undefined) throw gateErrors.upstreamMissing();
  const upstream = gate.upstreams.get(app.upstream);
  return { route, target, upstream, client, access, credentials };
}

/** Whether a running request would still be authorized. */
export async function isStillAuthorized(
  store: AuthorizationContext["store"],
  { route, access, credentials }: AuthorizedRequest,
): Promise<boolean> {
  const { app: { project, app, host }, prefix } = route;
  const found = await store.apps.find(project, app);
  if (found === undefined || prefix === "" && found.host !== host) return false;
  return access.caller === "preflight" || (await authorize(store, credentials, found)).allowed;
}

/**
 * Decides about access to an application: "While access control is off, everyone gets in. While it is on: a key of the
 * application in `X-API-Key`, or the owner: the project key in that header, or a browser that signed in with it." Keys
 * are looked up by SHA-256, so that the time of a lookup reveals nothing about a stored key.
 */
export async function authorize(
  store: AccessStore,
  credentials: () => Credentials,
  { project, app, access }: AppInfo,
): Promise<AccessDecision> {
  if (!access) return ANYONE;
  const { key, sessions, isOverlong } = credentials();
  if (key?.isProjectKey) {
    const owner = await store.keys.find(key.hash);
    if (owner?.project === project && owner.rights.isOwners) {
      return { allowed: true, caller: "owner", key: owner.prefix };
    }
  } else if (key !== undefined) {
    const found = await store.appKeys.find(key.hash);
    if (found?.project === project && found.app === app) {
      return { allowed: true, caller: "key", key: found.prefix, keyName: found.name };
    }
  }
  for (const hash of sessions) {
    const session = await store.sessions.find(hash);
    if (session?.project === project && session.app === app) {
      return { allowed: true, caller: "session", key: "session" };
    }
  }
  return { allowed: false, sentKey: key !== undefined || isOverlong };
}

/**
 * Reads the credentials of a request.
 *
 * @param cookies The names of accepted session cookies.
 */
export function readCredentials(
  headers: readonly Header[],
  cookies: readonly string[],
): Credentials {
  const key = joinedHeader(headers, "x-api-key") ?? "";
  const tokens = cookies.length === 0 ? [] : sessionTokens(headers, cookies);
  const sessions = tokens.slice(0, MAX_SESSIONS).map(hashSecret);
  if (key === "") return { sessions, isOverlong: false };
  if (key.length > MAX_KEY_HEADER) return { sessions, isOverlong: true };
  const hash = hashSecret(key);
  return { key: { hash, isProjectKey: key.includes("_") }, sessions, isOverlong: false };
}

/** Returns the names of the session cookies that count: those of the route, or none for a cross-origin change. */
function acceptedCookies(head: RequestHead, { prefix }: Route, client: ClientInfo): string[] {
  if (!mayUseSession(head, client.host)) return [];
  return [sessionName({ prefix, isSecure: client.proto === "https" })];
}

/** "CORS preflights pass": browsers send them without a key, and without a body or an upgrade. */
function isPreflight({ method, headers, framing, connection }: RequestHead): boolean {
  if (method !== "OPTIONS" || connection.has("upgrade") || framing !== NO_BODY) return false;
  return joinedHeader(headers, "origin") !== undefined &&
    joinedHeader(headers, "access-control-request-method") !== undefined;
}

/** "Everyone else gets 401 …; a browser that navigates gets the sign-in form with status 401." */
function refusal(
  { wrongKeys }: AuthorizationContext,
  head: RequestHead,
  route: Route,
  client: ClientInfo,
  sentKey: boolean,
): HttpResponse {
  const isCounted = sentKey && !isFromOtherSite(joinedHeader(head.headers, "sec-fetch-site"));
  const wait = isCounted ? wrongKeys.record(client.address) : undefined;
  if (wait !== undefined) return errorResponse(errors.tooManyWrongKeys(wait));
  const response = errorResponse(sentKey ? errors.unknownAppKey() : missingKey(head, client));
  if (!isNavigation(head)) return response;
  const challenge = { "WWW-Authenticate": response.headers.get("www-authenticate") ?? "" };
  return signInPage(response.status, signInFormFor(route, head.target), challenge);
}

/** The error of a request without a key. Its session may not count. */
function missingKey(head: RequestHead, client: ClientInfo): HttpError {
  const isCrossOrigin = !mayUseSession(head, client.host) &&
    sessionTokens(head.headers, SESSION_NAMES).length > 0;
  return isCrossOrigin ? gateErrors.crossOriginSession() : errors.missingAppKey();
}

function queryOf(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? "" : target.slice(question);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
