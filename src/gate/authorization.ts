import { errors } from "../http/http_error.ts";
import type { RequestContext } from "../http/request_context.ts";
import { NO_BODY } from "../http1/body.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { SECOND } from "../rules/units.ts";
import type { AppInfo } from "../store/accounts/apps.ts";
import type { Store } from "../store/store.ts";
import type { AuthorizationContext } from "./context.ts";
import { AccessDecision, type ClientInfo, clientInfoOf, type Peer } from "./forwarded_headers.ts";
import {
  errorResponse,
  type GateResponse,
  isNavigation,
  redirectResponse,
} from "./gate_response.ts";
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

/** How long an answer or an upgrade has run when it is judged anew, and how often then. With `KEY_CACHE_TIME`: 6 s. */
export const REAUTHORIZE_INTERVAL = SECOND;

/** What a caller shows in order to be let in. Of what is secret it keeps only the SHA-256. */
interface Credentials {
  /** The key in `X-API-Key`: a project's has a `_`, an application's has none. */
  key?: { hash: string; isProjectKey: boolean } | undefined;
  /** SHA-256 of the tokens of sessions. */
  sessions: readonly string[];
  /** Whether a key was sent that is too long to be one. */
  isOverlong: boolean;
}

/** More sessions than this no browser sends: an application is below two paths at the most. */
const MAX_SESSIONS = 4;

/**
 * Reads what a request shows.
 *
 * @param cookies The names of the cookies whose sessions count; none where no session counts.
 */
export function readCredentials(
  fields: readonly Header[],
  cookies: readonly string[],
): Credentials {
  const key = joinedHeader(fields, "x-api-key") ?? "";
  const tokens = cookies.length === 0 ? [] : sessionTokens(fields, cookies);
  const sessions = tokens.slice(0, MAX_SESSIONS).map(hashSecret);
  if (key === "") return { sessions, isOverlong: false };
  if (key.length > MAX_KEY_HEADER) return { sessions, isOverlong: true };
  const hash = hashSecret(key);
  return { key: { hash, isProjectKey: key.includes("_") }, sessions, isOverlong: false };
}

/** The parts of the store that know who may come in. */
export type AccessStore = Pick<Store, "appKeys" | "keys" | "sessions">;

const ANYONE: AccessDecision = { allowed: true, caller: "anyone" };

/**
 * "While access control is off, everyone gets in. While it is on: a key of the application in `X-API-Key`, or the owner:
 * the project key in that header, or a browser that signed in with it." Keys are looked up by the SHA-256 of the whole,
 * which says nothing of what differs.
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
    if (owner?.project === project) return { allowed: true, caller: "owner", key: owner.prefix };
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

/** A request that was let in. */
export interface AuthorizedRequest {
  place: Route;
  target: string;
  upstream: Upstream;
  origin: ClientInfo;
  judgement: AccessDecision;
  credentials: () => Credentials;
}

/** Lets a request in, or gives the answer of the gate itself. @throws {HttpError} */
export async function authorizeRequest(
  ctx: AuthorizationContext,
  head: RequestHead,
  peer: Peer,
  { readBody, visit }: { readBody: GatePathRequest["readBody"]; visit: RequestContext },
): Promise<AuthorizedRequest | GateResponse> {
  const expected = joinedHeader(head.fields, "expect")?.toLowerCase() ?? "100-continue";
  if (expected !== "100-continue") throw errors.badMessage(417, "its Expect is not 100-continue");
  const origin = clientInfoOf(head, peer, ctx.trustedProxies);
  const directory = { apps: ctx.store.apps, hosts: ctx.hosts };
  const place = await findRoute(directory, { host: origin.host, target: head.target });
  const { app, prefix, target } = place;
  if (place.exists) visit.app = `${app.project}/${app.app}`;
  if (target !== undefined && isGatePath(target)) {
    return await handleGatePath(ctx, { head, place, origin, readBody });
  }
  const credentials = once(() =>
    readCredentials(head.fields, acceptedCookies(head, place, origin))
  );
  const judged = await authorize(ctx.store, credentials, app);
  const passes = !judged.allowed && !judged.sentKey && place.exists && isPreflight(head);
  const judgement: AccessDecision = passes ? { allowed: true, caller: "preflight" } : judged;
  if (!judgement.allowed) return refusal(ctx, head, place, origin, judgement.sentKey);
  visit.key = judgement.key;
  if (!place.exists) throw errors.hostNotFound();
  if (target === undefined) return redirectResponse(308, `${prefix}/${queryOf(head.target)}`);
  if (app.upstream === undefined) throw errors.upstreamMissing();
  const upstream = ctx.upstreams.at(app.upstream);
  return { place, target, upstream, origin, judgement, credentials };
}

/** Whether a request that runs would be let in now. */
export async function isStillAuthorized(
  store: AuthorizationContext["store"],
  { place, judgement, credentials }: AuthorizedRequest,
): Promise<boolean> {
  const { app: { project, app, host }, prefix } = place;
  const found = await store.apps.find(project, app);
  if (found === undefined || prefix === "" && found.host !== host) return false;
  if (judgement.allowed && judgement.caller === "preflight") return true;
  return (await authorize(store, credentials, found)).allowed;
}

/** "Everyone else gets 401 …; a browser that navigates gets the sign-in form with status 401." */
function refusal(
  { wrongKeys }: AuthorizationContext,
  head: RequestHead,
  place: Route,
  { address, host }: ClientInfo,
  sentKey: boolean,
): GateResponse {
  if (sentKey) {
    const wait = wrongKeys.record(address);
    const error = wait === undefined ? errors.unknownAppKey() : errors.tooManyWrongKeys(wait);
    // A caller with a key is a program, whatever it accepts.
    return errorResponse(error);
  }
  const maySpend = mayUseSession(head, host);
  const error = maySpend || sessionTokens(head.fields, SESSION_NAMES).length === 0
    ? errors.missingAppKey()
    : errors.crossOriginSession();
  const { status, headers, body } = errorResponse(error);
  const accept = joinedHeader(head.fields, "accept");
  if (!isNavigation({ method: head.method, accept })) return { status, headers, body };
  const asked = { "WWW-Authenticate": headers["WWW-Authenticate"] ?? "" };
  return signInPage(status, signInFormFor(place, head.target), asked);
}

/** The cookies whose sessions count for a request: of its scope, and none for what only the application's pages may do. */
function acceptedCookies(
  head: RequestHead,
  { prefix }: Route,
  { host, proto }: ClientInfo,
): string[] {
  if (!mayUseSession(head, host)) return [];
  return [sessionName({ prefix, isSecure: proto === "https" })];
}

/** "CORS preflights pass": they carry no key, and nothing but the question whether the request may follow. */
function isPreflight({ method, fields, framing, connection }: RequestHead): boolean {
  if (method !== "OPTIONS" || connection.includes("upgrade") || framing !== NO_BODY) return false;
  return joinedHeader(fields, "origin") !== undefined &&
    joinedHeader(fields, "access-control-request-method") !== undefined;
}

function queryOf(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? "" : target.slice(question);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
