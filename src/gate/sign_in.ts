import { errors } from "../http/http_error.ts";
import { joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { SESSION_TIME } from "../store/accounts/sessions.ts";
import { NoSuchProject } from "../store/engine/errors.ts";
import type { AuthorizationContext } from "./context.ts";
import type { ClientInfo } from "./forwarded_headers.ts";
import {
  escape,
  type GateResponse,
  PAGE_HEADERS,
  redirectResponse,
  STYLE,
} from "./gate_response.ts";
import type { Route } from "./routing.ts";
import { isSameOrigin, SESSION_NAMES, sessionCookie, sessionTokens } from "./session_cookie.ts";

/** The body of a sign-in: a key and a path. */
const MAX_SIGN_IN_BODY = 8192;

/** What the page is made from. */
interface SignInForm {
  /** The application's name. */
  app: string;
  prefix: string;
  /** Where the browser goes afterwards. */
  next: string;
  /** What was wrong with the last try. */
  problem?: string;
}

/** The gate's sign-in form. */
export function signInPage(
  status: number,
  { app, prefix, next, problem }: SignInForm,
  headers: Record<string, string> = {},
): GateResponse {
  const wrong = problem === undefined
    ? ""
    : `<p class="wrong" id="problem" role="alert">${escape(problem)}</p>\n`;
  const described = problem === undefined ? "" : ' aria-invalid="true" aria-describedby="problem"';
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in to ${escape(app)}</title>
<style>${STYLE}</style>
<main>
<h1>Sign in to ${escape(app)}</h1>
<p>Only the owner of this application can come in here, with the project key.</p>
${wrong}<form method="post" action="${escape(prefix)}/.kvdrive/sign-in">
<label for="key">Project key</label>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false" required autofocus${described}>
<input type="hidden" name="next" value="${escape(next)}">
<button>Sign in</button>
</form>
</main>
</html>
`;
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}

const RESERVED = "/.kvdrive";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** A request for one of the gate's own paths. */
export interface GatePathRequest {
  head: RequestHead;
  place: Route;
  origin: ClientInfo;
  /** Gives the body, as text. @throws {HttpError} 413 where it has more bytes than that. */
  readBody: (limit: number) => Promise<string>;
}

/** Whether a path of an application is one that the gate answers itself. */
export function isGatePath(target: string): boolean {
  return target.startsWith(RESERVED) && /^(?:[/?]|$)/.test(target.slice(RESERVED.length));
}

/** Answers at the gate's own paths. @throws {HttpError} */
export async function handleGatePath(
  ctx: AuthorizationContext,
  call: GatePathRequest,
): Promise<GateResponse> {
  const { head: { method }, place: { target = "" } } = call;
  const [path, query = ""] = target.slice(RESERVED.length).split("?", 2);
  if (path === "/sign-in") {
    if (method === "POST") return await signIn(ctx, call);
    if (method !== "GET" && method !== "HEAD") {
      throw errors.methodNotAllowed(method, "GET, HEAD, POST");
    }
    const next = new URLSearchParams(query).get("next");
    return signInPage(200, signInFormFor(call.place, next));
  }
  if (path !== "/sign-out") throw errors.gatePageNotFound();
  if (method !== "POST") throw errors.methodNotAllowed(method, "POST");
  return await signOut(ctx, call);
}

/** "The owner … a browser that signed in with it on the gate's own form." */
async function signIn(
  { store, wrongKeys }: AuthorizationContext,
  { head, place, origin, readBody }: GatePathRequest,
): Promise<GateResponse> {
  requireSameOrigin(head, origin);
  const type = joinedHeader(head.fields, "content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw errors.badSignIn();
  const form = new URLSearchParams(await readBody(MAX_SIGN_IN_BODY));
  const key = form.get("key")?.trim() ?? "";
  const target = signInFormFor(place, form.get("next"));
  if (key === "") return signInPage(400, { ...target, problem: "Enter the project key." });
  const { project, app } = place.app;
  const hash = hashSecret(key);
  const owner = key.length > MAX_KEY_HEADER ? undefined : await store.keys.find(hash);
  const session = owner?.project === project ? await startSession() : undefined;
  if (session !== undefined) {
    const maxAge = Math.floor(SESSION_TIME / 1000);
    const isSecure = origin.proto === "https";
    const cookie = sessionCookie(session.token, { prefix: place.prefix, isSecure, maxAge });
    return redirectResponse(303, target.next, { "Set-Cookie": cookie });
  }
  const wait = wrongKeys.record(origin.address);
  if (wait === undefined) {
    return signInPage(401, { ...target, problem: "This is not a key of the project." });
  }
  const problem = `Too many wrong keys: wait ${wait} seconds, or enter the right one.`;
  return signInPage(429, { ...target, problem }, { "Retry-After": String(wait) });

  async function startSession() {
    try {
      return await store.sessions.start(project, app, hash);
    } catch (error) {
      // The key was revoked in this moment.
      if (error instanceof NoSuchProject) return undefined;
      throw error;
    }
  }
}

async function signOut(
  { store }: AuthorizationContext,
  { head, place, origin }: GatePathRequest,
): Promise<GateResponse> {
  requireSameOrigin(head, origin);
  for (const token of sessionTokens(head.fields, SESSION_NAMES)) {
    const hash = hashSecret(token);
    const session = await store.sessions.find(hash);
    const isOurs = session?.project === place.app.project && session.app === place.app.app;
    if (isOurs) await store.sessions.end(hash);
  }
  const cookie = sessionCookie("", {
    prefix: place.prefix,
    isSecure: origin.proto === "https",
    maxAge: 0,
  });
  return redirectResponse(303, `${place.prefix}/`, { "Set-Cookie": cookie });
}

/** No other site may sign somebody in or out. @throws {HttpError} 403 */
function requireSameOrigin({ fields }: RequestHead, { host }: ClientInfo): void {
  if (!isSameOrigin(fields, host)) throw errors.crossOriginForm();
}

/** The form of an application, which leads to a path inside of it and nowhere else. */
export function signInFormFor(
  { app: { app }, prefix }: Route,
  next: string | null,
): { app: string; prefix: string; next: string } {
  return { app, prefix, next: localPath(next ?? "", prefix) ?? `${prefix}/` };
}

const ANYWHERE = "http://localhost";

/** The path as a browser reads it, if it is one of the application's own. */
function localPath(next: string, prefix: string): string | undefined {
  if (!next.startsWith("/") || !URL.canParse(next, ANYWHERE)) return undefined;
  const { origin, pathname, search } = new URL(next, ANYWHERE);
  // A path with two slashes in front would be another host.
  if (origin !== ANYWHERE || pathname.startsWith("//")) return undefined;
  const path = pathname.slice(prefix.length);
  if (!pathname.startsWith(`${prefix}/`) || isGatePath(path)) return undefined;
  return pathname + search;
}
