import { errors } from "../http/http_error.ts";
import type { Visit } from "../http/visit.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { Doorkeeper } from "./context.ts";
import { findPlace, type Place } from "./find_place.ts";
import { type Origin, originOf, type Peer } from "./forwarded.ts";
import { joinedField } from "../http1/fields.ts";
import { NO_BODY } from "../http1/framing.ts";
import type { RequestHead } from "../http1/request_head.ts";
import { judge, type Judgement } from "./judge.ts";
import { isNavigation } from "./error_page.ts";
import { maySpendSession } from "./own_page.ts";
import { errorAnswer, type OwnAnswer, redirectAnswer } from "./own_answer.ts";
import { answerReserved, formFor, isReserved, type ReservedCall } from "./reserved.ts";
import { SESSION_NAMES, sessionName, sessionTokens } from "./session_cookie.ts";
import { signInPage } from "./sign_in_page.ts";
import { type Upstream } from "./upstreams.ts";

/** A request that was let in. */
export interface Admitted {
  place: Place;
  target: string;
  upstream: Upstream;
  origin: Origin;
  judgement: Judgement;
  credentials: () => Credentials;
}

/** Lets a request in, or gives the answer of the gate itself. @throws {HttpError} */
export async function admit(
  ctx: Doorkeeper,
  head: RequestHead,
  peer: Peer,
  { readBody, visit }: { readBody: ReservedCall["readBody"]; visit: Visit },
): Promise<Admitted | OwnAnswer> {
  const expected = joinedField(head.fields, "expect")?.toLowerCase() ?? "100-continue";
  if (expected !== "100-continue") throw errors.badMessage(417, "its Expect is not 100-continue");
  const origin = originOf(head, peer, ctx.trustedProxies);
  const directory = { apps: ctx.store.apps, hosts: ctx.hosts };
  const place = await findPlace(directory, { host: origin.host, target: head.target });
  const { app, prefix, target } = place;
  if (place.exists) visit.app = `${app.project}/${app.app}`;
  if (target !== undefined && isReserved(target)) {
    return await answerReserved(ctx, { head, place, origin, readBody });
  }
  const credentials = once(() =>
    readCredentials(head.fields, cookiesThatCount(head, place, origin))
  );
  const judged = await judge(ctx.store, credentials, app);
  const passes = !judged.allowed && !judged.sentKey && place.exists && isPreflight(head);
  const judgement: Judgement = passes ? { allowed: true, caller: "preflight" } : judged;
  if (!judgement.allowed) return refusal(ctx, head, place, origin, judgement.sentKey);
  visit.key = judgement.key;
  if (!place.exists) throw errors.nothingHosted();
  if (target === undefined) return redirectAnswer(308, `${prefix}/${queryOf(head.target)}`);
  if (app.upstream === undefined) throw errors.noUpstream();
  const upstream = ctx.upstreams.at(app.upstream);
  return { place, target, upstream, origin, judgement, credentials };
}

/** Whether a request that runs would be let in now. */
export async function isStillAllowed(
  store: Doorkeeper["store"],
  { place, judgement, credentials }: Admitted,
): Promise<boolean> {
  const { app: { project, app, host }, prefix } = place;
  const found = await store.apps.find(project, app);
  if (found === undefined || prefix === "" && found.host !== host) return false;
  if (judgement.allowed && judgement.caller === "preflight") return true;
  return (await judge(store, credentials, found)).allowed;
}

/** "Everyone else gets 401 …; a browser that navigates gets the sign-in form with status 401." */
function refusal(
  { wrongKeys }: Doorkeeper,
  head: RequestHead,
  place: Place,
  { address, host }: Origin,
  sentKey: boolean,
): OwnAnswer {
  if (sentKey) {
    const wait = wrongKeys.refuse(address);
    const error = wait === undefined ? errors.wrongKeyOfApp() : errors.tooManyWrongKeys(wait);
    // A caller with a key is a program, whatever it accepts.
    return errorAnswer(error);
  }
  const maySpend = maySpendSession(head, host);
  const error = maySpend || sessionTokens(head.fields, SESSION_NAMES).length === 0
    ? errors.noKeyOfApp()
    : errors.foreignPage();
  const { status, headers, body } = errorAnswer(error);
  const accept = joinedField(head.fields, "accept");
  if (!isNavigation({ method: head.method, accept })) return { status, headers, body };
  const asked = { "WWW-Authenticate": headers["WWW-Authenticate"] ?? "" };
  return signInPage(status, formFor(place, head.target), asked);
}

/** The cookies whose sessions count for a request: of its scope, and none for what only the application's pages may do. */
function cookiesThatCount(head: RequestHead, { prefix }: Place, { host, proto }: Origin): string[] {
  if (!maySpendSession(head, host)) return [];
  return [sessionName({ prefix, isSecure: proto === "https" })];
}

/** "CORS preflights pass": they carry no key, and nothing but the question whether the request may follow. */
function isPreflight({ method, fields, framing, connection }: RequestHead): boolean {
  if (method !== "OPTIONS" || connection.includes("upgrade") || framing !== NO_BODY) return false;
  return joinedField(fields, "origin") !== undefined &&
    joinedField(fields, "access-control-request-method") !== undefined;
}

function queryOf(target: string): string {
  const question = target.indexOf("?");
  return question === -1 ? "" : target.slice(question);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
