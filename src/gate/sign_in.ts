import { escapeHtml, Html } from "../http/responses/html.ts";
import { errors } from "../http/http_error.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { gateErrors, pageResponse, redirectResponse } from "./gate_response.ts";
import { joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { SESSION_TIME } from "../store/sessions/app_sessions.ts";
import { NoSuchProject } from "../store/engine/errors.ts";
import type { AuthorizationContext } from "./context.ts";
import type { ClientInfo } from "./forwarded_headers.ts";
import type { Route } from "./routing.ts";
import { isSameOrigin, SESSION_NAMES, sessionCookie, sessionTokens } from "./session_cookie.ts";

/** Bytes in the body of a sign-in, which contains a key and a path. */
const MAX_SIGN_IN_BODY = 8192;

/** The path below an application that the gate serves itself. */
const GATE_PATH = "/.kvdrive";

const FORM_TYPE = "application/x-www-form-urlencoded";

/** A request for one of the gate's own paths. */
export interface GatePathRequest {
  head: RequestHead;
  route: Route;
  client: ClientInfo;
  /** Reads the body as text. @throws {HttpError} 413 if it has more bytes than `limit`. */
  readBody: (limit: number) => Promise<string>;
}

export interface SignInForm {
  /** The application's name. */
  app: string;
  /** The path in front of the application's own. */
  prefix: string;
  /** The path that the browser opens after the sign-in. */
  next: string;
  /** Why the last attempt failed. */
  problem?: string;
}

/** Whether the gate serves a path of an application itself. */
export function isGatePath(target: string): boolean {
  return target.startsWith(GATE_PATH) && /^(?:[/?]|$)/.test(target.slice(GATE_PATH.length));
}

/** Responds to a request for one of the gate's own paths. @throws {HttpError} */
export async function handleGatePath(
  gate: AuthorizationContext,
  request: GatePathRequest,
): Promise<HttpResponse> {
  const { head: { method }, route: { target = "" } } = request;
  const [path, query = ""] = target.slice(GATE_PATH.length).split("?", 2);
  if (path === "/sign-in") {
    if (method === "POST") return await signIn(gate, request);
    if (method !== "GET" && method !== "HEAD") {
      throw errors.methodNotAllowed(method, "GET, HEAD, POST");
    }
    const next = new URLSearchParams(query).get("next");
    return signInPage(200, signInFormFor(request.route, next));
  }
  if (path !== "/sign-out") throw gateErrors.gatePageNotFound();
  if (method !== "POST") throw errors.methodNotAllowed(method, "POST");
  return await signOut(gate, request);
}

/** Returns the form for an application. The sign-in leads to a path of that application only. */
export function signInFormFor({ app: { app }, prefix }: Route, next: string | null): SignInForm {
  return { app, prefix, next: applicationPath(next ?? "", prefix) ?? `${prefix}/` };
}

export function signInPage(
  status: number,
  { app, prefix, next, problem }: SignInForm,
  headers: Record<string, string> = {},
): HttpResponse {
  const alert = problem === undefined
    ? ""
    : `<p class="wrong" id="problem" role="alert">${escapeHtml(problem)}</p>\n`;
  const description = problem === undefined
    ? ""
    : ' aria-invalid="true" aria-describedby="problem"';
  const content = `<p>Only the owner of this application can sign in, with the project key.</p>
${alert}<form method="post" action="${escapeHtml(prefix)}${GATE_PATH}/sign-in">
<label for="key">Project key</label>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false" required autofocus${description}>
<input type="hidden" name="next" value="${escapeHtml(next)}">
<button>Sign in</button>
</form>
`;
  return pageResponse(status, { title: `Sign in to ${app}`, content: new Html(content) }, headers);
}

/** "The owner … a browser that signed in with it on the gate's own form." */
async function signIn(
  { store, wrongKeys }: AuthorizationContext,
  { head, route, client, readBody }: GatePathRequest,
): Promise<HttpResponse> {
  requireSameOrigin(head, client);
  const type = joinedHeader(head.headers, "content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw gateErrors.badSignIn();
  const fields = new URLSearchParams(await readBody(MAX_SIGN_IN_BODY));
  const key = fields.get("key")?.trim() ?? "";
  const form = signInFormFor(route, fields.get("next"));
  if (key === "") return signInPage(400, { ...form, problem: "Enter the project key." });
  const session = await startSession(store, route, key, client);
  if (session === "not the owner's") return signInPage(403, { ...form, problem: NOT_OWNERS });
  if (session !== undefined) {
    const maxAge = Math.floor(SESSION_TIME / 1000);
    const isSecure = client.proto === "https";
    const cookie = sessionCookie(session.token, { prefix: route.prefix, isSecure, maxAge });
    return redirectResponse(303, form.next, { "Set-Cookie": cookie });
  }
  const wait = wrongKeys.record(client.address);
  if (wait === undefined) {
    return signInPage(401, { ...form, problem: "This is not a key of the project." });
  }
  const problem = `Too many wrong keys: wait ${wait} seconds, or enter the right one.`;
  return signInPage(429, { ...form, problem }, { "Retry-After": String(wait) });
}

const NOT_OWNERS =
  'This key does not administer the project: enter one that has the permission "admin" and is for all drives and names.';

/** Starts a session if the key belongs to the application's project and is one of its owner. */
async function startSession(
  store: AuthorizationContext["store"],
  { app: { project, app } }: Route,
  key: string,
  { address }: ClientInfo,
): Promise<{ token: string } | "not the owner's" | undefined> {
  if (key.length > MAX_KEY_HEADER) return undefined;
  const hash = hashSecret(key);
  const owner = await store.keys.find(hash);
  if (owner?.project !== project) return undefined;
  if (!owner.rights.isOwners) return "not the owner's";
  try {
    return await store.sessions.start(project, app, hash, address);
  } catch (error) {
    // The key was revoked in the meantime.
    if (error instanceof NoSuchProject) return undefined;
    throw error;
  }
}

async function signOut(
  { store }: AuthorizationContext,
  { head, route, client }: GatePathRequest,
): Promise<HttpResponse> {
  requireSameOrigin(head, client);
  const { app: { project, app }, prefix } = route;
  for (const token of sessionTokens(head.headers, SESSION_NAMES)) {
    const hash = hashSecret(token);
    const session = await store.sessions.find(hash);
    if (session?.project === project && session.app === app) await store.sessions.end(hash);
  }
  const cookie = sessionCookie("", { prefix, isSecure: client.proto === "https", maxAge: 0 });
  return redirectResponse(303, `${prefix}/`, { "Set-Cookie": cookie });
}

/**
 * Prevents other sites from signing a user in or out. Programs send neither header, and have the key to sign in.
 *
 * @throws {HttpError} 403
 */
function requireSameOrigin({ headers }: RequestHead, { host }: ClientInfo): void {
  const isOfBrowser = BROWSER_HEADERS.some((name) => joinedHeader(headers, name) !== undefined);
  if (isOfBrowser && !isSameOrigin(headers, host)) throw gateErrors.crossOriginForm();
}

/** Browsers send one of them with every form. */
const BROWSER_HEADERS = ["origin", "sec-fetch-site"];

const PLACEHOLDER_ORIGIN = "http://localhost";

/** Returns a path as a browser resolves it, or `undefined` if it is not one of the application's own. */
function applicationPath(next: string, prefix: string): string | undefined {
  if (!next.startsWith("/") || !URL.canParse(next, PLACEHOLDER_ORIGIN)) return undefined;
  const { origin, pathname, search } = new URL(next, PLACEHOLDER_ORIGIN);
  // Browsers treat a path that begins with two slashes as another host.
  if (origin !== PLACEHOLDER_ORIGIN || pathname.startsWith("//")) return undefined;
  const path = pathname.slice(prefix.length);
  if (!pathname.startsWith(`${prefix}/`) || isGatePath(path)) return undefined;
  return pathname + search;
}
