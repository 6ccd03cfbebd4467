import { MAX_KEY_HEADER, MAX_SIGN_IN_BODY, SESSION_TIME } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { errors } from "../http/http_error.ts";
import { NoSuchProject } from "../store/errors.ts";
import type { Doorkeeper } from "./context.ts";
import type { Place } from "./find_place.ts";
import type { Origin } from "./forwarded.ts";
import { joinedField } from "../http1/fields.ts";
import type { RequestHead } from "../http1/request_head.ts";
import { type OwnAnswer, redirectAnswer } from "./own_answer.ts";
import { isFromOwnPage } from "./own_page.ts";
import { SESSION_NAMES, sessionCookie, sessionTokens } from "./session_cookie.ts";
import { signInPage } from "./sign_in_page.ts";

const RESERVED = "/.kvdrive";
const FORM_TYPE = "application/x-www-form-urlencoded";

/** A request for one of the gate's own paths. */
export interface ReservedCall {
  head: RequestHead;
  place: Place;
  origin: Origin;
  /** Gives the body, as text. @throws {HttpError} 413 where it has more bytes than that. */
  readBody: (limit: number) => Promise<string>;
}

/** Whether a path of an application is one that the gate answers itself. */
export function isReserved(target: string): boolean {
  return target.startsWith(RESERVED) && /^(?:[/?]|$)/.test(target.slice(RESERVED.length));
}

/** Answers at the gate's own paths. @throws {HttpError} */
export async function answerReserved(ctx: Doorkeeper, call: ReservedCall): Promise<OwnAnswer> {
  const { head: { method }, place: { target = "" } } = call;
  const [path, query = ""] = target.slice(RESERVED.length).split("?", 2);
  if (path === "/sign-in") {
    if (method === "POST") return await signIn(ctx, call);
    if (method !== "GET" && method !== "HEAD") throw errors.badMethod(method, "GET, HEAD, POST");
    const next = new URLSearchParams(query).get("next");
    return signInPage(200, formFor(call.place, next));
  }
  if (path !== "/sign-out") throw errors.noGatePage();
  if (method !== "POST") throw errors.badMethod(method, "POST");
  return await signOut(ctx, call);
}

/** "The owner … a browser that signed in with it on the gate's own form." */
async function signIn(
  { store, wrongKeys }: Doorkeeper,
  { head, place, origin, readBody }: ReservedCall,
): Promise<OwnAnswer> {
  demandOwnForm(head, origin);
  const type = joinedField(head.fields, "content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw errors.badSignIn();
  const form = new URLSearchParams(await readBody(MAX_SIGN_IN_BODY));
  const key = form.get("key")?.trim() ?? "";
  const target = formFor(place, form.get("next"));
  if (key === "") return signInPage(400, { ...target, problem: "Enter the project key." });
  const { project, app } = place.app;
  const hash = hashSecret(key);
  const owner = key.length > MAX_KEY_HEADER ? undefined : await store.keys.opens(hash);
  const session = owner?.project === project ? await startSession() : undefined;
  if (session !== undefined) {
    const maxAge = Math.floor(SESSION_TIME / 1000);
    const isSecure = origin.proto === "https";
    const cookie = sessionCookie(session.token, { prefix: place.prefix, isSecure, maxAge });
    return redirectAnswer(303, target.next, { "Set-Cookie": cookie });
  }
  const wait = wrongKeys.refuse(origin.address);
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
  { store }: Doorkeeper,
  { head, place, origin }: ReservedCall,
): Promise<OwnAnswer> {
  demandOwnForm(head, origin);
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
  return redirectAnswer(303, `${place.prefix}/`, { "Set-Cookie": cookie });
}

/** No other site may sign somebody in or out. @throws {HttpError} 403 */
function demandOwnForm({ fields }: RequestHead, { host }: Origin): void {
  if (!isFromOwnPage(fields, host)) throw errors.foreignForm();
}

/** The form of an application, which leads to a path inside of it and nowhere else. */
export function formFor(
  { app: { app }, prefix }: Place,
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
  if (!pathname.startsWith(`${prefix}/`) || isReserved(path)) return undefined;
  return pathname + search;
}
